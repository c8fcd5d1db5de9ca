#pragma once
#include "world/math/vec.h"

namespace ashlar {

/// An upright cylinder; its position is the centre of its base.
struct Cylinder {
  double radius_m = 0.3;
  double height_m = 1.75;
};

/// An axis-aligned box, min <= max on each axis.
struct Aabb {
  DVec3 min, max;
};

/// The tightest box around a cylinder whose base is at `base`.
inline Aabb bounds_of(const Cylinder& shape, DVec3 base) {
  return {{base.x - shape.radius_m, base.y - shape.radius_m, base.z},
          {base.x + shape.radius_m, base.y + shape.radius_m, base.z + shape.height_m}};
}

/// The box around a shape's way from `box` by `delta`.
inline Aabb swept(const Aabb& box, DVec3 delta) {
  const auto low = [](double v, double d) { return d < 0 ? v + d : v; };
  const auto high = [](double v, double d) { return d > 0 ? v + d : v; };
  return {{low(box.min.x, delta.x), low(box.min.y, delta.y), low(box.min.z, delta.z)},
          {high(box.max.x, delta.x), high(box.max.y, delta.y), high(box.max.z, delta.z)}};
}

/// Open overlap: boxes that only touch do not overlap.
inline bool overlap_open(const Aabb& a, const Aabb& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y &&
         a.min.z < b.max.z && b.min.z < a.max.z;
}

}  // namespace ashlar
