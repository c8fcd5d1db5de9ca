#include "world/collide/correct.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ashlar {
namespace {

constexpr unsigned minus_x = 1, plus_x = 2, minus_y = 4, plus_y = 8, minus_z = 16, plus_z = 32;
constexpr double edge_handicap_m = 0.01, corner_handicap_m = 0.02;

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
  return best.length_m < std::numeric_limits<double>::infinity() ? best.way : way_out(shape, base, 0).way;
}

std::optional<DVec3> window_correct(const BlockWindow& window, const Cylinder& shape, DVec3 base,
                                    double reach_m) {
  const DVec3 start = base - to_dvec3(window.min);
  DVec3 p = start;
  const auto solid = [&window](std::int32_t x, std::int32_t y, std::int32_t z) {
    if (x < 0 || y < 0 || z < 0 || x >= window.size_x || y >= window.size_y || z >= window.size_z)
      return false;
    return ((window.column(x, y) >> z) & 1u) != 0;
  };
  for (int round = 0; round < correct_rounds_max; ++round) {
    const BlockRange range = blocks_of(bounds_of(shape, p));
    double deepest = 0;
    DVec3 way{};
    for (std::int32_t z = std::max(range.low.z, 0); z <= std::min(range.high.z, window.size_z - 1); ++z)
      for (std::int32_t y = std::max(range.low.y, 0); y <= std::min(range.high.y, window.size_y - 1); ++y)
        for (std::int32_t x = std::max(range.low.x, 0); x <= std::min(range.high.x, window.size_x - 1); ++x) {
          const DVec3 local = p - to_dvec3(IVec3{x, y, z});
          if (!solid(x, y, z) || !overlaps_block(shape, local, contact_slop_m)) continue;
          unsigned covered = 0;
          if (solid(x - 1, y, z)) covered |= minus_x;
          if (solid(x + 1, y, z)) covered |= plus_x;
          if (solid(x, y - 1, z)) covered |= minus_y;
          if (solid(x, y + 1, z)) covered |= plus_y;
          if (solid(x, y, z - 1)) covered |= minus_z;
          if (solid(x, y, z + 1)) covered |= plus_z;
          const Shortest out = way_out(shape, local, covered);
          // A block without an open face is not the one to leave through; its neighbours lead out.
          if (out.length_m == std::numeric_limits<double>::infinity() || out.length_m <= deepest) continue;
          deepest = out.length_m;
          way = out.way;
        }
    if (deepest == 0) {
      if (window_overlaps(window, prism_of(shape), p + to_dvec3(window.min))) return std::nullopt;
      return p - start;
    }
    p += way;
    const DVec3 gone = p - start;
    if (dot(gone, gone) > reach_m * reach_m) return std::nullopt;
  }
  return std::nullopt;
}

PointCorrection correct_point(const VoxelVolume& volume, DVec3 point, double extra_m) {
  ASHLAR_ASSERT_SLOW(extra_m >= 0 && extra_m <= 0.1);
  const IVec3 block = block_at(point);
  ChunkCursor cursor(volume);
  if (!cursor.solid(block)) return {point, true, false};
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
      if (cursor.solid(block + IVec3{ix - 1, iy - 1, iz - 1})) continue;
      best_distance = distance;
      best = {{at(wx, ix).to, at(wy, iy).to, at(wz, iz).to}, true, true};
    }
  return best;
}

}  // namespace ashlar
