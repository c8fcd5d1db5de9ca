#include "world/collide/ray_shapes.h"

#include <cmath>

namespace ashlar {
namespace {

/// The earlier of two finds.
void take(std::optional<ShapeHit>& best, const std::optional<ShapeHit>& other) {
  if (other && (!best || other->t_m < best->t_m)) best = other;
}

/// The way out of a round shape at a place relative to its middle; against the ray where that is no way at
/// all, as on a shape of radius 0.
DVec3 outwards(DVec3 from_middle, DVec3 direction) {
  const double size = length(from_middle);
  if (size > 0) return from_middle * (1 / size);
  const double speed = length(direction);
  return speed > 0 ? direction * (-1 / speed) : DVec3{0, 0, 1};
}

}  // namespace

std::optional<ShapeHit> ray_plane(DVec3 origin, DVec3 direction, double t_max_m, DVec3 point, DVec3 normal) {
  const double approach = dot(direction, normal);
  if (approach == 0) return std::nullopt;
  const double t = dot(point - origin, normal) / approach;
  if (!(t >= 0 && t <= t_max_m)) return std::nullopt;
  return ShapeHit{t, approach < 0 ? normal : -normal};
}

std::optional<ShapeHit> ray_box(DVec3 origin, DVec3 direction, double t_max_m, const Aabb& box) {
  double near = 0, far = t_max_m;
  DVec3 normal = -direction;
  const auto slab = [&](double o, double d, double low, double high, DVec3 unit) {
    if (d == 0) return o >= low && o <= high;
    const double a = ((d > 0 ? low : high) - o) / d, b = ((d > 0 ? high : low) - o) / d;
    if (a > near) {
      near = a;
      normal = d > 0 ? -unit : unit;
    }
    far = std::min(far, b);
    return near <= far;
  };
  if (!slab(origin.x, direction.x, box.min.x, box.max.x, {1, 0, 0})) return std::nullopt;
  if (!slab(origin.y, direction.y, box.min.y, box.max.y, {0, 1, 0})) return std::nullopt;
  if (!slab(origin.z, direction.z, box.min.z, box.max.z, {0, 0, 1})) return std::nullopt;
  return ShapeHit{near, normal};
}

std::optional<ShapeHit> ray_sphere(DVec3 origin, DVec3 direction, double t_max_m, const Sphere& sphere) {
  const DVec3 from = origin - sphere.centre;
  const double r2 = sphere.radius_m * sphere.radius_m;
  if (dot(from, from) <= r2) return ShapeHit{0, -direction};
  const double nearest = -dot(from, direction);
  if (nearest < 0) return std::nullopt;
  const DVec3 miss = from + direction * nearest;
  const double rest = r2 - dot(miss, miss);
  if (rest < 0) return std::nullopt;
  const double t = std::max(0.0, nearest - std::sqrt(rest));
  if (t > t_max_m || sphere.radius_m == 0) return std::nullopt;
  return ShapeHit{t, outwards(from + direction * t, direction)};
}

std::optional<ShapeHit> ray_capsule(DVec3 origin, DVec3 direction, double t_max_m, const Capsule& capsule) {
  const double r = capsule.radius_m;
  const DVec3 d = origin - closest_point(capsule.axis, origin);
  if (dot(d, d) <= r * r) return ShapeHit{0, -direction};
  std::optional<ShapeHit> best;
  const DVec3 axis = capsule.axis.b - capsule.axis.a;
  const double size = length(axis);
  if (size > 0) {
    // The tube between the ends: in the plane across the axis it is a circle.
    const DVec3 u = axis * (1 / size), from = origin - capsule.axis.a;
    const DVec3 flat_from = from - u * dot(from, u), flat_way = direction - u * dot(direction, u);
    const double a = dot(flat_way, flat_way);
    if (a > 1e-20) {
      const double nearest = -dot(flat_from, flat_way) / a;
      const DVec3 miss = flat_from + flat_way * nearest;
      const double rest = r * r - dot(miss, miss);
      if (rest >= 0) {
        const double t = nearest - std::sqrt(rest / a);
        const double along = dot(from + direction * t, u);
        if (t >= 0 && t <= t_max_m && along >= 0 && along <= size)
          best = ShapeHit{t, outwards(flat_from + flat_way * t, flat_way)};
      }
    }
  }
  take(best, ray_sphere(origin, direction, t_max_m, {capsule.axis.a, r}));
  take(best, ray_sphere(origin, direction, t_max_m, {capsule.axis.b, r}));
  return best;
}

std::optional<ShapeHit> ray_cylinder(DVec3 origin, DVec3 direction, double t_max_m,
                                     const StandingCylinder& c) {
  const double r = c.shape.radius_m, low = c.base.z, high = c.base.z + c.shape.height_m;
  const DVec2 from = xy(origin) - xy(c.base), way = xy(direction);
  double near = 0, far = t_max_m;
  DVec3 normal = -direction;
  if (direction.z == 0) {
    if (origin.z < low || origin.z > high) return std::nullopt;
  } else {
    const double a = ((direction.z > 0 ? low : high) - origin.z) / direction.z;
    if (a > near) {
      near = a;
      normal = {0, 0, direction.z > 0 ? -1.0 : 1.0};
    }
    far = std::min(far, ((direction.z > 0 ? high : low) - origin.z) / direction.z);
  }
  const double a = dot(way, way);
  if (a == 0) {
    if (dot(from, from) > r * r) return std::nullopt;
  } else {
    const double nearest = -dot(from, way) / a;
    const DVec2 miss = from + way * nearest;
    const double rest = r * r - dot(miss, miss);
    if (rest < 0) return std::nullopt;
    const double half = std::sqrt(rest / a);
    if (nearest - half > near) {
      near = nearest - half;
      const DVec2 out = from + way * near;
      normal = outwards({out.x, out.y, 0}, {way.x, way.y, 0});
    }
    far = std::min(far, nearest + half);
  }
  if (!(near <= far)) return std::nullopt;
  return ShapeHit{near, normal};
}

}  // namespace ashlar
