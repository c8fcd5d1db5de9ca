#include "world/sim/shot.h"

#include <algorithm>

namespace ashlar {

HitShape hit_shape(const Cylinder& body, HitBuild build) {
  HitShape shape;
  switch (build) {
    case HitBuild::upright: {
      const double head_radius = std::min(body.height_m / 7, body.radius_m * 0.6);
      shape.head = {{0, 0, body.height_m - head_radius}, head_radius};
      shape.trunk = {{body.radius_m * 0.8, body.height_m - 2 * head_radius}, {}};
      break;
    }
    case HitBuild::round: shape.trunk = {{body.radius_m * 0.95, body.height_m}, {}}; break;
    case HitBuild::legged: {
      const double legs_m = body.height_m / 3;
      shape.trunk = {{body.radius_m * 0.7, body.height_m - legs_m}, {0, 0, legs_m}};
      break;
    }
  }
  return shape;
}

ShotHit resolve_shot(const Space& space, std::span<const ShotTarget> targets, EntityId shooter, DVec3 origin,
                     DVec3 direction, double range_m) {
  ShotHit best;
  best.solid = space_ray(space, origin, direction, range_m);
  const double reach = best.solid.hit() ? best.solid.t_m : range_m;
  if (best.solid.hit()) {
    best.t_m = best.solid.t_m;
    best.normal = best.solid.normal;
  }
  const auto offer = [&](const std::optional<ShapeHit>& hit, const ShotTarget& target, HitZone zone) {
    if (!hit || hit->t_m > reach) return;
    const bool tie = best.zone != HitZone::none && hit->t_m == best.t_m;
    if (tie ? !(target.id < best.target) : hit->t_m >= best.t_m) return;
    best.t_m = hit->t_m;
    best.normal = hit->normal;
    best.target = target.id;
    best.zone = zone;
  };
  for (const ShotTarget& target : targets) {
    if (target.id == shooter) continue;
    // The ball around the body rejects nearly everybody.
    const double half = target.body.height_m / 2;
    const DVec3 to = target.base + DVec3{0, 0, half} - origin;
    const double ball2 = half * half + target.body.radius_m * target.body.radius_m;
    const double along = dot(to, direction);
    if (dot(to, to) > ball2 && (along < 0 || dot(to, to) - along * along > ball2 * (1 + 1e-9))) continue;
    HitShape shape = target.shape;
    shape.trunk.base += target.base;
    shape.head.centre += target.base;
    if (shape.head.radius_m > 0)
      offer(ray_sphere(origin, direction, reach, shape.head), target, HitZone::head);
    offer(ray_cylinder(origin, direction, reach, shape.trunk), target, HitZone::body);
  }
  if (best.zone != HitZone::none) best.solid = {};
  return best;
}

}  // namespace ashlar
