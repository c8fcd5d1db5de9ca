#pragma once
#include <memory>
#include <span>
#include <vector>

#include "world/voxel/chunk.h"

namespace ashlar::testing {

/// A chunk of which each block is what `block` says of its place, an IVec3 of the world. In the order in
/// which chunks keep their blocks, and without std::function between: tests ask it millions of times,
/// unoptimised where sanitizers look on.
template <class Block>
std::unique_ptr<Chunk> made_chunk(ChunkCoord at, const Block& block) {
  static_assert(index_in_chunk({0, 0, 1}) == 1 && index_in_chunk({1, 0, 0}) == chunk_size);
  std::vector<BlockId> blocks(chunk_blocks);
  BlockId* out = blocks.data();
  const IVec3 low{at.x * chunk_size, at.y * chunk_size, at.z * chunk_size};
  for (int y = 0; y < chunk_size; ++y)
    for (int x = 0; x < chunk_size; ++x)
      for (int z = 0; z < chunk_size; ++z) *out++ = block(IVec3{low.x + x, low.y + y, low.z + z});
  return std::make_unique<Chunk>(std::span<const BlockId>(blocks));
}

}  // namespace ashlar::testing
