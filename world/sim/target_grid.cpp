#include "world/sim/target_grid.h"

#include <algorithm>

namespace ashlar {

void TargetGrid::fill(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters) {
  grid_.clear();
  radius_m_max_ = 0;
  const HitShape player_shape = hit_shape(rules.player, HitBuild::upright);
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.alive(i) && players.body[i].noclip == 0)
      add({players.id[i], rules.player, players.body[i].position_m, player_shape});
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    const MonsterTraits& kind = monsters.traits_at(i);
    add({monsters.id[i], kind.shape, monsters.body[i].position_m, hit_shape(kind.shape, kind.build)});
  }
  grid_.sort();
}

void TargetGrid::add(const ShotTarget& target) {
  radius_m_max_ = std::max(radius_m_max_, target.body.radius_m);
  grid_.add(xy(target.base), target);
}

}  // namespace ashlar
