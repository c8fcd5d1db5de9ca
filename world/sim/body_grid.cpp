#include "world/sim/body_grid.h"

#include <algorithm>

#include "world/math/assert.h"
#include "world/sim/block_sight.h"

namespace ashlar {

BodyGrid::BodyGrid(std::size_t bodies_max) {
  all_.reserve(bodies_max);
  sorted_.resize(bodies_max);
}

void BodyGrid::fill(const Rules& rules, const PlayerTable& players, const MonsterTable& monsters) {
  ASHLAR_ASSERT(players.rows() + monsters.rows() <= sorted_.size());
  all_.clear();
  for (std::size_t i = 0; i < players.rows(); ++i)
    if (players.alive(i) && players.body[i].noclip == 0)
      all_.push_back({players.body[i].position_m, rules.player});
  for (std::size_t i = 0; i < monsters.rows(); ++i)
    if (monsters.id[i] != EntityId{0})
      all_.push_back({monsters.body[i].position_m, monsters.traits_at(i).shape});

  const auto cell = [](const Entry& e) { return cell_at(cell_of(e.base.x), cell_of(e.base.y)); };
  radius_m_max_ = 0;
  first_.fill(0);
  for (const Entry& e : all_) {
    radius_m_max_ = std::max(radius_m_max_, e.shape.radius_m);
    ++first_[cell(e)];
  }
  // Each cell's end, from which it is filled downwards to its beginning.
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  for (const Entry& e : all_) sorted_[--first_[cell(e)]] = e;
}

bool BodyGrid::any_in(IVec3 block) const {
  ASHLAR_ASSERT_SLOW(radius_m_max_ < cell_m);
  const double x = block.x, y = block.y;
  const std::uint32_t x0 = cell_of(x - radius_m_max_), x1 = cell_of(x + 1 + radius_m_max_);
  const std::uint32_t y0 = cell_of(y - radius_m_max_), y1 = cell_of(y + 1 + radius_m_max_);
  for (std::uint32_t j = y0; j != y1 + 1; ++j)
    for (std::uint32_t i = x0; i != x1 + 1; ++i) {
      const std::size_t at = cell_at(i, j);
      for (std::uint32_t k = first_[at]; k < first_[at + 1]; ++k)
        if (body_meets_block(sorted_[k].shape, sorted_[k].base, block)) return true;
    }
  return false;
}

}  // namespace ashlar
