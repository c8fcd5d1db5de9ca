#include "world/math/turn.h"

#include <algorithm>
#include <utility>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double two_pi = 6.283185307179586476925286766559;

/// sin and cos for |x| <= pi/4 by Taylor series; the first term left out is below 2e-17.
SinCos small_sin_cos(double x) {
  const double q = x * x;
  const double s =
      x * (1 + q * (-1.0 / 6 +
                    q * (1.0 / 120 +
                         q * (-1.0 / 5040 + q * (1.0 / 362880 + q * (-1.0 / 39916800 +
                                                                     q * (1.0 / 6227020800.0 +
                                                                          q * (-1.0 / 1307674368000.0))))))));
  const double c =
      1 + q * (-1.0 / 2 +
               q * (1.0 / 24 +
                    q * (-1.0 / 720 + q * (1.0 / 40320 + q * (-1.0 / 3628800 +
                                                              q * (1.0 / 479001600.0 +
                                                                   q * (-1.0 / 87178291200.0 +
                                                                        q * (1.0 / 20922789888000.0))))))));
  return {s, c};
}

}  // namespace

SinCos sin_cos(Turn16 angle) {
  // Nearest quarter turn and what is left, -8192 .. 8191 units, so the series stays within pi/4.
  const auto units = static_cast<std::uint32_t>(angle);
  const std::uint32_t quarter = ((units + 8192u) >> 14) & 3u;
  const auto rest = static_cast<std::int16_t>(static_cast<std::uint16_t>(units - (quarter << 14)));
  const SinCos a = small_sin_cos(static_cast<double>(rest) * (two_pi / 65536));
  switch (quarter) {
    case 0: return {a.sin, a.cos};
    case 1: return {a.cos, -a.sin};
    case 2: return {-a.sin, -a.cos};
    default: return {-a.cos, a.sin};
  }
}

DVec3 view_direction(Turn16 yaw, Turn16 pitch) {
  const SinCos y = sin_cos(yaw);
  const SinCos p = sin_cos(pitch);
  return {y.cos * p.cos, y.sin * p.cos, p.sin};
}

Turn16 turn_towards(DVec2 direction) {
  ASHLAR_ASSERT(is_finite({direction.x, direction.y, 0}));
  const double ax = std::fabs(direction.x);
  const double ay = std::fabs(direction.y);
  if (ax == 0 && ay == 0) return Turn16{0};
  // The angle in the first octant is the one at which the sign of a cross product changes: the answer is the
  // nearest unit by construction. A polynomial of the arc tangent (Abramowitz and Stegun 4.4.49, off by at
  // most 1e-5, a tenth of a unit) says where to look, so two or three sines are enough.
  const bool steep = ay > ax;
  const double u = steep ? ay : ax;
  const double v = steep ? ax : ay;  // v <= u, angle of (u, v) in [0, 8192]
  const double x = v / u, q = x * x;
  const double angle =
      x * (0.9998660 + q * (-0.3302995 + q * (0.1801410 + q * (-0.0851330 + q * 0.0208351))));
  const auto reaches = [u, v](int units) {
    const SinCos m = sin_cos(Turn16{static_cast<std::uint16_t>(units)});
    return m.sin * u <= m.cos * v;
  };
  int low = std::clamp(static_cast<int>(angle * (65536 / two_pi)), 0, 8191);
  while (low > 0 && !reaches(low)) --low;
  while (low < 8191 && reaches(low + 1)) ++low;
  const int high = low + 1;  // angle(low) <= angle(u, v) <= angle(high)
  const SinCos l = sin_cos(Turn16{static_cast<std::uint16_t>(low)});
  const SinCos h = sin_cos(Turn16{static_cast<std::uint16_t>(high)});
  const double past_low = l.cos * v - l.sin * u;
  const double before_high = h.sin * u - h.cos * v;
  int octant = past_low <= before_high ? low : high;
  if (steep) octant = 16384 - octant;
  if (direction.x < 0) octant = 32768 - octant;
  if (direction.y < 0) octant = 65536 - octant;
  return Turn16{static_cast<std::uint16_t>(octant)};
}

}  // namespace ashlar
