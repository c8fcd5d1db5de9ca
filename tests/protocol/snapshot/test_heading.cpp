#include "protocol/snapshot/heading.h"

#include <cmath>
#include <cstdlib>

#include "protocol/snapshot/moving_record.h"
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

TEST_CASE("each course of each pace is known, and what is nearly one is none", "[protocol][heading]") {
  std::uint64_t wrong = 0;
  for (std::int32_t pace = course_pace_min; pace < 1024; ++pace)
    for (unsigned yaw = 0; yaw < 256; ++yaw)
      for (unsigned course = 0; course < 8; ++course) {
        const auto turn = static_cast<std::uint8_t>(yaw);
        const LevelVelocity on = on_course(pace, turn, course);
        wrong += course_of({on[0], on[1], 0}, turn, pace) == course ? 0 : 1;
      }
  CHECK(wrong == 0);
  // By the search for the nearest direction, as it is defined.
  const auto searched = [](const Velocity& v, std::uint8_t yaw, std::int32_t pace) {
    const std::uint8_t course = nearest_course(v[0], v[1], yaw);
    return on_course(pace, yaw, course) == LevelVelocity{v[0], v[1]} ? course : no_course;
  };
  Rng rng = rng_for(93, 0);
  for (int round = 0; round < 200'000; ++round) {
    const auto pace = static_cast<std::int32_t>(course_pace_min + rng.below(1024 - course_pace_min));
    const auto yaw = static_cast<std::uint8_t>(rng.below(256));
    LevelVelocity v = at_angle(pace, static_cast<std::uint8_t>(rng.below(256)));
    for (std::int16_t& axis : v) axis = static_cast<std::int16_t>(axis + static_cast<int>(rng.below(3)) - 1);
    const Velocity near{v[0], v[1], 0};
    if (course_of(near, yaw, pace) != searched(near, yaw, pace)) ++wrong;
  }
  CHECK(wrong == 0);
}

TEST_CASE("ways are those of a division, rounded to the nearest step", "[protocol][heading]") {
  Rng rng = rng_for(94, 0);
  std::uint64_t wrong = 0;
  for (std::uint32_t rate = 1; rate <= 128; ++rate)
    for (int round = 0; round < 2000; ++round) {
      const std::uint32_t ticks = 1 + rng.below(255);
      const Foretelling by(ticks, rate, 0);
      const auto v = static_cast<std::int16_t>(round < 2 ? (round == 0 ? 32767 : -32768)
                                                         : static_cast<int>(rng.below(65536)) - 32768);
      const auto size = static_cast<std::int64_t>(std::abs(int{v})) * 6 * ticks;
      const std::int64_t way = (size * 8 + 3 * rate) / (6 * std::int64_t{rate});
      wrong += by.way(v) == (v < 0 ? -way : way) ? 0 : 1;
      // The most that changes make.
      const std::int64_t most =
          (std::int64_t{6} * (32767 + 65535) * ticks * 8 + 3 * rate) / (6 * std::int64_t{rate});
      wrong += by.way_changed(32767, 65535, static_cast<std::int32_t>(ticks) * by.moments()) == most ? 0 : 1;
    }
  CHECK(wrong == 0);
}
