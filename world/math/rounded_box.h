#pragma once
#include "world/math/contact.h"
#include "world/math/shapes.h"

namespace ashlar {

/// An upright shape whose footprint is a box rounded by a radius: a cylinder (no box), a box (no radius) or,
/// very small, a point. Its position is the centre of its base. One sweep serves them all.
struct RoundedBox {
  double half_x_m = 0, half_y_m = 0;
  double radius_m = 0;
  double height_m = 0;
};

/// Largest shape that the block queries take: half width with radius, and height.
inline constexpr double rounded_box_reach_m_max = 5.0;
inline constexpr double rounded_box_height_m_max = 20.0;

/// The same body as a cylinder; positions need no shift.
inline RoundedBox rounded_box_of(const Cylinder& c) { return {0, 0, c.radius_m, c.height_m}; }
/// A box of these half widths and height standing on its position.
inline RoundedBox box_shape(double half_x_m, double half_y_m, double height_m) {
  return {half_x_m, half_y_m, 0, height_m};
}
/// A point is a box of 4 um around its position less half its height, so that no seam lets it through.
inline constexpr double point_half_m = 2 * contact_slop_m;
inline RoundedBox point_shape() { return {point_half_m, point_half_m, 0, 2 * point_half_m}; }
inline DVec3 point_base(DVec3 point) { return {point.x, point.y, point.z - point_half_m}; }

/// The tightest box around a shape whose base is at `base`.
inline Aabb bounds_of(const RoundedBox& s, DVec3 base) {
  const double rx = s.half_x_m + s.radius_m, ry = s.half_y_m + s.radius_m;
  return {{base.x - rx, base.y - ry, base.z}, {base.x + rx, base.y + ry, base.z + s.height_m}};
}

/// The blocks that the inside of a box meets, both ends included; blocks met by less than the slop are not.
struct BlockRange {
  IVec3 low, high;
};
inline BlockRange blocks_of(const Aabb& box) {
  // ceil(v) - 1 is the last block that [.., v) meets.
  const auto last = [](double v) { return -floor_to_int(-(v - contact_slop_m)) - 1; };
  return {{floor_to_int(box.min.x + contact_slop_m), floor_to_int(box.min.y + contact_slop_m),
           floor_to_int(box.min.z + contact_slop_m)},
          {last(box.max.x), last(box.max.y), last(box.max.z)}};
}

}  // namespace ashlar
