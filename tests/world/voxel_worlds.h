#pragma once
#include <cstdint>

#include "tests/made_chunk.h"
#include "world/math/random.h"
#include "world/voxel/volume.h"

namespace ashlar::test {

/// A volume of `size` chunks from chunk `low`, solid where `solid` says so of an IVec3.
template <class Solid>
VoxelVolume make_volume(ChunkCoord low, IVec3 size, const Solid& solid) {
  VoxelVolume volume;
  const auto block = [&](IVec3 at) { return solid(at) ? BlockId::stone : BlockId::air; };
  for (int cz = 0; cz < size.z; ++cz)
    for (int cy = 0; cy < size.y; ++cy)
      for (int cx = 0; cx < size.x; ++cx) {
        const ChunkCoord at{low.x + cx, low.y + cy, low.z + cz};
        volume.insert_chunk(at, testing::made_chunk(at, block));
      }
  return volume;
}

/// Solid at random, each block by its own coordinates, so that shifted worlds can be compared.
inline bool random_block(std::uint64_t seed, IVec3 block, double density) {
  return rng_for(seed,
                 static_cast<std::uint64_t>(static_cast<std::uint32_t>(block.x)) << 32 |
                     static_cast<std::uint32_t>(block.y),
                 static_cast<std::uint64_t>(static_cast<std::uint32_t>(block.z)))
             .unit() < density;
}

}  // namespace ashlar::test
