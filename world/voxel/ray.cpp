#include "world/voxel/ray.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>

#include "world/math/assert.h"
#include "world/math/never.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

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

/// Where a ray meets a box: nullopt, or when and through which side (normal zero: it starts inside).
struct BoxMet {
  double t = 0;
  DVec3 normal{};
};
std::optional<BoxMet> meet_box(DVec3 origin, DVec3 direction, double t_max, const Aabb& box) {
  bool inside = true;
  BoxMet met;
  double leaves = t_max;
  met.t = -1;
  for (int axis = 0; axis < 3; ++axis) {
    const double o = component(origin, axis), d = component(direction, axis);
    const double low = component(box.min, axis), high = component(box.max, axis);
    inside = inside && o >= low && o < high;
    if (d == 0) {
      if (o < low || o >= high) return std::nullopt;
      continue;
    }
    const double near = ((d > 0 ? low : high) - o) / d, far = ((d > 0 ? high : low) - o) / d;
    if (near > met.t) {
      met.t = near;
      met.normal = {};
      (axis == 0 ? met.normal.x : axis == 1 ? met.normal.y : met.normal.z) = d > 0 ? -1 : 1;
    }
    leaves = std::min(leaves, far);
  }
  if (inside) return BoxMet{};
  // Who is on the open side and goes away from it is out.
  if (met.t > leaves || met.t < 0) return std::nullopt;
  return met;
}

constexpr std::int32_t chunk_mask = chunk_size - 1;

/// The walk for rays that rise (or are level), and for those that sink: layers are met in that order.
template <bool rises>
class Walk {
 public:
  Walk(const VoxelVolume& volume, DVec3 origin, DVec3 direction, double t_max_m)
      : volume_(volume),
        origin_(origin),
        direction_(direction),
        t_max_m_(t_max_m),
        x_(origin.x, direction.x),
        y_(origin.y, direction.y),
        z_(floor_to_int(origin.z)),
        entry_z_(z_) {}

  /// One chunk after the other, until one of them knows the answer.
  RayHit run() {
    RayHit hit;
    while (!cross_chunk(hit)) {
    }
    return hit;
  }

 private:
  /// Walks from cell (x, y, z) to where the ray leaves that cell's chunk. True: `hit` is the answer.
  bool cross_chunk(RayHit& hit) {
    const ChunkCoord where = chunk_of({x_.cell, y_.cell, z_});
    const Chunk* chunk = volume_.find(where);
    if (chunk == nullptr) return hit = report(ContactKind::unloaded, {x_.cell, y_.cell, z_}), true;
    const std::int32_t local_x = x_.cell & chunk_mask, local_y = y_.cell & chunk_mask;
    // Steps along each axis that stay within the chunk; -1 is the one that leaves it.
    const std::int32_t steps_x = x_.step > 0 ? chunk_mask - local_x : local_x;
    const std::int32_t steps_y = y_.step > 0 ? chunk_mask - local_y : local_y;
    std::int32_t left_x = steps_x, left_y = steps_y;
    const std::ptrdiff_t stride_x = x_.step, stride_y = y_.step * chunk_size;
    const std::uint32_t* column = chunk->solid().data() + local_y * chunk_size + local_x;
    const std::uint32_t* parts = chunk->parts() != nullptr ? chunk->parts()->data() : nullptr;
    const std::int32_t base_z = where.z * chunk_size;
    // Relative to the chunk and raised by its size, heights just below it are positive too: cutting off the
    // fraction is then rounding down.
    const double raised_z = origin_.z - base_z + chunk_size;
    const double rise = direction_.z, t_max = t_max_m_, every_x = x_.every, every_y = y_.every;
    double next_x = x_.next, next_y = y_.next, t = t_;
    std::int32_t from = z_ - base_z;
    bool by_x = by_x_, leaves_upright = false, ended = false;
    std::uint32_t met = 0;
    while (true) {
      // Which axis comes first cannot be predicted: both are advanced, one of them by nothing. Each choice is
      // written with a condition of its own, as compilers make a branch of choices that share one.
      const bool x_first = next_x <= next_y;
      const double add_x = next_x <= next_y ? every_x : 0.0;
      const double add_y = next_y < next_x ? every_y : 0.0;
      // The layers that the ray passes in this column: from `from` to where it leaves.
      const double until_y = next_y < t_max ? next_y : t_max;
      const double until = next_x < until_y ? next_x : until_y;
      const std::int32_t reached = static_cast<std::int32_t>(raised_z + rise * until) - chunk_size;
      std::int32_t last = rises ? std::max(reached, from) : std::min(reached, from);
      leaves_upright = rises ? last > chunk_mask : last < 0;
      if (leaves_upright) [[unlikely]]
        last = rises ? chunk_mask : 0;
      met = *column & bits_between(rises ? from : last, rises ? last : from);
      ended = (next_x > t_max) & (next_y > t_max);
      if (((met != 0) | leaves_upright | ended) != 0) [[unlikely]] {
        if (met == 0 || parts == nullptr) break;
        const IVec3 cell{x_.cell + (steps_x - left_x) * x_.step, y_.cell + (steps_y - left_y) * y_.step,
                         base_z};
        if (meets_parts(*chunk, cell, parts[column - chunk->solid().data()], met, hit)) return true;
        if (((met != 0) | leaves_upright | ended) != 0) break;
      }
      from = last;
      t = until;
      by_x = x_first;
      entry_z_ = base_z + from;
      left_x -= x_first ? 1 : 0;
      left_y -= x_first ? 0 : 1;
      column += x_first ? stride_x : stride_y;
      next_x += add_x;
      next_y += add_y;
      if ((left_x | left_y) < 0) [[unlikely]]
        break;
    }
    x_.cell += (steps_x - left_x) * x_.step, x_.next = next_x;
    y_.cell += (steps_y - left_y) * y_.step, y_.next = next_y;
    t_ = t, by_x_ = by_x;
    z_ = base_z + from;
    if (leaves_upright && met == 0) {
      // Through the top or the bottom the ray stays in its column, and on its way to where it leaves that.
      z_ = rises ? base_z + chunk_size : base_z - 1;
      return false;
    }
    if (met != 0) hit = report_block(met, base_z);
    return met != 0 || ended;
  }

  /// Are those that the ray comes to before a full one solid where it goes? True: one is, and `hit` says
  /// where. False: they are taken out of `met`, up to the first full one.
  bool meets_parts(const Chunk& chunk, IVec3 column, std::uint32_t parts, std::uint32_t& met,
                   RayHit& hit) const {
    while (met != 0) {
      const int bit = rises ? std::countr_zero(met) : 31 - std::countl_zero(met);
      if ((parts >> bit & 1u) == 0) return false;
      const IVec3 block = column + IVec3{0, 0, bit};
      std::optional<BoxMet> first;
      for (const ShapeBox& box : volume_.kinds().shape(chunk.block(local_in_chunk(block))).boxes()) {
        const auto one = meet_box(origin_, direction_, t_max_m_, box.at(to_dvec3(block)));
        if (one && (!first || one->t < first->t)) first = one;
      }
      if (first) {
        hit.t_m = first->t, hit.normal = first->normal, hit.kind = ContactKind::voxel, hit.block = block;
        return true;
      }
      met &= ~(1u << bit);
    }
    return false;
  }

  /// The first of these blocks of the column that the walk is in.
  RayHit report_block(std::uint32_t met, std::int32_t base_z) const {
    const int bit = rises ? std::countr_zero(met) : 31 - std::countl_zero(met);
    return report(ContactKind::voxel, {x_.cell, y_.cell, base_z + bit});
  }

  RayHit report(ContactKind kind, IVec3 block) const {
    RayHit hit;
    hit.kind = kind;
    hit.block = block;
    if (block.z != entry_z_) {
      // From below or above, within the column.
      const double plane = rises ? block.z : block.z + 1.0;
      hit.t_m = std::clamp((plane - origin_.z) / direction_.z, std::max(t_, 0.0), t_max_m_);
      hit.normal.z = rises ? -1 : 1;
      return hit;
    }
    hit.t_m = std::max(t_, 0.0);
    if (block == block_at(origin_)) return hit;  // started inside
    if (by_x_)
      hit.normal.x = direction_.x < 0 ? 1 : -1;
    else
      hit.normal.y = direction_.y < 0 ? 1 : -1;
    return hit;
  }

  const VoxelVolume& volume_;
  DVec3 origin_, direction_;
  double t_max_m_;
  Axis x_, y_;
  std::int32_t z_, entry_z_;  // where the walk is, and where it entered its column
  double t_ = 0;
  bool by_x_ = false;  // how the column was entered
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
