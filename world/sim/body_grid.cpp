#include "world/sim/body_grid.h"

#include <algorithm>

#include "world/sim/block_sight.h"

namespace ashlar {

void BodyGrid::fill(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters) {
  grid_.clear();
  radius_m_max_ = 0;
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.alive(i) && players.body[i].noclip == 0) add(players.body[i].position_m, rules.player);
  for (std::size_t i = 0; i < monsters.rows(); ++i)
    if (monsters.id[i] != EntityId{0}) add(monsters.body[i].position_m, monsters.traits_at(i).shape);
  grid_.sort();
}

void BodyGrid::add(DVec3 base, const Cylinder& shape) {
  radius_m_max_ = std::max(radius_m_max_, shape.radius_m);
  grid_.add(xy(base), {base, shape});
}

bool BodyGrid::any_in(IVec3 block) const {
  const DVec2 low{block.x - radius_m_max_, block.y - radius_m_max_};
  const DVec2 high{block.x + 1 + radius_m_max_, block.y + 1 + radius_m_max_};
  return grid_.any_near(low, high, [&](const Entry& e) { return body_meets_block(e.shape, e.base, block); });
}

}  // namespace ashlar
