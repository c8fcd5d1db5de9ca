#include "world/sim/player_grid.h"

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr std::uint16_t unseen = 0xffff;

}  // namespace

PlayerGrid::PlayerGrid(std::size_t players_max)
    : rows_(players_max), positions_m_(players_max), cells_(players_max, unseen) {
  static_assert(cells_across * cells_across < unseen);
}

void PlayerGrid::fill(const PlayerTable& players) {
  ASHLAR_ASSERT(players.rows() == cells_.size());
  first_.fill(0);
  count_ = 0;
  for (std::size_t i = 0; i < players.rows(); ++i) {
    cells_[i] = unseen;
    if (!players.alive(i) || players.body[i].noclip != 0) continue;
    const DVec3 p = players.body[i].position_m;
    const std::size_t cell = cell_at(cell_of(p.x), cell_of(p.y));
    cells_[i] = static_cast<std::uint16_t>(cell);
    ++first_[cell];
    ++count_;
  }
  // Where each cell's part ends; filled from the back, so it comes to be where it begins.
  std::uint32_t end = 0;
  for (std::uint32_t& first : first_) first = end += first;
  if (count_ == 0) return;
  for (std::size_t i = players.rows(); i-- > 0;) {
    if (cells_[i] == unseen) continue;
    const std::uint32_t at = --first_[cells_[i]];
    rows_[at] = static_cast<std::uint32_t>(i);
    positions_m_[at] = players.body[i].position_m;
  }
  ASHLAR_ASSERT(first_.front() == 0);
  ASHLAR_ASSERT(first_.back() == count_);
}

}  // namespace ashlar
