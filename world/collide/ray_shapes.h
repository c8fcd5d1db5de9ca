#pragma once
#include <optional>

#include "world/collide/shape_pairs.h"

// Rays against simple shapes: the first t in [0, t_max], with the normal towards the ray. A ray that starts
// inside a solid shape hits it at t = 0 with normal -direction. Direction of unit length. A ray that only
// grazes a round shape may be told either way, within rounding; parallel to a flat side it belongs to the
// shape (closed). Never NaN.

namespace ashlar {

/// Where a ray first meets a shape.
struct ShapeHit {
  double t_m = 0;  ///< along the ray, in [0, t_max_m]
  DVec3 normal;    ///< unit, towards where the ray came from
};

/// From either side; a ray within or parallel to the plane misses it.
std::optional<ShapeHit> ray_plane(DVec3 origin, DVec3 direction, double t_max_m, DVec3 point, DVec3 normal);

/// Solid shapes. One whose radius is 0 need not be met, unless the ray starts in it.
std::optional<ShapeHit> ray_box(DVec3 origin, DVec3 direction, double t_max_m, const Aabb& box);
std::optional<ShapeHit> ray_sphere(DVec3 origin, DVec3 direction, double t_max_m, const Sphere& sphere);
std::optional<ShapeHit> ray_capsule(DVec3 origin, DVec3 direction, double t_max_m, const Capsule& capsule);
std::optional<ShapeHit> ray_cylinder(DVec3 origin, DVec3 direction, double t_max_m,
                                     const StandingCylinder& c);

}  // namespace ashlar
