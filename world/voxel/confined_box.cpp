#include "world/voxel/confined_box.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace ashlar {
namespace {

constexpr std::int32_t side_max = 17;  // blocks that 16 m may touch

IVec3 block_at_floor(DVec3 p) {
  return {static_cast<std::int32_t>(std::floor(p.x)), static_cast<std::int32_t>(std::floor(p.y)),
          static_cast<std::int32_t>(std::floor(p.z))};
}

/// Columns of a box of blocks, a bit for each block.
struct Columns {
  IVec3 low{}, size{};
  std::array<std::uint32_t, side_max * side_max> open{}, reached{};

  std::size_t at(std::int32_t x, std::int32_t y) const { return static_cast<std::size_t>(y * size.x + x); }
  std::size_t count() const { return at(0, size.y); }
};

/// Blocks that are not solid throughout.
std::uint32_t open_column(ChunkCursor& cursor, IVec3 low, std::int32_t count) {
  std::uint32_t open = 0;
  for (std::int32_t done = 0; done < count;) {
    const IVec3 block{low.x, low.y, low.z + done}, local = local_in_chunk(block);
    const std::int32_t here = std::min(chunk_size - local.z, count - done);
    std::uint32_t stops = 0;
    if (const Chunk* chunk = cursor.at(chunk_of(block))) {
      const auto at = static_cast<std::size_t>(local.y * chunk_size + local.x);
      stops = chunk->solid()[at];
      if (const auto* parts = chunk->parts()) stops &= ~(*parts)[at];
    }
    const std::uint32_t mask = (std::uint32_t{1} << here) - 1;  // here <= side_max
    open |= (~stops >> local.z & mask) << done;
    done += here;
  }
  return open;
}

/// Everything that hangs together with what is reached.
void fill(Columns& c) {
  for (bool more = true; more;) {
    more = false;
    for (std::int32_t y = 0; y < c.size.y; ++y)
      for (std::int32_t x = 0; x < c.size.x; ++x) {
        const std::size_t at = c.at(x, y);
        std::uint32_t r = c.reached[at];
        if (x > 0) r |= c.reached[at - 1];
        if (x + 1 < c.size.x) r |= c.reached[at + 1];
        if (y > 0) r |= c.reached[c.at(x, y - 1)];
        if (y + 1 < c.size.y) r |= c.reached[c.at(x, y + 1)];
        r |= r << 1 | r >> 1;
        r &= c.open[at];
        more = more || r != c.reached[at];
        c.reached[at] = r;
      }
  }
}

}  // namespace

Aabb confined_by_blocks(const VoxelVolume& volume, const Aabb& now, const Aabb& box) {
  Columns c;
  c.low = block_at_floor(box.min);
  const IVec3 high = block_at_floor(box.max);
  c.size = high - c.low + IVec3{1, 1, 1};
  if (c.size.x > side_max || c.size.y > side_max || c.size.z > side_max) return box;
  ChunkCursor cursor(volume);
  for (std::int32_t y = 0; y < c.size.y; ++y)
    for (std::int32_t x = 0; x < c.size.x; ++x)
      c.open[c.at(x, y)] = open_column(cursor, c.low + IVec3{x, y, 0}, c.size.z);

  const IVec3 first = block_at_floor(now.min) - c.low, last = block_at_floor(now.max) - c.low;
  bool any = false;
  for (std::int32_t y = std::max(first.y, 0); y <= std::min(last.y, c.size.y - 1); ++y)
    for (std::int32_t x = std::max(first.x, 0); x <= std::min(last.x, c.size.x - 1); ++x)
      for (std::int32_t z = std::max(first.z, 0); z <= std::min(last.z, c.size.z - 1); ++z) {
        c.reached[c.at(x, y)] |= c.open[c.at(x, y)] & std::uint32_t{1} << z;
        any = any || c.reached[c.at(x, y)] != 0;
      }
  if (!any) return box;
  fill(c);

  Aabb out = now;
  for (std::int32_t y = 0; y < c.size.y; ++y)
    for (std::int32_t x = 0; x < c.size.x; ++x) {
      const std::uint32_t r = c.reached[c.at(x, y)];
      if (r == 0) continue;
      const IVec3 column = c.low + IVec3{x, y, 0};
      const DVec3 low{static_cast<double>(column.x), static_cast<double>(column.y),
                      static_cast<double>(column.z + std::countr_zero(r))};
      const double top = column.z + static_cast<double>(std::bit_width(r));
      out.min = {std::min(out.min.x, low.x), std::min(out.min.y, low.y), std::min(out.min.z, low.z)};
      out.max = {std::max(out.max.x, low.x + 1), std::max(out.max.y, low.y + 1), std::max(out.max.z, top)};
    }
  out.min = {std::max(out.min.x, box.min.x), std::max(out.min.y, box.min.y), std::max(out.min.z, box.min.z)};
  out.max = {std::min(out.max.x, box.max.x), std::min(out.max.y, box.max.y), std::min(out.max.z, box.max.z)};
  return out;
}

}  // namespace ashlar
