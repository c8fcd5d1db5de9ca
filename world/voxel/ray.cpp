#include "world/voxel/ray.h"

#include <algorithm>
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
      : cell(floor_to_int(origin)), step(direction < 0 ? -1 : 1), next(never), every(never) {
    if (direction == 0) return;
    every = std::fabs(1 / direction);
    const double edge = direction < 0 ? cell : cell + 1.0;
    next = (edge - origin) / direction;
  }
};

}  // namespace

RayHit voxel_ray(const VoxelVolume& volume, DVec3 origin, DVec3 direction, double t_max_m) {
  ASHLAR_ASSERT(t_max_m >= 0 && t_max_m <= 1e7);
  ASHLAR_ASSERT(is_finite(origin));
  ASHLAR_ASSERT_SLOW(std::fabs(dot(direction, direction) - 1) < 1e-6);
  Axis x(origin.x, direction.x), y(origin.y, direction.y), z(origin.z, direction.z);
  ChunkCursor cursor(volume);
  double t = 0;
  DVec3 normal{};
  while (true) {
    const IVec3 block{x.cell, y.cell, z.cell};
    if (cursor.solid(block)) {
      RayHit hit;
      hit.t_m = t;
      hit.normal = normal;
      hit.block = block;
      const Chunk* chunk = cursor.at(chunk_of(block));
      hit.kind = chunk != nullptr ? ContactKind::voxel : ContactKind::unloaded;
      hit.what = chunk != nullptr ? static_cast<std::uint32_t>(chunk->block(local_in_chunk(block))) : 0;
      return hit;
    }
    Axis& first = x.next <= y.next ? (x.next <= z.next ? x : z) : (y.next <= z.next ? y : z);
    t = std::max(first.next, 0.0);
    if (t > t_max_m) return {};
    first.cell += first.step;
    first.next += first.every;
    normal = {};
    (&first == &x ? normal.x : &first == &y ? normal.y : normal.z) = -first.step;
  }
}

}  // namespace ashlar
