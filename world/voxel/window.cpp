#include "world/voxel/window.h"

#include <algorithm>

#include "world/math/assert.h"
#include "world/math/prefetch.h"

namespace ashlar {

namespace {

/// One chunk's width of columns, from the chunk that holds the lowest layer and the one above it.
/// Null chunks are solid. Adds its columns to the mask of all.
template <bool two>
[[gnu::always_inline]] inline std::uint32_t copy_columns(const Chunk* below, const Chunk* above,
                                                         unsigned shift, IVec3 first, IVec3 last,
                                                         BlockWindow& out) {
  const std::uint32_t* lower = below != nullptr ? below->solid().data() : nullptr;
  const std::uint32_t* upper = two && above != nullptr ? above->solid().data() : nullptr;
  std::uint32_t any = 0;
  for (std::int32_t y = first.y; y <= last.y; ++y) {
    std::uint32_t* row =
        &out.columns[static_cast<std::size_t>((y - out.min.y) * out.size_x - out.min.x + first.x)];
    const std::int32_t source = (y & (chunk_size - 1)) * chunk_size + (first.x & (chunk_size - 1));
    for (std::int32_t i = 0; i <= last.x - first.x; ++i) {
      std::uint32_t bits = (lower != nullptr ? lower[source + i] : ~0u) >> shift;
      // Two chunks are met only where shift > 0.
      if (two) bits |= (upper != nullptr ? upper[source + i] : ~0u) << (32 - shift);
      row[i] = bits;
      any |= bits;
    }
  }
  return any;
}

/// Takes the blocks that are solid in part out of the columns, and notes them on their own.
void split_parts(const VoxelVolume& volume, BlockWindow& out) {
  out.volume = &volume;
  out.any = 0;
  // What was copied reaches up to the end of its chunks, which may be beyond the window.
  const IVec3 last{0, 0, out.min.z + out.size_z - 1};
  const std::int32_t from = out.min.z & (chunk_size - 1);
  const std::int32_t copied = chunk_of(last).z == chunk_of(out.min).z ? chunk_size - from : chunk_size;
  ChunkCursor cursor(volume);
  for (std::int32_t y = 0; y < out.size_y; ++y)
    for (std::int32_t x = 0; x < out.size_x; ++x) {
      const auto at = static_cast<std::size_t>(y * out.size_x + x);
      std::uint32_t parts = 0;
      for (std::int32_t z = 0; z < copied;) {
        const IVec3 block = out.min + IVec3{x, y, z}, local = local_in_chunk(block);
        const std::int32_t layers = std::min(copied - z, chunk_size - local.z);
        const Chunk* chunk = cursor.at(chunk_of(block));
        if (chunk != nullptr && chunk->parts() != nullptr) {
          const std::uint32_t bits =
              (*chunk->parts())[static_cast<std::size_t>(local.y * chunk_size + local.x)];
          parts |= bits >> local.z << z & layer_mask(z, z + layers - 1);
        }
        z += layers;
      }
      out.columns[at] &= ~parts;
      out.parts[at] = parts;
      out.any |= out.columns[at];
      out.parts_any |= parts;
    }
}

bool has_parts(const Chunk* chunk) { return chunk != nullptr && chunk->parts() != nullptr; }

}  // namespace

void fill_window(const VoxelVolume& volume, IVec3 low, IVec3 high, BlockWindow& out) {
  ASHLAR_ASSERT(fits_window(low, high));  // more would be written past the columns
  out.min = low;
  out.size_x = high.x - low.x + 1;
  out.size_y = high.y - low.y + 1;
  out.size_z = high.z - low.z + 1;
  const ChunkCoord first = chunk_of(low), last = chunk_of(high);
  const auto shift = static_cast<unsigned>(low.z & (chunk_size - 1));
  if (first == last) {  // nearly always
    const Chunk* chunk = volume.find(first);
    out.unloaded = chunk == nullptr;
    out.any = copy_columns<false>(chunk, nullptr, shift, low, high, out);
    out.parts_any = 0;
    if (has_parts(chunk)) [[unlikely]]
      split_parts(volume, out);
    return;
  }
  out.unloaded = false;
  out.any = out.parts_any = 0;
  bool parts = false;
  const bool two = last.z != first.z;
  ASHLAR_ASSERT(last.z - first.z <= 1 && (!two || shift > 0));  // a window is no taller than a chunk
  for (std::int32_t cy = first.y; cy <= last.y; ++cy)
    for (std::int32_t cx = first.x; cx <= last.x; ++cx) {
      const IVec3 from{std::max(low.x, cx * chunk_size), std::max(low.y, cy * chunk_size), 0};
      const IVec3 to{std::min(high.x, cx * chunk_size + chunk_size - 1),
                     std::min(high.y, cy * chunk_size + chunk_size - 1), 0};
      const Chunk* below = volume.find({cx, cy, first.z});
      const Chunk* above = two ? volume.find({cx, cy, last.z}) : below;
      out.unloaded = out.unloaded || below == nullptr || above == nullptr;
      parts = parts || has_parts(below) || has_parts(above);
      out.any |= two ? copy_columns<true>(below, above, shift, from, to, out)
                     : copy_columns<false>(below, nullptr, shift, from, to, out);
    }
  if (parts) split_parts(volume, out);
}

void prefetch_window(const VoxelVolume& volume, IVec3 low, IVec3 high) {
  const ChunkCoord at = chunk_of(low);
  const Chunk* chunk = volume.find(at);
  if (chunk == nullptr) return;
  // Most windows lie in one chunk and one cache line of each of its rows: that is enough.
  const IVec3 last = chunk_of(high) == at ? high : IVec3{high.x, at.y * chunk_size + chunk_size - 1, high.z};
  for (std::int32_t y = low.y; y <= last.y; ++y) {
    const IVec3 local = local_in_chunk({low.x, y, low.z});
    prefetch(&chunk->solid()[static_cast<std::size_t>(local.y * chunk_size + local.x)], 1);
  }
}

}  // namespace ashlar
