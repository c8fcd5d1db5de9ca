#include "world/sim/shooting.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"

namespace ashlar {

Shooting::Shooting(std::size_t players_max, std::size_t monsters_max) : wait_ticks_(players_max, 0) {
  targets_.reserve(players_max + monsters_max);
  events_.reserve(players_max);
}

void Shooting::list_targets(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters) {
  targets_.clear();
  const HitShape player_shape = hit_shape(rules.player, HitBuild::upright);
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.alive(i) && players.body[i].noclip == 0)
      targets_.push_back({players.id[i], rules.player, players.body[i].position_m, player_shape});
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    const MonsterTraits& kind = monsters.traits_at(i);
    targets_.push_back(
        {monsters.id[i], kind.shape, monsters.body[i].position_m, hit_shape(kind.shape, kind.build)});
  }
}

void Shooting::shoot(const Space& space, const Rules& rules, const PlayerTable& players,
                     const MonsterTable& monsters) {
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
    if (events_.empty()) list_targets(rules, players, monsters);
    ShotEvent event;
    event.shooter = players.id[i];
    event.origin = players.body[i].position_m + DVec3{0, 0, rules.player_eye_m};
    event.direction = view_direction(players.yaw[i], players.pitch[i]);
    event.range_m = rules.shot_range_m;
    event.hit = resolve_shot(space, targets_, event.shooter, event.origin, event.direction, event.range_m);
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
