#pragma once
#include <optional>

#include "world/math/closest.h"
#include "world/math/shapes.h"

// Pairs of simple shapes: do they share a point (closed: touching counts), and by how much do they overlap
// (open: depth > 0)? A separation moves the FIRST shape by depth * normal out of the second. Swapping the
// arguments flips the normal. Concentric shapes get a fixed unit normal, never NaN. Precondition: finite
// values, sizes >= 0.

namespace ashlar {

/// All points within radius_m of the centre.
struct Sphere {
  DVec3 centre;
  double radius_m = 0;
};

/// All points within radius of a segment.
struct Capsule {
  Segment axis;
  double radius_m = 0;
};

/// An upright cylinder where it stands.
struct StandingCylinder {
  Cylinder shape;
  DVec3 base;
};

/// The way of the first shape out of the second.
struct Separation {
  DVec3 normal;  ///< unit
  double depth_m = 0;
};

/// Do the shapes share a point? Closed: touching counts. Of solids: one within the other touches it.
bool touch(const Aabb& a, const Aabb& b);
bool touch(const Sphere& a, const Sphere& b);
bool touch(const Aabb& a, const Sphere& b);
inline bool touch(const Sphere& a, const Aabb& b) { return touch(b, a); }
bool touch(const Capsule& a, const Capsule& b);
bool touch(const StandingCylinder& a, const StandingCylinder& b);
bool touch(const StandingCylinder& a, const Aabb& b);

/// How the shapes come apart; nullopt where they do not overlap, and touching is not overlapping (open).
/// Ties between axes: x, y, z.
std::optional<Separation> separate(const Aabb& a, const Aabb& b);
std::optional<Separation> separate(const Sphere& a, const Sphere& b);
std::optional<Separation> separate(const Sphere& a, const Aabb& b);
std::optional<Separation> separate(const Capsule& a, const Capsule& b);
std::optional<Separation> separate(const StandingCylinder& a, const StandingCylinder& b);
std::optional<Separation> separate(const StandingCylinder& a, const Aabb& b);

/// The other way round, so that swapping flips the normal by construction.
inline std::optional<Separation> flipped(std::optional<Separation> s) {
  if (s) s->normal = -s->normal;
  return s;
}
inline std::optional<Separation> separate(const Aabb& a, const Sphere& b) { return flipped(separate(b, a)); }
inline std::optional<Separation> separate(const Aabb& a, const StandingCylinder& b) {
  return flipped(separate(b, a));
}

/// A sphere on the plane through `point` with unit `normal`: where its centre goes so that it does not
/// overlap, on the side it came from; unchanged where it does not touch.
DVec3 slide_on_plane(const Sphere& sphere, DVec3 came_from, DVec3 point, DVec3 normal);

}  // namespace ashlar
