#include "protocol/snapshot/heading.h"

#include <cmath>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

TEST_CASE("a direction at any pace is found again", "[protocol][heading]") {
  for (const std::int32_t pace : {96, 200, 1023})
    for (int angle = 0; angle < 256; ++angle) {
      const LevelVelocity v = at_angle(pace, static_cast<std::uint8_t>(angle));
      CAPTURE(pace, angle);
      REQUIRE(angle_of(v[0], v[1]) == angle);
      REQUIRE(std::abs(length_of(v[0], v[1]) - pace) <= 1);
    }
}

TEST_CASE("lengths are those of the nearest whole number", "[protocol][heading]") {
  Rng rng = rng_for(91, 0);
  for (int round = 0; round < 20000; ++round) {
    const auto axis = [&] { return static_cast<std::int32_t>(rng.below(1u << (1 + rng.below(15)))) - 100; };
    const std::int32_t x = axis(), y = axis();
    CAPTURE(x, y);
    const double length = std::sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y);
    REQUIRE(std::fabs(length_of(x, y) - length) <= 0.5);
  }
}

TEST_CASE("a course is known from a velocity of any pace that is fast enough, and nothing else is one",
          "[protocol][heading]") {
  Rng rng = rng_for(92, 0);
  for (int round = 0; round < 20000; ++round) {
    const auto pace = static_cast<std::int32_t>(rng.below(1024));
    const auto yaw = static_cast<std::uint8_t>(rng.below(256));
    const auto course = static_cast<std::uint8_t>(rng.below(8));
    const LevelVelocity on = on_course(pace, yaw, course);
    CAPTURE(pace, yaw, course);
    const bool fast = pace >= course_pace_min;
    REQUIRE(course_of({on[0], on[1], 5}, yaw, pace) == (fast ? course : no_course));
    const auto beside = static_cast<std::int16_t>(on[0] + (rng.below(2) == 0 ? 1 : -1));
    REQUIRE(course_of({beside, on[1], 0}, yaw, pace) == no_course);
    const auto v = [&] { return static_cast<std::int16_t>(rng.next_u32()); };
    const Velocity any{v(), v(), v()};
    const std::uint8_t found = course_of(any, yaw, pace);
    REQUIRE((found == no_course || on_course(pace, yaw, found) == LevelVelocity{any[0], any[1]}));
  }
  CHECK(course_of({-32768, -32768, 0}, 0, 1023) == no_course);
}
