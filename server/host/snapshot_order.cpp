#include "server/host/snapshot_order.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar::server {

std::uint32_t SnapshotTurn::waited(std::uint32_t tick) const {
  return active ? std::max(lap, tick - began) : 0;
}

std::span<const CellBlock> SnapshotOrder::arrange(std::span<const CellBlock> nearest_first, std::size_t parts,
                                                  const SnapshotTurn& turn) {
  ASHLAR_ASSERT(parts >= snapshot_parts_least);
  order_.clear();
  round_.clear();
  std::size_t room = (parts - snapshot_parts_full_of_sectors) * snapshot_part_records_min / 2;
  bool near = true;
  for (const CellBlock& block : nearest_first) {
    const std::size_t records = block.entities.size() + 1;
    // The first that does not fit ends it: what is farther must not be told more often than what is nearer.
    near = near && records <= room;
    if (near) room -= records;
    (near ? order_ : round_).push_back(block);
  }
  near_count_ = order_.size();

  std::ranges::sort(round_, {}, &CellBlock::cell);
  wrap_ = order_.size();
  if (!turn.active) {
    order_.insert(order_.end(), round_.begin(), round_.end());
    return order_;
  }
  const auto next = std::ranges::lower_bound(round_, turn.cell, {}, &CellBlock::cell);
  order_.insert(order_.end(), next, round_.end());
  const bool inside = next != round_.end() && next->cell == turn.cell && turn.id > EntityId{0};
  if (inside) order_[near_count_] = next->from(turn.id);
  wrap_ = order_.size();
  order_.insert(order_.end(), round_.begin(), next);
  if (inside) order_.push_back(next->below(turn.id));
  return order_;
}

void SnapshotOrder::advance(const SnapshotPlan& plan, std::uint32_t tick, std::uint32_t tick_before,
                            SnapshotTurn& turn) const {
  if (plan.blocks_taken >= order_.size()) {  // in this order all of it fitted: nobody waits
    turn = {};
    return;
  }
  if (plan.blocks_taken < near_count_) return;
  if (!turn.active) turn = {true, {}, {}, tick_before, 0};
  // Past the highest cell: the lap is over, and the next one began with this snapshot.
  else if (plan.blocks_taken >= wrap_)
    turn.lap = tick - turn.began, turn.began = tick;
  turn.cell = order_[plan.blocks_taken].cell;
  turn.id = plan.resume;
}

}  // namespace ashlar::server
