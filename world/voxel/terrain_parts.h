#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "world/math/block_box.h"
#include "world/math/vec.h"
#include "world/voxel/chunk.h"
#include "world/voxel/chunk_place.h"
#include "world/voxel/terrain.h"

// What the kinds of terrain share, and one entry for each. Of terrain*.cpp and hills*.cpp alone.

namespace ashlar::ground {

/// Chebyshev distance in blocks from a column to a footprint's; 0 inside.
inline std::int32_t distance_to(const BlockBox& box, std::int32_t x, std::int32_t y) {
  const std::int32_t dx = std::max({box.min.x - x, x - (box.max.x - 1), 0});
  const std::int32_t dy = std::max({box.min.y - y, y - (box.max.y - 1), 0});
  return std::max(dx, dy);
}

/// Nearest footprint's distance; a large number without footprints.
std::int32_t distance_to_footprints(std::span<const BlockBox> footprints, std::int32_t x, std::int32_t y);

/// A height as the footprints let it be: each allows half the distance beyond its apron above and below its
/// roof, so slopes can be climbed. The nearest has the last word (on a tie the last in the list): beside its
/// own wall the ground is level with its own roof, whatever its neighbours want.
template <typename Height>
Height levelled(std::span<const BlockBox> footprints, std::int32_t x, std::int32_t y, Height height) {
  const auto clamp_to = [&](const BlockBox& box, std::int32_t distance) {
    const std::int32_t slack = std::max(0, distance - terrain_apron_m) / 2;
    if (slack < 4096)
      height =
          std::clamp(height, static_cast<Height>(box.max.z - slack), static_cast<Height>(box.max.z + slack));
  };
  std::int32_t nearest = 1 << 24;
  const BlockBox* owner = nullptr;
  for (const BlockBox& box : footprints) {
    const std::int32_t distance = distance_to(box, x, y);
    clamp_to(box, distance);
    if (distance <= nearest) nearest = distance, owner = &box;
  }
  if (owner != nullptr) clamp_to(*owner, nearest);
  return height;
}

/// A chunk in the making.
class ChunkDraft {
 public:
  ChunkDraft(ChunkCoord at, BlockId fill) : min_(chunk_min(at)), blocks_(chunk_blocks, fill) {}

  IVec3 min() const { return min_; }
  IVec3 end() const { return min_ + IVec3{chunk_size, chunk_size, chunk_size}; }
  bool holds(IVec3 block) const {
    const IVec3 local = block - min_;
    return ((local.x | local.y | local.z) & ~(chunk_size - 1)) == 0;
  }
  /// Preconditions: holds(block).
  BlockId& at(IVec3 block) { return blocks_[index_in_chunk(block - min_)]; }
  /// The column of blocks over a place in the chunk, from its bottom.
  BlockId* column(std::int32_t x, std::int32_t y) {
    return &blocks_[index_in_chunk({x - min_.x, y - min_.y, 0})];
  }
  /// Sets a block of this chunk that is `over` now; all others stay.
  void put(IVec3 block, BlockId id, BlockId over = BlockId::air) {
    if (!holds(block)) return;
    BlockId& there = at(block);
    if (there == over) there = id;
  }
  /// Takes out everything within the footprints.
  void clear(std::span<const BlockBox> footprints);
  std::unique_ptr<Chunk> finish() const { return std::make_unique<Chunk>(std::span<const BlockId>(blocks_)); }

 private:
  IVec3 min_;
  std::vector<BlockId> blocks_;
};

std::int32_t plains_surface(const Terrain& terrain, std::int32_t x, std::int32_t y);
BlockId plains_surface_block(const Terrain& terrain, std::int32_t x, std::int32_t y);
std::unique_ptr<Chunk> plains_chunk(const Terrain& terrain, ChunkCoord at);

std::int32_t hills_surface(const Terrain& terrain, std::int32_t x, std::int32_t y);
BlockId hills_surface_block(const Terrain& terrain, std::int32_t x, std::int32_t y);
std::unique_ptr<Chunk> hills_chunk(const Terrain& terrain, ChunkCoord at);

}  // namespace ashlar::ground
