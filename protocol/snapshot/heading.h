#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>

// Directions in 1/256 turns and speeds in whole steps, exact on every machine: how velocities are told by
// where somebody looks.

namespace ashlar {

using Velocity = std::array<std::int16_t, 3>;
/// A velocity over the ground.
using LevelVelocity = std::array<std::int16_t, 2>;

/// Sines of 0 to 64/256 turn, in 1/16384.
inline constexpr std::array<std::int16_t, 65> sines{
    0,     402,   804,   1205,  1606,  2006,  2404,  2801,  3196,  3590,  3981,  4370,  4756,
    5139,  5520,  5897,  6270,  6639,  7005,  7366,  7723,  8076,  8423,  8765,  9102,  9434,
    9760,  10080, 10394, 10702, 11003, 11297, 11585, 11866, 12140, 12406, 12665, 12916, 13160,
    13395, 13623, 13842, 14053, 14256, 14449, 14635, 14811, 14978, 15137, 15286, 15426, 15557,
    15679, 15791, 15893, 15986, 16069, 16143, 16207, 16261, 16305, 16340, 16364, 16379, 16384};
constexpr std::int32_t sine(std::uint8_t turn) {
  const unsigned half = turn & 127u;
  const std::int32_t size = sines[half <= 64 ? half : 128 - half];
  return turn < 128 ? size : -size;
}

/// Turned about the vertical by so many 1/256 turns.
constexpr Velocity rotated(const Velocity& v, std::int8_t turn) {
  const auto angle = static_cast<std::uint8_t>(turn);
  const std::int32_t s = sine(angle), c = sine(static_cast<std::uint8_t>(angle + 64));
  const auto fit = [](std::int32_t steps) {
    return static_cast<std::int16_t>(std::clamp((steps + 8192) >> 14, -32768, 32767));
  };
  return {fit(v[0] * c - v[1] * s), fit(v[0] * s + v[1] * c), v[2]};
}

/// A speed in a direction. @param speed  0 to 16384
constexpr LevelVelocity at_angle(std::int32_t speed, std::uint8_t angle) {
  const auto fit = [](std::int32_t steps) { return static_cast<std::int16_t>((steps + 8192) >> 14); };
  return {fit(speed * sine(static_cast<std::uint8_t>(angle + 64))), fit(speed * sine(angle))};
}

/// The nearest direction of a velocity. @param x, y  at most 2^16 in size
constexpr std::uint8_t angle_of(std::int32_t x, std::int32_t y) {
  const auto ax = static_cast<std::uint32_t>(std::abs(x)), ay = static_cast<std::uint32_t>(std::abs(y));
  unsigned low = 0, high = 64;  // of the first quarter
  while (low < high) {
    const unsigned mid = (low + high + 1) / 2;
    // Half-way between two directions is where the sums of their sines and cosines point.
    const auto s = static_cast<std::uint32_t>(sines[mid] + sines[mid - 1]);
    const auto c = static_cast<std::uint32_t>(sines[64 - mid] + sines[65 - mid]);
    if (s * ax <= ay * c)
      low = mid;
    else
      high = mid - 1;
  }
  if (x >= 0) return static_cast<std::uint8_t>(y >= 0 ? low : 256 - low);
  return static_cast<std::uint8_t>(y >= 0 ? 128 - low : 128 + low);
}

/// The length of a way whose axes are below 2^15, rounded to the nearest.
constexpr std::int32_t length_of(std::int32_t x, std::int32_t y) {
  const std::uint32_t square = static_cast<std::uint32_t>(x * x) + static_cast<std::uint32_t>(y * y);
  if (square == 0) return 0;
  std::uint32_t root = 1u << ((std::bit_width(square) + 1) / 2);
  for (;;) {
    const std::uint32_t next = (root + square / root) / 2;
    if (next >= root) break;
    root = next;
  }
  return static_cast<std::int32_t>(root + (square - root * root > root ? 1 : 0));
}

/// Whoever runs does so in one of eight directions off where it looks, at a pace that all share: its course,
/// counted in eighths of a turn. At paces that are too slow for that nobody is on a course.
inline constexpr std::uint8_t no_course = 8;
inline constexpr std::int32_t course_pace_min = 16;
constexpr LevelVelocity on_course(std::int32_t pace, std::uint8_t yaw, unsigned course) {
  return at_angle(pace, static_cast<std::uint8_t>(yaw + 32 * course));
}
/// The course whose direction is nearest to a velocity's.
constexpr std::uint8_t nearest_course(std::int32_t x, std::int32_t y, std::uint8_t yaw) {
  return static_cast<std::uint8_t>(static_cast<std::uint8_t>(angle_of(x, y) - yaw + 16) >> 5);
}
/// The same of a velocity that is within some degrees of a course: by signs and sizes alone, as a search
/// takes several times as long. @param x, y  at most 2^11 in size
constexpr std::uint8_t likely_course(std::int32_t x, std::int32_t y, std::uint8_t yaw) {
  const std::int32_t s = sine(yaw), c = sine(static_cast<std::uint8_t>(yaw + 64));
  const std::int32_t ahead = x * c + y * s, left = y * c - x * s;
  const std::int32_t along = std::abs(ahead), across = std::abs(left);
  const unsigned slant = (5 * across > 2 * along ? 1u : 0u) + (2 * across >= 5 * along ? 1u : 0u);
  constexpr std::array<std::uint8_t, 12> courses{0, 4, 0, 4, 1, 3, 7, 5, 2, 2, 6, 6};
  return courses[4 * slant + (left < 0 ? 2u : 0u) + (ahead < 0 ? 1u : 0u)];
}
/// Which course a velocity is, to the step; no_course: none.
constexpr std::uint8_t course_of(const Velocity& v, std::uint8_t yaw, std::int32_t pace) {
  const std::int32_t x = v[0], y = v[1], most = pace + 1;
  if (pace < course_pace_min || x > most || x < -most || y > most || y < -most) return no_course;
  if (x * x + y * y < (pace - 1) * (pace - 1)) return no_course;
  // Those of a course are less than 3 degrees off it by rounding.
  const std::uint8_t course = likely_course(x, y, yaw);
  const LevelVelocity is = on_course(pace, yaw, course);
  return is[0] == x && is[1] == y ? course : no_course;
}

}  // namespace ashlar
