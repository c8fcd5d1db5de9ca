#include "world/sim/target_grid.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {

TargetGrid::TargetGrid(std::size_t bodies_max) {
  all_.reserve(bodies_max);
  sorted_.resize(bodies_max);
}

void TargetGrid::fill(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters) {
  ASHLAR_ASSERT(players.rows() + monsters.rows() <= sorted_.size());
  all_.clear();
  const HitShape player_shape = hit_shape(rules.player, HitBuild::upright);
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.alive(i) && players.body[i].noclip == 0)
      all_.push_back({players.id[i], rules.player, players.body[i].position_m, player_shape});
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    const MonsterTraits& kind = monsters.traits_at(i);
    all_.push_back(
        {monsters.id[i], kind.shape, monsters.body[i].position_m, hit_shape(kind.shape, kind.build)});
  }
  const auto cell = [](const ShotTarget& t) { return cell_at(cell_of(t.base.x), cell_of(t.base.y)); };
  radius_m_max_ = 0;
  first_.fill(0);
  for (const ShotTarget& t : all_) {
    radius_m_max_ = std::max(radius_m_max_, t.body.radius_m);
    ++first_[cell(t)];
  }
  // Each cell's end, from which it is filled downwards to its beginning.
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  for (const ShotTarget& t : all_) sorted_[--first_[cell(t)]] = t;
}

}  // namespace ashlar
