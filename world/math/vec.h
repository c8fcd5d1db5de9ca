#pragma once
#include <cmath>
#include <cstdint>

/// Plain vectors. Positions and velocities are double; block, chunk and cell coordinates are 32-bit.
/// Of libm only sqrt, floor, fabs and fmod may be used in the simulation: their bits are the same everywhere.

namespace ashlar {

/// A point or a way in the plane: metres of the world, or map units where the text says so.
struct DVec2 {
  double x = 0, y = 0;
  friend bool operator==(const DVec2&, const DVec2&) = default;
};

/// A point, way or velocity in the world: z is up.
struct DVec3 {
  double x = 0, y = 0, z = 0;
  friend bool operator==(const DVec3&, const DVec3&) = default;
};

/// A column of blocks or of chunks.
struct IVec2 {
  std::int32_t x = 0, y = 0;
  friend bool operator==(const IVec2&, const IVec2&) = default;
};

/// A block, or a cell of a finer grid.
struct IVec3 {
  std::int32_t x = 0, y = 0, z = 0;
  friend bool operator==(const IVec3&, const IVec3&) = default;
};

constexpr DVec2 operator+(DVec2 a, DVec2 b) { return {a.x + b.x, a.y + b.y}; }
constexpr DVec2 operator-(DVec2 a, DVec2 b) { return {a.x - b.x, a.y - b.y}; }
constexpr DVec2 operator-(DVec2 a) { return {-a.x, -a.y}; }
constexpr DVec2 operator*(DVec2 a, double s) { return {a.x * s, a.y * s}; }
constexpr DVec2 operator*(double s, DVec2 a) { return a * s; }
/// Left to right, without fused steps: the same bits on every build.
constexpr double dot(DVec2 a, DVec2 b) { return a.x * b.x + a.y * b.y; }
/// Positive where b points to the left of a.
constexpr double cross(DVec2 a, DVec2 b) { return a.x * b.y - a.y * b.x; }
inline double length(DVec2 a) { return std::sqrt(dot(a, a)); }

/// By number: 0 is x, 1 is y, 2 is z.
constexpr double component(DVec3 v, int axis) { return axis == 0 ? v.x : axis == 1 ? v.y : v.z; }
constexpr DVec3 operator+(DVec3 a, DVec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr DVec3 operator-(DVec3 a, DVec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
constexpr DVec3 operator-(DVec3 a) { return {-a.x, -a.y, -a.z}; }
constexpr DVec3 operator*(DVec3 a, double s) { return {a.x * s, a.y * s, a.z * s}; }
constexpr DVec3 operator*(double s, DVec3 a) { return a * s; }
constexpr DVec3& operator+=(DVec3& a, DVec3 b) { return a = a + b; }
constexpr DVec3& operator-=(DVec3& a, DVec3 b) { return a = a - b; }
constexpr double dot(DVec3 a, DVec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
constexpr DVec3 cross(DVec3 a, DVec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
inline double length(DVec3 a) { return std::sqrt(dot(a, a)); }
constexpr DVec2 xy(DVec3 a) { return {a.x, a.y}; }

constexpr IVec3 operator+(IVec3 a, IVec3 b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
constexpr IVec3 operator-(IVec3 a, IVec3 b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
/// Exact: a double holds every 32-bit coordinate.
constexpr DVec3 to_dvec3(IVec3 a) {
  return {static_cast<double>(a.x), static_cast<double>(a.y), static_cast<double>(a.z)};
}
/// The middle of the block whose low corner that is. Exact.
constexpr DVec3 block_middle(IVec3 block) { return {block.x + 0.5, block.y + 0.5, block.z + 0.5}; }

/// True when every component is finite; the test that foreign numbers pass before they enter the world.
inline bool is_finite(DVec3 a) {
  // x - x is 0 for finite x and NaN otherwise.
  return (a.x - a.x) == 0 && (a.y - a.y) == 0 && (a.z - a.z) == 0;
}

/// floor() to a 32-bit block coordinate, also for negatives. Precondition: |v| < 2^31.
inline std::int32_t floor_to_int(double v) {
  const auto truncated = static_cast<std::int32_t>(v);
  return truncated - static_cast<std::int32_t>(v < static_cast<double>(truncated));
}

/// The block that holds a point: block (i, j, k) spans [i, i+1) on each axis.
inline IVec3 block_at(DVec3 p) { return {floor_to_int(p.x), floor_to_int(p.y), floor_to_int(p.z)}; }

}  // namespace ashlar
