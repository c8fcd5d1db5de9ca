#pragma once
#include <cstddef>

#include "world/math/vec.h"
#include "world/voxel/block.h"
#include "world/voxel/block_sections.h"

namespace ashlar {

/// The lowest block of a chunk.
constexpr IVec3 chunk_min(ChunkCoord at) { return {at.x * chunk_size, at.y * chunk_size, at.z * chunk_size}; }

/// The block of a chunk that has that index there, as index_in_chunk() counts. Precondition: below
/// chunk_blocks.
constexpr IVec3 block_of_index(ChunkCoord at, std::size_t index) {
  return chunk_min(at) + local_of_index(index);
}

}  // namespace ashlar
