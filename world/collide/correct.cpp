#include "world/collide/correct.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "world/collide/part_blocks.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr unsigned minus_x = 1, plus_x = 2, minus_y = 4, plus_y = 8, minus_z = 16, plus_z = 32;
constexpr double edge_handicap_m = 0.01, corner_handicap_m = 0.02;
static_assert(0 < edge_handicap_m && edge_handicap_m < corner_handicap_m);  // faces first, corners last

/// The neighbouring double; exact, where libm's bits are not ours to rely on.
double next_below(double v) {
  if (v == 0) return -std::numeric_limits<double>::denorm_min();
  const auto bits = std::bit_cast<std::int64_t>(v);
  return std::bit_cast<double>(v > 0 ? bits - 1 : bits + 1);
}
double next_above(double v) { return -next_below(-v); }

/// Keeps the shortest translation along an open face; the first of equals stays.
struct Shortest {
  unsigned covered;
  double length_m = std::numeric_limits<double>::infinity();
  DVec3 way{};

  void offer(unsigned faces, double size, DVec3 translation) {
    if ((covered & faces) != 0 || !(size < length_m)) return;
    length_m = size;
    way = translation;
  }
};

/// All that can be said about the lateral way: p is relative to the middle of the block's column.
void offer_lateral(Shortest& best, double radius, double x, double y) {
  const double ax = std::fabs(x) - 0.5, ay = std::fabs(y) - 0.5;
  const double sx = x > 0 ? 1 : -1, sy = y > 0 ? 1 : -1;
  const unsigned face_x = x > 0 ? plus_x : minus_x, face_y = y > 0 ? plus_y : minus_y;
  if (ax > 0 && ay > 0) {
    const double distance = std::sqrt(ax * ax + ay * ay);
    const double depth = radius - distance;
    best.offer(face_x | face_y, depth, {sx * ax / distance * depth, sy * ay / distance * depth, 0});
  }
  // Along an axis: to where the disc only touches, round corners included.
  const double over_x = ay > 0 ? std::sqrt(std::max(0.0, radius * radius - ay * ay)) : radius;
  const double over_y = ax > 0 ? std::sqrt(std::max(0.0, radius * radius - ax * ax)) : radius;
  best.offer(face_x, over_x - ax, {sx * (over_x - ax), 0, 0});
  best.offer(face_y, over_y - ay, {0, sy * (over_y - ay), 0});
  // The far sides, for where the near ones are covered.
  const double far_x = over_x + 1 + ax, far_y = over_y + 1 + ay;
  best.offer(face_x ^ (minus_x | plus_x), far_x, {-sx * far_x, 0, 0});
  best.offer(face_y ^ (minus_y | plus_y), far_y, {0, -sy * far_y, 0});
}

/// The way out of one block, and how deep the body is in it by the shortest open way.
Shortest way_out(const Cylinder& shape, DVec3 base, unsigned covered) {
  Shortest best{covered};
  best.offer(plus_z, 1 - base.z, {0, 0, 1 - base.z});
  best.offer(minus_z, base.z + shape.height_m, {0, 0, -(base.z + shape.height_m)});
  offer_lateral(best, shape.radius_m, base.x - 0.5, base.y - 0.5);
  return best;
}

/// Open overlap by more than `slop` with the block at the origin.
bool overlaps_block(const Cylinder& s, DVec3 p, double slop) {
  if (p.z >= 1 - slop || p.z + s.height_m <= slop) return false;
  const double dx = std::max(std::fabs(p.x - 0.5) - 0.5, 0.0);
  const double dy = std::max(std::fabs(p.y - 0.5) - 0.5, 0.0);
  const double reach = s.radius_m - slop;
  return reach > 0 && dx * dx + dy * dy < reach * reach;
}

}  // namespace

DVec3 correct_block(const Cylinder& shape, DVec3 base, unsigned covered) {
  if (!overlaps_block(shape, base, 0)) return {};
  const Shortest best = way_out(shape, base, covered);
  if (best.length_m < std::numeric_limits<double>::infinity()) return best.way;
  const Shortest open = way_out(shape, base, 0);
  ASHLAR_ASSERT(open.length_m <= 1 + shape.height_m);  // never farther than over it
  return open.way;
}

void window_borders(const BlockWindow& window, const Cylinder& shape, DVec3 base, double block_m,
                    NearestPlace& out) {
  ASHLAR_ASSERT(block_m > 0);
  const double reach = out.reach_m() / block_m;
  const DVec3 p = base - to_dvec3(window.min);
  const double wide = shape.radius_m + reach;
  const std::int32_t x0 = std::max(floor_to_int(p.x - wide), 0),
                     x1 = std::min(floor_to_int(p.x + wide), window.size_x - 1);
  const std::int32_t y0 = std::max(floor_to_int(p.y - wide), 0),
                     y1 = std::min(floor_to_int(p.y + wide), window.size_y - 1);
  const std::uint32_t layers =
      layer_mask(floor_to_int(p.z - reach), -floor_to_int(-(p.z + shape.height_m + reach)) - 1);
  const auto bits_at = [&](std::int32_t x, std::int32_t y) {
    return x < 0 || y < 0 || x >= window.size_x || y >= window.size_y ? 0u : window.column(x, y);
  };
  const auto line = [&](double x, double y, DVec2 unit) { out.add_line(DVec2{x, y} * block_m, unit); };
  for (std::int32_t y = y0; y <= y1; ++y)
    for (std::int32_t x = x0; x <= x1; ++x) {
      const std::uint32_t all = window.column(x, y), bits = all & layers;
      if (bits == 0) continue;
      // Sides and edges that a neighbour covers in every layer are no borders.
      const std::uint32_t west = bits & ~bits_at(x - 1, y), east = bits & ~bits_at(x + 1, y);
      const std::uint32_t south = bits & ~bits_at(x, y - 1), north = bits & ~bits_at(x, y + 1);
      const double left = x - p.x, right = left + 1, low = y - p.y, high = low + 1;
      const double r = shape.radius_m;
      if (west != 0) line(left - r, 0, {0, 1});
      if (east != 0) line(right + r, 0, {0, 1});
      if (south != 0) line(0, low - r, {1, 0});
      if (north != 0) line(0, high + r, {1, 0});
      const auto edge = [&](std::uint32_t open, double at_x, double at_y) {
        if (open != 0) out.add_circle(DVec2{at_x, at_y} * block_m, r * block_m);
      };
      edge(west & south, left, low), edge(east & south, right, low);
      edge(west & north, left, high), edge(east & north, right, high);
      for (std::uint32_t left_over = bits & ~(all >> 1); left_over != 0; left_over &= left_over - 1)
        out.add_level((std::countr_zero(left_over) + 1 - p.z) * block_m);
      for (std::uint32_t left_over = bits & ~(all << 1); left_over != 0; left_over &= left_over - 1)
        out.add_level((std::countr_zero(left_over) - shape.height_m - p.z) * block_m);
    }
  // Which of their sides are covered is not worth asking: there are few.
  visit_part_boxes(window, {x0, x1, y0, y1}, layers, [&](const Aabb& b, IVec3) {
    const double r = shape.radius_m;
    const double left = b.min.x - p.x, right = b.max.x - p.x, low = b.min.y - p.y, high = b.max.y - p.y;
    line(left - r, 0, {0, 1}), line(right + r, 0, {0, 1});
    line(0, low - r, {1, 0}), line(0, high + r, {1, 0});
    for (const double x : {left, right})
      for (const double y : {low, high}) out.add_circle(DVec2{x, y} * block_m, r * block_m);
    out.add_level((b.max.z - p.z) * block_m);
    out.add_level((b.min.z - shape.height_m - p.z) * block_m);
    return false;
  });
}

std::optional<DVec3> window_correct(const BlockWindow& window, const Cylinder& shape, DVec3 base,
                                    double reach_m) {
  const RoundedBox rounded = rounded_box_of(shape);
  if (!window_overlaps(window, rounded, base)) return DVec3{};
  NearestPlace search(reach_m);
  window_borders(window, shape, base, 1, search);
  return search.find([&](DVec3 way) { return !window_overlaps(window, rounded, base + way); });
}

namespace {

/// Out of the boxes of the point's own block; no free place: the point is left where it is.
PointCorrection out_of_boxes(const VoxelVolume& volume, DVec3 point, IVec3 block, double extra_m) {
  PointCorrection best{point, false, false};
  double best_distance = std::numeric_limits<double>::infinity();
  // Tries a place that differs on one axis, `low` below or above.
  const auto offer = [&](int axis, bool low, double side) {
    const double v = component(point, axis), distance = std::fabs(side - v);
    const double to = low ? std::min(side - extra_m, next_below(side))
                          : (extra_m > 0 ? std::max(side + extra_m, next_above(side)) : side);
    DVec3 at = point;
    (axis == 0 ? at.x : axis == 1 ? at.y : at.z) = to;
    if (distance >= best_distance || volume.solid_at(at)) return;
    best_distance = distance;
    best = {at, true, true};
  };
  for (const ShapeBox& box : volume.shape(block).boxes()) {
    const Aabb b = box.at(to_dvec3(block));
    for (const int axis : {0, 1, 2}) offer(axis, true, component(b.min, axis));
    for (const int axis : {2, 1, 0}) offer(axis, false, component(b.max, axis));
  }
  return best;
}

}  // namespace

PointCorrection correct_point(const VoxelVolume& volume, DVec3 point, double extra_m) {
  ASHLAR_ASSERT_SLOW(extra_m >= 0 && extra_m <= 0.1);
  const IVec3 block = block_at(point);
  ChunkCursor cursor(volume);
  if (!cursor.solid(block)) return {point, true, false};
  const Chunk* chunk = cursor.at(chunk_of(block));
  if (chunk != nullptr && chunk->parts() != nullptr) {
    if (!volume.solid_at(point)) return {point, true, false};
    if (!volume.shape(block).full())
      if (const PointCorrection out = out_of_boxes(volume, point, block, extra_m); out.free) return out;
  }
  // Where each axis ends up and how far that is, for a step down, none and up.
  struct Way {
    double to, distance;
  };
  const auto ways = [extra_m](double v, std::int32_t cell) {
    const double low = cell, high = cell + 1.0;
    const double below = std::min(low - extra_m, next_below(low));
    const double above = extra_m > 0 ? std::max(high + extra_m, next_above(high)) : high;
    return std::array<Way, 3>{Way{below, v - low}, Way{v, 0}, Way{above, high - v}};
  };
  const std::array<Way, 3> wx = ways(point.x, block.x), wy = ways(point.y, block.y),
                           wz = ways(point.z, block.z);
  PointCorrection best{point, false, false};
  double best_distance = std::numeric_limits<double>::infinity();
  for (int axes = 1; axes <= 3; ++axes)  // faces, then edges, then corners
    for (int n = 0; n < 27; ++n) {
      const int ix = n / 9, iy = n / 3 % 3, iz = n % 3;
      if ((ix != 1) + (iy != 1) + (iz != 1) != axes) continue;
      const double handicap = axes == 1 ? 0 : axes == 2 ? edge_handicap_m : corner_handicap_m;
      const auto at = [](const std::array<Way, 3>& w, int i) { return w[static_cast<std::size_t>(i)]; };
      const double distance =
          std::max({at(wx, ix).distance, at(wy, iy).distance, at(wz, iz).distance}) + handicap;
      if (distance >= best_distance) continue;
      const DVec3 to{at(wx, ix).to, at(wy, iy).to, at(wz, iz).to};
      if (cursor.solid(block + IVec3{ix - 1, iy - 1, iz - 1}) && volume.solid_at(to)) continue;
      best_distance = distance;
      best = {to, true, true};
    }
  ASHLAR_ASSERT_SLOW(!best.free ||
                     block_at(best.point) != block);  // else its new place is as solid as the old
  return best;
}

}  // namespace ashlar
