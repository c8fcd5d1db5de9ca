#include "server/host/lingering.h"

#include <algorithm>

#include "world/math/assert.h"
#include "world/sim/shooting.h"
#include "world/sim/world.h"

namespace ashlar::server {

LingeringBodies::LingeringBodies(std::uint32_t players_max, std::uint32_t sessions_max, std::uint32_t ticks)
    : fighters_(players_max), sessions_max_(sessions_max), ticks_(ticks) {
  ASHLAR_ASSERT(sessions_max <= players_max);
  bodies_.reserve(sessions_max);
}

void LingeringBodies::note(EntityId player, std::uint32_t tick) {
  const std::size_t slot = slot_of(player);
  if (slot < fighters_.size() && fighters_[slot].player == player) fighters_[slot].fought_tick = tick;
}

void LingeringBodies::note_fights(const World& world, const SessionTable& sessions) {
  if (ticks_ == 0) return;
  const std::uint32_t tick = number(world.tick());
  const PlayerTable& players = world.players();
  sessions.walk([&](const Session& session) {
    if (session.state != SessionState::playing) return;
    const std::size_t slot = slot_of(session.player);
    ASHLAR_ASSERT(slot < fighters_.size());
    if (players.id[slot] != session.player) return;
    Fighter& fighter = fighters_[slot];
    const std::uint16_t health = players.health[slot];
    if (fighter.player != session.player) fighter = {session.player, 0, health};
    if (health < fighter.health) fighter.fought_tick = tick;
    fighter.health = health;
  });
  for (const ShotEvent& shot : world.shooting().events()) {
    if (shot.hit.target == EntityId{0}) continue;
    note(shot.shooter, tick);
    note(shot.hit.target, tick);
  }
}

bool LingeringBodies::fought_lately(const World& world, EntityId player) const {
  ASHLAR_ASSERT(slot_of(player) < fighters_.size());
  const Fighter& fighter = fighters_[slot_of(player)];
  return fighter.player == player && fighter.health != 0 && fighter.fought_tick != 0 &&
         number(world.tick()) - fighter.fought_tick < ticks_;
}

bool LingeringBodies::stay(const World& world, EntityId player, const Identity& identity) {
  ASHLAR_ASSERT(fought_lately(world, player));
  // A world may have more slots than there are sessions: who fights and leaves must not decide what fits.
  if (bodies_.size() >= sessions_max_) return false;
  bodies_.push_back({player, identity, number(world.tick()) + ticks_});
  return true;
}

EntityId LingeringBodies::take(const World& world, const Identity& identity) {
  const auto found = std::ranges::find(bodies_, identity, &Body::identity);
  // What the world has lost let_go() takes out.
  if (found == bodies_.end() || world.player_row(found->player) < 0) return EntityId{0};
  const EntityId player = found->player;
  bodies_.erase(found);
  return player;
}

void LingeringBodies::let_go(const World& world, std::vector<EntityId>& leaves) {
  const std::uint32_t next = number(world.tick()) + 1;
  std::erase_if(bodies_, [&](const Body& body) {
    const int row = world.player_row(body.player);
    const bool over =
        row < 0 || next >= body.until_tick || world.players().health[static_cast<std::size_t>(row)] == 0;
    if (over) leaves.push_back(body.player);
    return over;
  });
}

}  // namespace ashlar::server
