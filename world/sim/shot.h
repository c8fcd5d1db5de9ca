#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "world/collide/ray_shapes.h"
#include "world/collide/space.h"
#include "world/sim/kinds.h"

namespace ashlar {

/// What of a mover was hit.
enum class HitZone : std::uint8_t { none, head, body };

/// What of a mover a shot can hit: less than the cylinder it walks with, which has room around head and legs.
struct HitShape {
  Sphere head;             ///< relative to the base's centre
  StandingCylinder trunk;  ///< likewise
};

/// The hit shape of a body of this size and build. Upright: a head of a seventh of the height on top, a trunk
/// of 0.8 of the width below. Round: all trunk, nearly as wide as the body. Legged: a trunk of 0.7 of the
/// width over legs that shots pass between, from a third of the height on.
HitShape hit_shape(const Cylinder& body, HitBuild build);

/// Somebody a shot may hit, where it is judged to be.
struct ShotTarget {
  EntityId id{};
  Cylinder body;  ///< contains the hit shape: most shots are told by it that they miss
  DVec3 base;
  HitShape shape;
};

/// What a shot ended at.
struct ShotHit {
  RayHit solid;       ///< what of the world it met, if it met the world first
  EntityId target{};  ///< who was hit; 0: nobody
  HitZone zone = HitZone::none;
  double t_m = std::numeric_limits<double>::infinity();
  DVec3 normal{};

  /// A mover or the world; otherwise t_m is infinite.
  bool hit() const { return zone != HitZone::none || solid.hit(); }
};

/// First thing on a shot's way: voxel, map, prop or mover alike. `shooter` is left out. At the same distance
/// the world stops it before a mover does, and the lower id is hit. Cost: a ray, and about 5 ns a target.
/// Preconditions: unit direction, range_m in [0, 10^6].
ShotHit resolve_shot(const Space& space, std::span<const ShotTarget> targets, EntityId shooter, DVec3 origin,
                     DVec3 direction, double range_m);

}  // namespace ashlar
