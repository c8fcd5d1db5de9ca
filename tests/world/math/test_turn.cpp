#include "world/math/turn.h"

#include <cmath>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

TEST_CASE("sine and cosine agree with libm to 1e-15 at every angle", "[world][math][turn]") {
  double worst = 0;
  for (unsigned u = 0; u < 65536; ++u) {
    const SinCos a = sin_cos(Turn16{static_cast<std::uint16_t>(u)});
    // In long double: in double the angle itself would be rounded by more than the bound.
    const long double x = u * (2 * 3.14159265358979323846264338327950288L / 65536);
    worst = std::max({worst, static_cast<double>(std::fabs(a.sin - std::sin(x))),
                      static_cast<double>(std::fabs(a.cos - std::cos(x)))});
  }
  CHECK(worst < 1e-15);
}

TEST_CASE("quarter turns are exact", "[world][math][turn]") {
  CHECK(heading(Turn16{0}) == DVec2{1, 0});
  CHECK(heading(Turn16{16384}).x == 0.0);
  CHECK(heading(Turn16{16384}).y == 1.0);
  CHECK(heading(Turn16{32768}).x == -1.0);
  CHECK(heading(Turn16{49152}).y == -1.0);
}

TEST_CASE("turn_towards inverts heading at every angle", "[world][math][turn]") {
  unsigned wrong = 0;
  for (unsigned u = 0; u < 65536; ++u) {
    const Turn16 yaw{static_cast<std::uint16_t>(u)};
    wrong += turn_towards(heading(yaw) * 37.0) != yaw;
  }
  CHECK(wrong == 0);
  CHECK(turn_towards({0, 0}) == Turn16{0});
}

TEST_CASE("turn_towards finds the nearest unit of any direction", "[world][math][turn]") {
  constexpr long double units_per_radian = 65536 / (2 * 3.14159265358979323846264338327950288L);
  Rng rng{17};
  long double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    // Lengths from a hair to the world's width, and many directions close to the eighths of a turn.
    const double size = std::pow(10.0, rng.between(-9, 6));
    const double x = rng.between(-1, 1) * size;
    const double y = i % 4 == 0 ? x * (1 + rng.between(-1e-4, 1e-4)) : rng.between(-1, 1) * size;
    const long double exact =
        std::atan2(static_cast<long double>(y), static_cast<long double>(x)) * units_per_radian;
    const auto found = static_cast<long double>(static_cast<std::uint16_t>(turn_towards({x, y})));
    worst = std::max(worst, std::fabs(std::remainder(found - exact, 65536.0L)));
  }
  CHECK(worst < 0.5L + 1e-9L);
}

TEST_CASE("floor_to_int floors negatives too", "[world][math][vec]") {
  CHECK(floor_to_int(-0.5) == -1);
  CHECK(floor_to_int(-1.0) == -1);
  CHECK(floor_to_int(1.999) == 1);
  CHECK(floor_to_int(0.0) == 0);
}
