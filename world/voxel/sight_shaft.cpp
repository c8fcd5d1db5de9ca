#include "world/voxel/sight_shaft.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "world/math/shaft.h"
#include "world/voxel/ray.h"

namespace ashlar {
namespace {

constexpr double apart_m = 2;
constexpr int rows_max = 64, bits_max = 64;

enum ShaftAxis : std::uint8_t { shaft_x, shaft_y, shaft_z };

double along_axis(DVec3 v, ShaftAxis axis) { return axis == shaft_x ? v.x : axis == shaft_y ? v.y : v.z; }
std::int32_t block_floor(double v) { return static_cast<std::int32_t>(std::floor(v)); }

/// Gaps in what stops sight, by rows of bits.
class OpenBlocks {
 public:
  explicit OpenBlocks(const VoxelVolume& volume) : volume_(volume), cursor_(volume) {}

  /// Bit i: block (x, y, z + i) is open. Precondition: count in 1 to bits_max.
  std::uint64_t column(std::int32_t x, std::int32_t y, std::int32_t z, int count) {
    std::uint64_t open = 0;
    for (int done = 0; done < count;) {
      const IVec3 block{x, y, z + done}, local = local_in_chunk(block);
      const int here = std::min(chunk_size - local.z, count - done);
      const std::uint64_t bits = open_word(block, local) >> local.z;
      open |= (bits & ones(here)) << done;
      done += here;
    }
    return open;
  }
  /// Bit i: block (x + i, y, z) is open.
  std::uint64_t row(std::int32_t x, std::int32_t y, std::int32_t z, int count) {
    std::uint64_t open = 0;
    for (int i = 0; i < count; ++i) {
      const IVec3 block{x + i, y, z}, local = local_in_chunk(block);
      open |= ((open_word(block, local) >> local.z) & 1u) << i;
    }
    return open;
  }

  static std::uint64_t ones(int count) { return count >= 64 ? ~0ull : (1ull << count) - 1; }

 private:
  std::uint64_t open_word(IVec3 block, IVec3 local) {
    const Chunk* chunk = cursor_.at(chunk_of(block));
    if (chunk == nullptr) return 0xffffffffu;
    if (chunk != chunk_) {
      chunk_ = chunk;
      glassy_ = holds_glass(*chunk);
    }
    const auto at = static_cast<std::size_t>(local.y * chunk_size + local.x);
    std::uint32_t stops = chunk->solid()[at];
    if (const auto* parts = chunk->parts()) stops &= ~(*parts)[at];
    for (std::uint32_t left = glassy_ ? stops : 0; left != 0; left &= left - 1) {
      const std::int32_t z = std::countr_zero(left);
      if (see_through(chunk->block({local.x, local.y, z}))) stops &= ~(1u << z);
    }
    return ~stops;
  }
  bool holds_glass(const Chunk& chunk) const {
    const std::size_t kinds = volume_.kinds().types().size();
    for (std::size_t i = 0; i < kinds; ++i)
      if (const auto id = static_cast<BlockId>(i); chunk.may_hold(id) && see_through(id)) return true;
    return false;
  }
  bool see_through(BlockId id) const {
    const BlockRegistry& kinds = volume_.kinds();
    return kinds.knows(id) && kinds.type(id).solid() && !kinds.type(id).opaque;
  }

  const VoxelVolume& volume_;
  ChunkCursor cursor_;
  const Chunk* chunk_ = nullptr;
  bool glassy_ = false;
};

/// What of a slice lines may have reached.
struct ShaftSlice {
  std::int32_t row = 0, bit = 0;  ///< of the first
  int rows = 0, bits = 0;
  std::array<std::uint64_t, rows_max> reached, open;

  bool any() const {
    return std::any_of(reached.begin(), reached.begin() + rows, [](std::uint64_t r) { return r != 0; });
  }
  /// Everything that hangs together with what is reached.
  void fill() {
    for (bool more = true; more;) {
      more = false;
      for (int pass = 0; pass < 2; ++pass)
        for (int i = 0; i < rows; ++i) {
          const int j = pass == 0 ? i : rows - 1 - i;
          const auto at = static_cast<std::size_t>(j);
          std::uint64_t r = reached[at];
          if (j > 0) r |= reached[at - 1] & open[at];
          if (j + 1 < rows) r |= reached[at + 1] & open[at];
          for (std::uint64_t wider = (r | r << 1 | r >> 1) & open[at]; wider != r;
               wider = (r | r << 1 | r >> 1) & open[at])
            r = wider;
          more = more || r != reached[at];
          reached[at] = r;
        }
    }
  }
};

std::uint64_t moved_bits(std::uint64_t bits, std::int32_t by) {
  if (by <= -64 || by >= 64) return 0;
  return by >= 0 ? bits << by : bits >> -by;
}

/// How a shaft lies: the axis along it, and those of a slice's rows and bits.
struct ShaftAxes {
  ShaftAxis along, rows, bits;
};

ShaftSide shaft_side(const Aabb& from, const Aabb& to, ShaftAxis along, ShaftAxis across) {
  return {along_axis(from.min, along), along_axis(from.max, along),  along_axis(to.min, along),
          along_axis(to.max, along),   along_axis(from.min, across), along_axis(from.max, across),
          along_axis(to.min, across),  along_axis(to.max, across)};
}

/// Is nothing at all between the middles?
bool middles_see(const VoxelVolume& volume, const Aabb& from, const Aabb& to) {
  const DVec3 eye = (from.min + from.max) * 0.5, way = (to.min + to.max) * 0.5 - eye;
  const double way_m = length(way);
  return way_m > 0 && !voxel_ray(volume, eye, way * (1 / way_m), way_m).hit();
}

/// @param rows_read  counted on
bool walk_shaft(const VoxelVolume& volume, const Aabb& from, const Aabb& to, ShaftAxes axes,
                std::uint32_t& rows_read) {
  const ShaftSide rows = shaft_side(from, to, axes.along, axes.rows),
                  bits = shaft_side(from, to, axes.along, axes.bits);
  OpenBlocks blocks(volume);
  std::array<ShaftSlice, 2> slices;
  // From the end of the one to the beginning of the other: what is in the boxes may be anywhere.
  const std::int32_t first = block_floor(rows.from_end), last = block_floor(rows.to_begin);
  for (std::int32_t k = first; k <= last; ++k) {
    ShaftSlice& slice = slices[static_cast<std::size_t>(k - first) % 2];
    const ShaftSlice& before = slices[static_cast<std::size_t>(k - first + 1) % 2];
    const double begin = k, end = k + 1.0;
    slice.row = block_floor(std::min(rows.low(begin), rows.low(end)));
    slice.bit = block_floor(std::min(bits.low(begin), bits.low(end)));
    slice.rows = block_floor(std::max(rows.high(begin), rows.high(end))) - slice.row + 1;
    slice.bits = block_floor(std::max(bits.high(begin), bits.high(end))) - slice.bit + 1;
    if (slice.rows > rows_max || slice.bits > bits_max) return true;  // larger than anybody's shaft
    rows_read += static_cast<std::uint32_t>(slice.rows);
    for (int j = 0; j < slice.rows; ++j) {
      const auto at = static_cast<std::size_t>(j);
      const std::int32_t row = slice.row + j;
      slice.open[at] = axes.along == shaft_z   ? blocks.row(slice.bit, row, k, slice.bits)
                       : axes.along == shaft_x ? blocks.column(k, row, slice.bit, slice.bits)
                                               : blocks.column(row, k, slice.bit, slice.bits);
      std::uint64_t came = OpenBlocks::ones(slice.bits);
      if (k > first) {
        const std::int32_t was = row - before.row;
        came = was < 0 || was >= before.rows
                   ? 0
                   : moved_bits(before.reached[static_cast<std::size_t>(was)], before.bit - slice.bit);
      }
      slice.reached[at] = came & slice.open[at];
    }
    if (!slice.any()) return false;
    slice.fill();
  }
  return true;
}

}  // namespace

bool blocks_let_see(const VoxelVolume& volume, const Aabb& from, const Aabb& to, std::uint32_t* rows_read) {
  ShaftAxis along = shaft_x;
  double apart = -1;
  for (const ShaftAxis axis : {shaft_x, shaft_y, shaft_z}) {
    const double gap = std::max(along_axis(to.min, axis) - along_axis(from.max, axis),
                                along_axis(from.min, axis) - along_axis(to.max, axis));
    if (gap > apart) apart = gap, along = axis;
  }
  if (apart < apart_m || middles_see(volume, from, to)) return true;
  std::uint32_t unasked = 0;
  std::uint32_t& rows = rows_read != nullptr ? *rows_read : unasked;
  const ShaftAxes axes{along, along == shaft_y ? shaft_x : shaft_y, along == shaft_z ? shaft_x : shaft_z};
  return along_axis(from.max, along) < along_axis(to.min, along) ? walk_shaft(volume, from, to, axes, rows)
                                                                 : walk_shaft(volume, to, from, axes, rows);
}

}  // namespace ashlar
