#include "server/host/fight_room.h"

#include <algorithm>

#include "server/host/publisher.h"
#include "world/math/prefetch.h"
#include "world/sim/combat.h"
#include "world/sim/pickups.h"
#include "world/sim/world.h"

namespace ashlar::server {

namespace {

void keep_hit(FightDesk& desk, const CombatEvent& hit) {
  if (desk.hits.size() == FightDesk::hits_max) desk.hits.erase(desk.hits.begin());
  desk.hits.push_back(hit);
}

}  // namespace

/// Of a monster, to those who know of it beside its killer.
void FightRoom::keep_death(const CombatEvent& death, const Publisher& publisher) {
  for (const std::uint32_t row : sessions_->seated()) {
    Session& session = (*sessions_)[row];
    if (session.state != SessionState::playing || session.player == death.by) continue;
    if (session.fight.hits.size() < FightDesk::hits_max / 2 && publisher.knows(session, death.who))
      keep_hit(session.fight, death);
  }
}

void FightRoom::publish(const World& world, const Publisher& publisher) {
  row_of_slot_.assign(world.players().rows(), 0);
  const auto ahead = [](const Session& later) { prefetch(&later.fight, sizeof later.fight); };
  sessions_->walk(ahead, [&](Session& session) {
    if (session.state != SessionState::playing) return;
    if (session.fight.world != session.world) {
      session.fight = FightDesk{};
      session.fight.world = session.world;
    }
    row_of_slot_[slot_of(session.player)] = sessions_->row_of(session) + 1;
  });
  const auto desk_of = [&](EntityId id) -> FightDesk* {
    const std::uint32_t slot = slot_of(id);
    if (slot >= row_of_slot_.size() || row_of_slot_[slot] == 0) return nullptr;
    Session& session = (*sessions_)[row_of_slot_[slot] - 1];
    return session.player == id ? &session.fight : nullptr;
  };
  std::size_t deaths = 0;
  for (const CombatEvent& hit : world.combat().events()) {
    const bool player_died = hit.kind == CombatEventKind::died && slot_of(hit.who) < row_of_slot_.size();
    if (player_died) {
      for (const std::uint32_t row : sessions_->seated())
        if ((*sessions_)[row].state == SessionState::playing) keep_hit((*sessions_)[row].fight, hit);
      continue;
    }
    FightDesk* const who = desk_of(hit.who);
    FightDesk* const by = desk_of(hit.by);
    if (who != nullptr) keep_hit(*who, hit);
    if (by != nullptr && by != who) keep_hit(*by, hit);
    if (hit.kind == CombatEventKind::died && deaths++ < deaths_max) keep_death(hit, publisher);
  }
  for (const PickupEvent& event : world.pickups().events())
    if (FightDesk* const desk = desk_of(event.player); desk != nullptr && desk->picked.size() < picked_max)
      desk->picked.push_back(event.item);
  sessions_->walk(ahead, [&](Session& session) {
    if (session.state == SessionState::playing) tell(session, world);
  });
}

namespace {

/// Is there something new beside what its hands are at, which follows from commands?
bool changed(const Arsenal& told, const Arsenal& now) {
  return told.weapons != now.weapons || told.ammo != now.ammo || told.held != now.held ||
         told.wanted != now.wanted || told.backpack != now.backpack || told.power_ticks != now.power_ticks ||
         told.spent != now.spent;
}

}  // namespace

void FightRoom::tell_arsenal(Session& session, const World& world, std::size_t row) {
  FightDesk& desk = session.fight;
  const Arsenal& now = world.players().arsenal[row];
  for (std::uint16_t& left : desk.arsenal.power_ticks)  // as they run out by themselves
    if (left > 0 && left != power_endless) --left;
  if (desk.armed && desk.picked.empty() && !changed(desk.arsenal, now)) return;
  carried_.tick = number(world.tick());
  carried_.world = session.world;
  carried_.arsenal = now;
  carried_.picked = desk.picked;
  if (session.connection->send(StreamId::events, writer_.write(carried_)) != SendResult::sent) return;
  desk.armed = true;
  desk.arsenal = now;
  desk.picked.clear();
}

void FightRoom::tell(Session& session, const World& world) {
  const int player = world.player_row(session.player);
  if (player < 0) return;
  const auto row = static_cast<std::size_t>(player);
  const PlayerTable& players = world.players();
  tell_arsenal(session, world, row);
  FightDesk& desk = session.fight;
  const bool same = desk.told && desk.health == players.health[row] && desk.armour == players.armour[row] &&
                    desk.armour_half == players.armour_half[row];
  bool news = !same;
  while (news || !desk.hits.empty()) {
    const std::size_t count = std::min(desk.hits.size(), fight_hits_max);
    const auto end = desk.hits.begin() + static_cast<std::ptrdiff_t>(count);
    message_.tick = number(world.tick());
    message_.world = session.world;
    message_.health = players.health[row];
    message_.armour = players.armour[row];
    message_.armour_half = players.armour_half[row];
    message_.hits.assign(desk.hits.begin(), end);
    if (session.connection->send(StreamId::events, writer_.write(message_)) != SendResult::sent) return;
    desk.hits.erase(desk.hits.begin(), end);
    desk.told = true;
    desk.health = message_.health, desk.armour = message_.armour, desk.armour_half = message_.armour_half;
    news = false;
  }
}

}  // namespace ashlar::server
