#include "world/sim/shooting.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "world/math/assert.h"

namespace ashlar {

Shooting::Shooting(std::size_t players_max, std::size_t monsters_max, std::size_t maps)
    : wait_ticks_(players_max, 0) {
  maps_.reserve(maps);
  targets_.reserve(players_max + monsters_max);
  events_.reserve(players_max);
}

/// @param then  as of that tick; null: as they are
void Shooting::list_targets(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters,
                            const History::Frame* then) {
  targets_.clear();
  const auto place = [then](std::size_t row, EntityId id, DVec3 now_m) -> std::optional<DVec3> {
    return then == nullptr ? std::optional(now_m) : then->position_of(row, id);
  };
  const HitShape player_shape = hit_shape(rules.player, HitBuild::upright);
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.alive(i) && players.body[i].noclip == 0)
      if (const auto at = place(i, players.id[i], players.body[i].position_m))
        targets_.push_back({players.id[i], rules.player, *at, player_shape});
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    const MonsterTraits& kind = monsters.traits_at(i);
    if (const auto at = place(players.rows() + i, monsters.id[i], monsters.body[i].position_m))
      targets_.push_back({monsters.id[i], kind.shape, *at, hit_shape(kind.shape, kind.build)});
  }
}

/// The space with sectors as high as they were.
Space Shooting::space_then(const Space& space, const History::Frame* then) {
  if (then == nullptr || space.maps.empty()) return space;
  maps_.clear();
  for (std::size_t i = 0; i < space.maps.size(); ++i) maps_.push_back({space.maps[i].map, then->heights(i)});
  return {space.voxels, maps_, space.props};
}

void Shooting::shoot(const Space& space, VoxelVolume& blocks, const Rules& rules, const PlayerTable& players,
                     const MonsterTable& monsters, const History& history, TickId now) {
  ASHLAR_ASSERT(players.rows() == wait_ticks_.size());
  rest();
  constexpr double rounding = 1e-9;  // 0.4 s at 60 Hz are 24 ticks, not 25
  const double interval_ticks = std::ceil(rules.shot_interval_s * rules.tick_rate_hz - rounding);
  ASHLAR_ASSERT(interval_ticks < 65536);
  const auto wait = static_cast<std::uint16_t>(std::max(1.0, interval_ticks));
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    if (wait_ticks_[i] > 0) --wait_ticks_[i];
    if ((players.command[i].buttons & button::attack) == 0 || wait_ticks_[i] > 0 || !players.alive(i))
      continue;
    wait_ticks_[i] = wait;
    // What it saw; the present state, where that is what it saw, or where it does not say.
    const TickId claimed = players.command[i].seen;
    const TickId seen = claimed == TickId{0} ? now : seen_within(claimed, now, history.ticks_max());
    const History::Frame* then = seen == now ? nullptr : history.at(seen);
    if (events_.empty() || events_.back().seen != seen) list_targets(rules, players, monsters, then);
    ShotEvent event;
    event.seen = seen;
    event.shooter = players.id[i];
    event.origin = players.body[i].position_m + DVec3{0, 0, rules.player_eye_m};
    event.direction = view_direction(players.yaw[i], players.pitch[i]);
    event.range_m = rules.shot_range_m;
    // Where it saw the newest state, what this very tick has changed was not yet in it, either.
    const BlockHistory::Past past(history.blocks(), blocks, claimed == TickId{0} ? TickId{~0u} : seen,
                                  event.shooter, event.origin, event.direction, event.range_m);
    event.hit = resolve_shot(space_then(space, then), targets_, event.shooter, event.origin, event.direction,
                             event.range_m);
    ASHLAR_ASSERT(events_.size() < players.rows());  // one a player, so nothing allocates
    ASHLAR_ASSERT(event.hit.target != event.shooter);
    events_.push_back(event);
    ++shots_;
  }
}

void Shooting::add_to_hash(StripeHasher& hash) const {
  hash.add(shots_);
  hash.add_list(wait_ticks_);
}

}  // namespace ashlar
