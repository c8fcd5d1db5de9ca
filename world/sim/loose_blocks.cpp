#include "world/sim/loose_blocks.h"

#include <algorithm>
#include <tuple>

#include "world/math/assert.h"

namespace ashlar {
namespace {

auto lowest_first(IVec3 b) { return std::tuple(b.z, b.y, b.x); }

bool loose(const VoxelVolume& volume, IVec3 block) {
  if (!volume.loaded(chunk_of(block))) return false;
  const BlockId id = volume.block(block);
  return volume.kinds().knows(id) && volume.kinds().type(id).falls;
}

bool gives_way(const VoxelVolume& volume, IVec3 block) {
  if (!volume.loaded(chunk_of(block))) return false;
  const BlockId id = volume.block(block);
  return volume.kinds().knows(id) && volume.kinds().replaceable(id);
}

constexpr IVec3 one_up{0, 0, 1};

}  // namespace

LooseBlocks::LooseBlocks(std::size_t bodies_max) : bodies_(bodies_max) {
  // What waits, and what one tick's edits may add: each sets itself and what is above it loose.
  waiting_.reserve(2 * waiting_max);
  fresh_.reserve(waiting_max);
}

/// A block that may fall, if it is one and there is room.
void LooseBlocks::note(const VoxelVolume& volume, IVec3 block) {
  if (fresh_.size() < waiting_max && loose(volume, block) && gives_way(volume, block - one_up))
    fresh_.push_back(block);
}

void LooseBlocks::move_some(const GroundTick& ground, std::uint32_t tick) {
  if (tick % ground.rules.ticks_within(fall_s, 1) != 0) return;
  bodies_.fill(ground.rules, ground.players, ground.monsters);
  std::size_t moved = 0, kept = 0;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    const IVec3 block = waiting_[i], below = block - one_up;
    if (!ground.volume.loaded(chunk_of(block))) {
      waiting_[kept++] = block;  // until somebody is near again
      continue;
    }
    const bool falls = loose(ground.volume, block) && gives_way(ground.volume, below);
    if (falls && (moved == falls_per_tick_max || bodies_.any_in(below))) {
      waiting_[kept++] = block;
      continue;
    }
    // A map's rock takes none and, where a door or lift came over it, gives none. Nothing falls into a zone,
    // which would bury it, or out of one, which would empty it.
    const bool held = !GroundEdits::changeable(ground.maps, block) ||
                      ground.edits.in_zone(block) != ground.edits.in_zone(below);
    if (!falls || held) continue;
    // What gives way takes its place: nothing of a sea is lost.
    const BlockId id = ground.volume.block(block), gave_way = ground.volume.block(below);
    if (!ground.edits.set(ground.volume, ground.maps, {below, id}, EntityId{0})) continue;
    const bool swapped = ground.edits.set(ground.volume, ground.maps, {block, gave_way}, EntityId{0});
    ASHLAR_ASSERT(swapped);
    ++moved;
  }
  waiting_.resize(kept);
}

void LooseBlocks::fall(const GroundTick& ground, std::uint32_t tick) {
  if (waiting_.empty() && ground.edits.applied().empty()) return;
  if (!waiting_.empty()) move_some(ground, tick);
  note_edits(ground.volume, ground.edits.applied());
}

void LooseBlocks::note_edits(const VoxelVolume& volume, std::span<const AppliedEdit> edits) {
  if (edits.empty()) return;
  fresh_.clear();
  for (const AppliedEdit& edit : edits) {
    note(volume, edit.block);
    note(volume, edit.block + one_up);
  }
  waiting_.insert(waiting_.end(), fresh_.begin(), fresh_.end());
  std::ranges::sort(waiting_, {}, lowest_first);
  const auto twice = std::ranges::unique(waiting_);
  waiting_.erase(twice.begin(), twice.end());
  if (waiting_.size() > waiting_max) waiting_.resize(waiting_max);
}

void LooseBlocks::restore(std::span<const IVec3> waiting) {
  waiting_.assign(waiting.begin(),
                  waiting.begin() + static_cast<std::ptrdiff_t>(std::min(waiting.size(), waiting_max)));
  std::ranges::sort(waiting_, {}, lowest_first);
  const auto twice = std::ranges::unique(waiting_);
  waiting_.erase(twice.begin(), twice.end());
}

void LooseBlocks::add_to_hash(StripeHasher& hash) const {
  for (const IVec3 block : waiting_) {
    hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(block.x)) << 32 |
             static_cast<std::uint32_t>(block.y));
    hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(block.z)));
  }
}

}  // namespace ashlar
