#include "world/sim/block_history.h"

#include <algorithm>

#include "world/collide/ray_shapes.h"
#include "world/math/assert.h"

namespace ashlar {

BlockHistory::BlockHistory(std::uint32_t ticks_max) : ring_(edits_max), ticks_max_(ticks_max) {}

void BlockHistory::note(TickId tick, std::span<const AppliedEdit> applied) {
  if (ring_.empty()) return;
  if (number(tick) != tick_) tick_ = number(tick), noted_ = 0;
  ASHLAR_ASSERT(noted_ <= applied.size());
  for (const AppliedEdit& edit : applied.subspan(noted_)) {
    ring_[next_] = {tick_, edit};
    next_ = (next_ + 1) % edits_max;
    count_ = std::min(count_ + 1, edits_max);
  }
  noted_ = applied.size();
  const auto oldest = [this]() -> const Change& { return ring_[(next_ + edits_max - count_) % edits_max]; };
  while (count_ > 0 && tick_ - oldest().tick > ticks_max_) --count_;
}

BlockHistory::Past::Past(const BlockHistory& history, VoxelVolume& volume, TickId seen, EntityId seer,
                         DVec3 origin, DVec3 direction, double range_m)
    : volume_(volume) {
  std::array<IVec3, along_max> own;
  std::size_t own_count = 0;
  for (std::size_t i = 0; i < history.count_ && count_ < along_max; ++i) {
    const Change& change = history.ring_[(history.next_ + edits_max - 1 - i) % edits_max];
    if (change.tick <= number(seen)) return;
    const DVec3 corner = to_dvec3(change.edit.block);
    const Aabb box{corner, corner + DVec3{1, 1, 1}};
    if (!ray_box(origin, direction, range_m, box)) continue;
    if (change.edit.who == seer) {
      // What was there before somebody else's change is not what it sees behind its own.
      if (own_count < along_max) own[own_count++] = change.edit.block;
      continue;
    }
    const auto end = own.begin() + static_cast<std::ptrdiff_t>(own_count);
    if (std::find(own.begin(), end, change.edit.block) == end) undo(change.edit.block, change.edit.before);
  }
}

void BlockHistory::Past::undo(IVec3 block, BlockId before) {
  if (!volume_.loaded(chunk_of(block))) return;
  undone_[count_++] = {block, volume_.block(block)};
  static_cast<void>(volume_.set_block(block, before));
}

BlockHistory::Past::~Past() {
  while (count_ > 0) {
    --count_;
    static_cast<void>(volume_.set_block(undone_[count_].block, undone_[count_].now));
  }
}

}  // namespace ashlar
