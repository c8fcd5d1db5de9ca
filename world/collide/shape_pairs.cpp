#include "world/collide/shape_pairs.h"

#include <cmath>

#include "world/math/assert.h"

namespace ashlar {
namespace {

/// Two balls around points: the core of several pairs. Concentric ones part along z, the greater upwards, so
/// that swapping flips.
std::optional<Separation> part_balls(DVec3 a, double a_radius, DVec3 b, double b_radius) {
  const double reach = a_radius + b_radius;
  const DVec3 d = a - b;
  const double size2 = dot(d, d);
  if (size2 >= reach * reach) return std::nullopt;
  const double size = std::sqrt(size2);
  if (size < 1e-12) return Separation{{0, 0, a_radius >= b_radius ? 1.0 : -1.0}, reach};
  return Separation{d * (1 / size), reach - size};
}

DVec3 clamp_into(const Aabb& box, DVec3 p) {
  return {std::clamp(p.x, box.min.x, box.max.x), std::clamp(p.y, box.min.y, box.max.y),
          std::clamp(p.z, box.min.z, box.max.z)};
}

/// The shorter of two ways along one axis out of [low, high] for an interval of its own.
void offer(std::optional<Separation>& best, double up, double down, DVec3 axis) {
  const double depth = std::min(up, down);
  if (best && best->depth_m <= depth) return;
  best = Separation{up <= down ? axis : -axis, depth};
}

/// Axes that come nearer than this share of their extent cross: nearest points are good to 1e-15 of it.
constexpr double crossing_share = 1e-11;

/// Of a vector of any length but zero: also of one whose square would vanish.
DVec3 unit(DVec3 v) {
  v = v * (1 / std::max({std::fabs(v.x), std::fabs(v.y), std::fabs(v.z)}));
  return v * (1 / length(v));
}

double flat_distance2(DVec3 a, DVec3 b) {
  const DVec2 d = xy(a) - xy(b);
  return dot(d, d);
}

}  // namespace

bool touch(const Aabb& a, const Aabb& b) {
  return a.min.x <= b.max.x && b.min.x <= a.max.x && a.min.y <= b.max.y && b.min.y <= a.max.y &&
         a.min.z <= b.max.z && b.min.z <= a.max.z;
}

bool touch(const Sphere& a, const Sphere& b) {
  const DVec3 d = a.centre - b.centre;
  const double reach = a.radius_m + b.radius_m;
  return dot(d, d) <= reach * reach;
}

bool touch(const Aabb& a, const Sphere& b) {
  const DVec3 d = b.centre - clamp_into(a, b.centre);
  return dot(d, d) <= b.radius_m * b.radius_m;
}

bool touch(const Capsule& a, const Capsule& b) {
  const SegmentPair near = closest_points(a.axis, b.axis);
  return touch(Sphere{near.on_first, a.radius_m}, Sphere{near.on_second, b.radius_m});
}

bool touch(const StandingCylinder& a, const StandingCylinder& b) {
  const double reach = a.shape.radius_m + b.shape.radius_m;
  return a.base.z <= b.base.z + b.shape.height_m && b.base.z <= a.base.z + a.shape.height_m &&
         flat_distance2(a.base, b.base) <= reach * reach;
}

bool touch(const StandingCylinder& a, const Aabb& b) {
  if (a.base.z > b.max.z || a.base.z + a.shape.height_m < b.min.z) return false;
  return flat_distance2(a.base, clamp_into(b, a.base)) <= a.shape.radius_m * a.shape.radius_m;
}

std::optional<Separation> separate(const Aabb& a, const Aabb& b) {
  if (!overlap_open(a, b)) return std::nullopt;
  std::optional<Separation> best;
  // Ties in the axes: x, y, z. Ties in the direction: by the middles, then by the sizes, so that swapping
  // flips.
  const auto axis = [&best](double a0, double a1, double b0, double b1, DVec3 unit) {
    const double up = b1 - a0, down = a1 - b0;
    const bool lower = a0 + a1 != b0 + b1 ? a0 + a1 < b0 + b1 : a1 - a0 < b1 - b0;
    if (up == down && lower)
      offer(best, down, up, -unit);
    else
      offer(best, up, down, unit);
  };
  axis(a.min.x, a.max.x, b.min.x, b.max.x, {1, 0, 0});
  axis(a.min.y, a.max.y, b.min.y, b.max.y, {0, 1, 0});
  axis(a.min.z, a.max.z, b.min.z, b.max.z, {0, 0, 1});
  ASHLAR_ASSERT(best && best->depth_m > 0);  // they overlap, so each axis has a way out
  return best;
}

std::optional<Separation> separate(const Sphere& a, const Sphere& b) {
  return part_balls(a.centre, a.radius_m, b.centre, b.radius_m);
}

std::optional<Separation> separate(const Sphere& a, const Aabb& b) {
  const DVec3 near = clamp_into(b, a.centre);
  const bool inside = near == a.centre;
  if (!inside) return part_balls(a.centre, a.radius_m, near, 0);
  // The centre is in the box: through the nearest face, the radius beyond.
  std::optional<Separation> best;
  offer(best, b.max.x - a.centre.x, a.centre.x - b.min.x, {1, 0, 0});
  offer(best, b.max.y - a.centre.y, a.centre.y - b.min.y, {0, 1, 0});
  offer(best, b.max.z - a.centre.z, a.centre.z - b.min.z, {0, 0, 1});
  best->depth_m += a.radius_m;
  if (!(best->depth_m > 0)) return std::nullopt;
  return best;
}

std::optional<Separation> separate(const Capsule& a, const Capsule& b) {
  // Relative to the first axis: differences of near places are exact however far out they are.
  const DVec3 origin = a.axis.a;
  const Segment s{{}, a.axis.b - origin}, r{b.axis.a - origin, b.axis.b - origin};
  const SegmentPair near = closest_points(s, r);
  const double reach = a.radius_m + b.radius_m;
  const DVec3 d = near.on_first - near.on_second;
  const double size2 = dot(d, d);
  if (size2 >= reach * reach) return std::nullopt;
  // So near to crossing the direction between the nearest points is rounding; the axes' own is not.
  const DVec3 u = s.b, v = r.b - r.a;
  const double extent2 = std::max({dot(u, u), dot(v, v), dot(r.a, r.a)});
  if (size2 > crossing_share * crossing_share * extent2)
    return Separation{d * (1 / std::sqrt(size2)), reach - std::sqrt(size2)};
  // The axes cross: apart at right angles to both, or to the one that has a length. How far the axes
  // themselves reach along it, beyond the crossing: nothing, it is at right angles.
  DVec3 normal = cross(u, v);
  const double parallel2 = 1e-18 * dot(u, u) * dot(v, v);
  if (!(dot(normal, normal) > parallel2)) {
    const DVec3 along = dot(u, u) >= dot(v, v) ? u : v;
    normal = along.z * along.z < 0.5 * dot(along, along) ? cross(along, {0, 0, 1}) : cross(along, {1, 0, 0});
    if (dot(normal, normal) == 0) normal = {0, 0, 1};
  }
  normal = unit(normal);
  // On the side where the first axis lies, if it is told at all: the shorter way, and the one that flips.
  if (dot(normal, d) < 0) normal = -normal;
  return Separation{normal, reach};
}

std::optional<Separation> separate(const StandingCylinder& a, const StandingCylinder& b) {
  const double up = b.base.z + b.shape.height_m - a.base.z, down = a.base.z + a.shape.height_m - b.base.z;
  const double reach = a.shape.radius_m + b.shape.radius_m;
  const double flat2 = flat_distance2(a.base, b.base);
  if (up <= 0 || down <= 0 || flat2 >= reach * reach) return std::nullopt;
  const double flat = std::sqrt(flat2);
  std::optional<Separation> best;
  const DVec2 d = xy(a.base) - xy(b.base);
  const DVec3 out = flat > 1e-12 ? DVec3{d.x / flat, d.y / flat, 0}
                                 : DVec3{a.shape.radius_m >= b.shape.radius_m ? 1.0 : -1.0, 0, 0};
  best = Separation{out, reach - flat};
  offer(best, up, down, {0, 0, 1});
  return best;
}

std::optional<Separation> separate(const StandingCylinder& a, const Aabb& b) {
  const double up = b.max.z - a.base.z, down = a.base.z + a.shape.height_m - b.min.z;
  const DVec3 near = clamp_into(b, a.base);
  const double flat2 = flat_distance2(a.base, near), r = a.shape.radius_m;
  if (up <= 0 || down <= 0 || flat2 >= r * r) return std::nullopt;
  std::optional<Separation> best;
  if (flat2 > 0) {
    const double flat = std::sqrt(flat2);
    best = Separation{{(a.base.x - near.x) / flat, (a.base.y - near.y) / flat, 0}, r - flat};
  } else {
    offer(best, b.max.x - a.base.x + r, a.base.x - b.min.x + r, {1, 0, 0});
    offer(best, b.max.y - a.base.y + r, a.base.y - b.min.y + r, {0, 1, 0});
  }
  offer(best, up, down, {0, 0, 1});
  return best;
}

DVec3 slide_on_plane(const Sphere& sphere, DVec3 came_from, DVec3 point, DVec3 normal) {
  const double side = dot(came_from - point, normal) >= 0 ? 1 : -1;
  const double distance = side * dot(sphere.centre - point, normal);
  if (distance > sphere.radius_m) return sphere.centre;
  return sphere.centre + normal * (side * (sphere.radius_m - distance));
}

}  // namespace ashlar
