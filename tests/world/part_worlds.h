#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/world/voxel_worlds.h"
#include "world/math/rounded_box.h"
#include "world/voxel/block_registry.h"

namespace ashlar::test {

/// The built-in kinds and behind them some of random boxes, one to four each.
inline std::shared_ptr<const BlockRegistry> kinds_with_random_shapes(std::uint64_t seed, int count) {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  Rng rng{seed};
  for (int i = 0; i < count; ++i) {
    BlockType& type = types.emplace_back();
    type.name = "shape_" + std::to_string(i);
    type.shape.count = static_cast<std::uint8_t>(1 + rng.below(BlockShape::boxes_max));
    type.shape.box = {};
    for (std::size_t b = 0; b < type.shape.count; ++b)
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const auto low = rng.below(shape_cells);
        const auto size = 1 + rng.below(shape_cells - low);
        type.shape.box[b].min[axis] = static_cast<std::uint8_t>(low);
        type.shape.box[b].max[axis] = static_cast<std::uint8_t>(low + size);
      }
  }
  return std::make_shared<const BlockRegistry>(std::move(types));
}

/// A volume of `size` chunks from chunk `low`, of such kinds and blocks.
inline VoxelVolume make_part_volume(std::shared_ptr<const BlockRegistry> kinds, ChunkCoord low, IVec3 size,
                                    const std::function<BlockId(IVec3)>& block) {
  VoxelVolume volume(64, std::move(kinds));
  std::vector<BlockId> blocks(chunk_blocks);
  for (int cz = 0; cz < size.z; ++cz)
    for (int cy = 0; cy < size.y; ++cy)
      for (int cx = 0; cx < size.x; ++cx) {
        const ChunkCoord at{low.x + cx, low.y + cy, low.z + cz};
        for (int i = 0; i < static_cast<int>(chunk_blocks); ++i) {
          const IVec3 local{i >> 5 & 31, i >> 10, i & 31};
          blocks[static_cast<std::size_t>(i)] =
              block(IVec3{at.x * chunk_size, at.y * chunk_size, at.z * chunk_size} + local);
        }
        volume.insert_chunk(at, std::make_unique<Chunk>(std::span<const BlockId>(blocks)));
      }
  return volume;
}

/// Any kind of a registry at random, each block by its own coordinates; every third is a full one.
inline BlockId random_kind(const BlockRegistry& kinds, std::uint64_t seed, IVec3 block, double density) {
  if (!random_block(seed, block, density)) return BlockId::air;
  Rng rng = rng_for(seed + 1,
                    static_cast<std::uint64_t>(static_cast<std::uint32_t>(block.x)) << 32 |
                        static_cast<std::uint32_t>(block.y),
                    static_cast<std::uint64_t>(static_cast<std::uint32_t>(block.z)));
  if (rng.below(3) == 0) return BlockId::stone;
  return static_cast<BlockId>(1 + rng.below(static_cast<std::uint32_t>(kinds.size() - 1)));
}

/// Calls visit(box) for every solid box of the blocks that the bounds touch: one block after the other, by
/// what each is. What is not loaded is one box.
template <typename Visit>
void every_box(const VoxelVolume& volume, const Aabb& bounds, Visit&& visit) {
  constexpr DVec3 margin{1e-5, 1e-5, 1e-5};
  const IVec3 low = block_at(bounds.min - margin), high = block_at(bounds.max + margin);
  for (int z = low.z; z <= high.z; ++z)
    for (int y = low.y; y <= high.y; ++y)
      for (int x = low.x; x <= high.x; ++x) {
        const DVec3 corner = to_dvec3(IVec3{x, y, z});
        if (!volume.loaded(chunk_of({x, y, z}))) {
          visit(Aabb{corner, corner + DVec3{1, 1, 1}});
          continue;
        }
        for (const ShapeBox& box : volume.kinds().type(volume.block({x, y, z})).shape.boxes())
          visit(box.at(corner));
      }
}

/// How deep a shape is in one box: distances by hand. Negative: apart by so much.
inline double depth_in_box(const RoundedBox& s, DVec3 p, const Aabb& b) {
  const double dx = std::fabs(p.x - 0.5 * (b.min.x + b.max.x)) - 0.5 * (b.max.x - b.min.x) - s.half_x_m;
  const double dy = std::fabs(p.y - 0.5 * (b.min.y + b.max.y)) - 0.5 * (b.max.y - b.min.y) - s.half_y_m;
  const double outside = std::hypot(std::max(dx, 0.0), std::max(dy, 0.0));
  const double flat = s.radius_m - (outside > 0 ? outside : std::max(dx, dy));
  return std::min(flat, std::min(b.max.z - p.z, p.z + s.height_m - b.min.z));
}

/// In the deepest of all boxes near.
inline double depth_in_parts(const VoxelVolume& volume, const RoundedBox& s, DVec3 p) {
  double deepest = -1e9;
  every_box(volume, bounds_of(s, p),
            [&](const Aabb& b) { deepest = std::max(deepest, depth_in_box(s, p, b)); });
  return deepest;
}

}  // namespace ashlar::test
