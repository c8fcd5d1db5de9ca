#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "world/math/random.h"
#include "world/voxel/volume.h"

namespace ashlar::test {

/// A volume of `size` chunks from chunk `low`, solid where `solid` says so.
inline VoxelVolume make_volume(ChunkCoord low, IVec3 size, const std::function<bool(IVec3)>& solid) {
  VoxelVolume volume;
  std::vector<BlockId> blocks(chunk_blocks);
  for (int cz = 0; cz < size.z; ++cz)
    for (int cy = 0; cy < size.y; ++cy)
      for (int cx = 0; cx < size.x; ++cx) {
        const ChunkCoord at{low.x + cx, low.y + cy, low.z + cz};
        for (int y = 0; y < chunk_size; ++y)
          for (int x = 0; x < chunk_size; ++x)
            for (int z = 0; z < chunk_size; ++z)
              blocks[index_in_chunk({x, y, z})] =
                  solid({at.x * chunk_size + x, at.y * chunk_size + y, at.z * chunk_size + z})
                      ? BlockId::stone
                      : BlockId::air;
        volume.insert_chunk(at, std::make_unique<Chunk>(std::span<const BlockId>(blocks)));
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
