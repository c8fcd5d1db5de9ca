#include "world/sim/history.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {

History::History(const Rules& rules, std::size_t players_max, std::size_t monsters_max,
                 std::span<const std::vector<SectorHeights>> heights)
    : ticks_max_(rules.ticks_within(rewind_s_max, 1)),
      frames_(std::size_t{ticks_max_} + rules.ticks_within(told_apart_s_max, 1) + 1),
      blocks_(ticks_max_ + 1) {
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

std::optional<ToldStates> History::told_states(std::size_t row, EntityId id, const PictureAt& picture) const {
  const Frame* then = at(picture.seen);
  if (then == nullptr) return std::nullopt;
  const auto was = then->position_of(row, id);
  if (!was) return std::nullopt;
  const std::int64_t seen = number(picture.seen);
  const ToldStates alone{*was, static_cast<double>(seen), *was, static_cast<double>(seen)};
  if (picture.told_before == 0 && picture.told_after == 0) return alone;
  const std::int64_t before = seen - picture.told_before, after = seen + picture.told_after;
  if (before <= 0 || after <= before) return alone;
  const Frame* from = at(TickId{static_cast<std::uint32_t>(before)});
  const Frame* to = at(TickId{static_cast<std::uint32_t>(after)});
  if (from == nullptr || to == nullptr) return alone;
  const auto from_m = from->position_of(row, id), to_m = to->position_of(row, id);
  if (!from_m || !to_m) return alone;
  return ToldStates{*from_m, static_cast<double>(before), *to_m, static_cast<double>(after)};
}

const History::Frame* History::at(TickId tick) const {
  if (frames_.empty() || tick == TickId{0}) return nullptr;
  const Frame& frame = frames_[number(tick) % frames_.size()];
  return frame.tick_ == tick ? &frame : nullptr;
}

}  // namespace ashlar
