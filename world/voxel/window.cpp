#include "world/voxel/window.h"

#include <algorithm>

namespace ashlar {

void fill_window(const VoxelVolume& volume, IVec3 low, IVec3 high, BlockWindow& out) {
  ASHLAR_ASSERT_SLOW(fits_window(low, high));
  out.min = low;
  out.size_x = high.x - low.x + 1;
  out.size_y = high.y - low.y + 1;
  out.size_z = high.z - low.z + 1;
  out.unloaded = false;
  const ChunkCoord first = chunk_of(low), last = chunk_of(high);
  const auto shift = static_cast<unsigned>(low.z & (chunk_size - 1));
  // At most two chunks above one another: a window is no taller than a chunk.
  const bool two = last.z != first.z;
  for (std::int32_t cy = first.y; cy <= last.y; ++cy) {
    const std::int32_t y0 = std::max(low.y, cy * chunk_size);
    const std::int32_t y1 = std::min(high.y, cy * chunk_size + chunk_size - 1);
    for (std::int32_t cx = first.x; cx <= last.x; ++cx) {
      const std::int32_t x0 = std::max(low.x, cx * chunk_size);
      const std::int32_t x1 = std::min(high.x, cx * chunk_size + chunk_size - 1);
      const Chunk* below = volume.find({cx, cy, first.z});
      const Chunk* above = two ? volume.find({cx, cy, last.z}) : below;
      out.unloaded = out.unloaded || below == nullptr || above == nullptr;
      for (std::int32_t y = y0; y <= y1; ++y) {
        std::uint32_t* row = &out.columns[static_cast<std::size_t>((y - low.y) * out.size_x)];
        const std::int32_t source = (y & (chunk_size - 1)) * chunk_size;
        for (std::int32_t x = x0; x <= x1; ++x) {
          const auto word = static_cast<std::size_t>(source + (x & (chunk_size - 1)));
          const std::uint32_t lower = below != nullptr ? below->solid()[word] : ~0u;
          std::uint32_t bits = lower >> shift;
          if (two) {
            const std::uint32_t upper = above != nullptr ? above->solid()[word] : ~0u;
            bits |= upper << (32 - shift);  // two chunks are met only where shift > 0
          }
          row[x - low.x] = bits;
        }
      }
    }
  }
}

}  // namespace ashlar
