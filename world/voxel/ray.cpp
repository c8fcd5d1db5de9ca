#include "world/voxel/ray.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "world/math/assert.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

/// One axis of the walk: where the ray crosses its grid planes.
struct Axis {
  std::int32_t cell, step;
  double next, every;  // t of the next crossing, and between crossings

  Axis(double origin, double direction)
      : cell(floor_to_int(origin)), step(direction < 0 ? -1 : 1), next(never), every(0) {
    if (direction == 0) return;
    every = std::fabs(1 / direction);
    const double edge = direction < 0 ? cell : cell + 1.0;
    next = std::fabs(edge - origin) * every;
  }
};

/// The bits low .. high of a chunk's column, both in [0, 31].
std::uint32_t bits_between(std::int32_t low, std::int32_t high) {
  return (~0u >> (31 - high)) & (~0u << low);
}

constexpr std::int32_t in_chunk = chunk_size - 1;

/// The walk for rays that rise (or are level), and for those that sink: layers are met in that order.
template <bool rises>
class Walk {
 public:
  Walk(const VoxelVolume& volume, DVec3 origin, DVec3 direction, double t_max_m)
      : volume_(volume), origin_(origin), direction_(direction), t_max_m_(t_max_m) {}

  RayHit run() {
    Axis x(origin_.x, direction_.x), y(origin_.y, direction_.y);
    std::int32_t z = floor_to_int(origin_.z);
    ChunkCoord where = chunk_of({x.cell, y.cell, z});
    const Chunk* chunk = volume_.find(where);
    double t = 0;
    bool by_x = false;  // how the column was entered
    while (true) {
      // The layers that the ray passes in this column: from z to where it leaves.
      const bool x_first = x.next <= y.next;
      const double leaves = x_first ? x.next : y.next;
      const double until = leaves < t_max_m_ ? leaves : t_max_m_;
      const std::int32_t reached = floor_to_int(origin_.z + direction_.z * until);
      const std::int32_t last = rises ? std::max(reached, z) : std::min(reached, z);
      const auto column = static_cast<std::size_t>((y.cell & in_chunk) * chunk_size + (x.cell & in_chunk));
      std::int32_t from = z;
      while (true) {
        if (chunk == nullptr) return report(ContactKind::unloaded, {x.cell, y.cell, from}, z, t, by_x);
        const std::int32_t edge = rises ? from | in_chunk : from & ~in_chunk;
        const std::int32_t to = rises ? std::min(last, edge) : std::max(last, edge);
        const std::uint32_t met = chunk->solid()[column] & bits_between((rises ? from : to) & in_chunk,
                                                                        (rises ? to : from) & in_chunk);
        if (met != 0) [[unlikely]] {
          const int bit = rises ? std::countr_zero(met) : 31 - std::countl_zero(met);
          return report(ContactKind::voxel, {x.cell, y.cell, (from & ~in_chunk) + bit}, z, t, by_x);
        }
        if (to == last) [[likely]]
          break;
        from = rises ? to + 1 : to - 1;
        where.z = from >> chunk_bits;
        chunk = volume_.find(where);
      }
      if (leaves > t_max_m_) return {};
      z = last;
      t = leaves;
      by_x = x_first;
      // Which axis it is cannot be predicted: both are advanced, one of them by nothing.
      x.cell += x_first ? x.step : 0;
      y.cell += x_first ? 0 : y.step;
      x.next += x_first ? x.every : 0.0;
      y.next += x_first ? 0.0 : y.every;
      const std::int32_t cx = x.cell >> chunk_bits, cy = y.cell >> chunk_bits;
      if (((cx ^ where.x) | (cy ^ where.y)) != 0) [[unlikely]] {
        where.x = cx;
        where.y = cy;
        chunk = volume_.find(where);
      }
    }
  }

 private:
  RayHit report(ContactKind kind, IVec3 block, std::int32_t entry_z, double t, bool by_x) const {
    RayHit hit;
    hit.kind = kind;
    hit.block = block;
    if (block.z != entry_z) {
      // From below or above, within the column.
      const double plane = rises ? block.z : block.z + 1.0;
      hit.t_m = std::clamp((plane - origin_.z) / direction_.z, std::max(t, 0.0), t_max_m_);
      hit.normal.z = rises ? -1 : 1;
      return hit;
    }
    hit.t_m = std::max(t, 0.0);
    if (block == block_at(origin_)) return hit;  // started inside
    if (by_x)
      hit.normal.x = direction_.x < 0 ? 1 : -1;
    else
      hit.normal.y = direction_.y < 0 ? 1 : -1;
    return hit;
  }

  const VoxelVolume& volume_;
  DVec3 origin_, direction_;
  double t_max_m_;
};

}  // namespace

RayHit voxel_ray(const VoxelVolume& volume, DVec3 origin, DVec3 direction, double t_max_m) {
  ASHLAR_ASSERT(t_max_m >= 0 && t_max_m <= 1e7);
  ASHLAR_ASSERT(is_finite(origin));
  ASHLAR_ASSERT_SLOW(std::fabs(dot(direction, direction) - 1) < 1e-6);
  return direction.z >= 0 ? Walk<true>(volume, origin, direction, t_max_m).run()
                          : Walk<false>(volume, origin, direction, t_max_m).run();
}

}  // namespace ashlar
