#include "world/sim/history.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {

History::History(const Rules& rules, std::size_t players_max, std::size_t monsters_max,
                 std::span<const std::vector<SectorHeights>> heights)
    : frames_(rules.ticks_within(rewind_s_max, 1) + std::size_t{1}), blocks_(ticks_max() + 1) {
  for (Frame& frame : frames_) {
    frame.id_.resize(players_max + monsters_max);
    frame.position_m_.resize(players_max + monsters_max);
    frame.heights_.assign(heights.begin(), heights.end());
  }
}

void History::record(TickId tick, const PlayerTable& players, const MonsterTable& monsters,
                     std::span<const std::vector<SectorHeights>> heights) {
  if (frames_.empty()) return;
  Frame& frame = frames_[number(tick) % frames_.size()];
  ASHLAR_ASSERT(frame.id_.size() == players.rows() + monsters.rows());
  ASHLAR_ASSERT(frame.heights_.size() == heights.size());
  frame.tick_ = tick;
  for (std::size_t i = 0; i < players.rows(); ++i) {
    frame.id_[i] = players.takes_part(i) ? players.id[i] : EntityId{0};
    frame.position_m_[i] = players.body[i].position_m;
  }
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    frame.id_[players.rows() + i] = monsters.id[i];
    frame.position_m_[players.rows() + i] = monsters.body[i].position_m;
  }
  for (std::size_t i = 0; i < heights.size(); ++i) std::ranges::copy(heights[i], frame.heights_[i].begin());
}

const History::Frame* History::at(TickId tick) const {
  if (frames_.empty() || tick == TickId{0}) return nullptr;
  const Frame& frame = frames_[number(tick) % frames_.size()];
  return frame.tick_ == tick ? &frame : nullptr;
}

}  // namespace ashlar
