#include "world/sim/block_sight.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "world/math/contact.h"

namespace ashlar {
namespace {

constexpr double inset_m = 0.1;

/// A point of a face: u and v in [0, 1] along its two edges.
DVec3 point_of_face(IVec3 block, BlockFace face, double u, double v) {
  const DVec3 low = to_dvec3(block);
  switch (face) {
    case BlockFace::west: return low + DVec3{0, u, v};
    case BlockFace::east: return low + DVec3{1, u, v};
    case BlockFace::south: return low + DVec3{u, 0, v};
    case BlockFace::north: return low + DVec3{u, 1, v};
    case BlockFace::bottom: return low + DVec3{u, v, 0};
    case BlockFace::top: return low + DVec3{u, v, 1};
  }
  return low;
}

/// Is nothing but the block itself before one of its points?
bool point_in_sight(const Space& space, DVec3 eye, DVec3 point, IVec3 block) {
  const DVec3 way = point - eye;
  const double distance = length(way);
  if (distance <= face_tolerance_m) return true;
  const RayHit hit = space_ray(space, eye, way * (1 / distance), distance);
  if (!hit.hit() || hit.t_m >= distance - face_tolerance_m) return true;
  return hit.kind == ContactKind::voxel && hit.block == block;
}

}  // namespace

double distance_to_block_m(DVec3 from, IVec3 block) {
  const DVec3 low = to_dvec3(block);
  const DVec3 nearest{std::clamp(from.x, low.x, low.x + 1), std::clamp(from.y, low.y, low.y + 1),
                      std::clamp(from.z, low.z, low.z + 1)};
  return length(nearest - from);
}

bool looks_towards(DVec3 eye, DVec3 view, IVec3 block, double slack_m) {
  const DVec3 low = to_dvec3(block) - DVec3{slack_m, slack_m, slack_m} - eye;
  const double side = 1 + 2 * slack_m;
  double from = 0, to = 1e9;
  for (int axis = 0; axis < 3; ++axis) {
    const double l = component(low, axis), d = component(view, axis);
    if (d == 0) {
      if (l > 0 || l + side < 0) return false;
      continue;
    }
    const double a = l / d, b = (l + side) / d;
    from = std::max(from, std::min(a, b));
    to = std::min(to, std::max(a, b));
  }
  return from <= to;
}

bool view_meets(const Space& space, DVec3 eye, DVec3 view, IVec3 block, double range_m) {
  const RayHit hit = space_ray(space, eye, view, range_m);
  return hit.kind == ContactKind::voxel && hit.block == block;
}

bool sees_face(const Space& space, DVec3 eye, DVec3 view, IVec3 block, BlockFace face) {
  const DVec3 out = to_dvec3(normal_of(face));
  const DVec3 middle = point_of_face(block, face, 0.5, 0.5);
  const double height = dot(eye - middle, out);
  if (height <= 0) return false;
  // Where the view goes through the face, it is that point which counts.
  const double sinks = -dot(view, out);
  if (sinks > 0) {
    const DVec3 at = eye + view * (height / sinks);
    const DVec3 off = at - middle;
    const bool on_face = std::fabs(off.x) <= 0.5 && std::fabs(off.y) <= 0.5 && std::fabs(off.z) <= 0.5;
    if (on_face && point_in_sight(space, eye, at, block)) return true;
  }
  constexpr double a = inset_m, b = 1 - inset_m;
  constexpr std::array<DVec2, 5> points{{{0.5, 0.5}, {a, a}, {b, a}, {a, b}, {b, b}}};
  return std::ranges::any_of(points, [&](DVec2 p) {
    return point_in_sight(space, eye, point_of_face(block, face, p.x, p.y), block);
  });
}

bool body_meets_block(const Cylinder& shape, DVec3 base, IVec3 block) {
  const DVec3 low = to_dvec3(block);
  if (base.z >= low.z + 1 - contact_slop_m || base.z + shape.height_m <= low.z + contact_slop_m) return false;
  const DVec2 off{base.x - std::clamp(base.x, low.x, low.x + 1),
                  base.y - std::clamp(base.y, low.y, low.y + 1)};
  const double reach = shape.radius_m - contact_slop_m;
  return dot(off, off) < reach * reach;
}

}  // namespace ashlar
