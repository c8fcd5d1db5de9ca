#include "server/host/tick_schedule.h"

#include "tests/catch.h"

namespace ashlar::server {

TEST_CASE("a tick is due at its time, and once", "[server][tick_schedule]") {
  TickSchedule schedule(50);
  CHECK(schedule.take(Micros{1000}));  // the first call begins the count
  CHECK_FALSE(schedule.take(Micros{1000}));
  CHECK(schedule.next_at() == Micros{21'000});
  CHECK_FALSE(schedule.take(Micros{20'999}));
  CHECK(schedule.take(Micros{21'000}));
  CHECK(schedule.late() == 0);
}

TEST_CASE("no rate drifts, whatever its tick's length in microseconds leaves out",
          "[server][tick_schedule]") {
  const std::uint16_t rate =
      GENERATE(std::uint16_t{1}, std::uint16_t{60}, std::uint16_t{91}, std::uint16_t{128});
  TickSchedule schedule(rate);
  for (int i = 0; i < 100 * rate; ++i) REQUIRE(schedule.take(schedule.next_at()));
  CHECK(schedule.next_at() == Micros{100'000'000});
  CHECK(schedule.skipped() == 0);
}

TEST_CASE("a stall is made up for by four ticks, and lasting overload slows the tick",
          "[server][tick_schedule]") {
  TickSchedule schedule(10);
  REQUIRE(schedule.take(Micros{0}));
  Micros now{10'000'000};  // a hundred are due
  int played = 0;
  while (schedule.take(now)) ++played;
  CHECK(played == Host::catch_up_ticks_max);
  CHECK(schedule.skipped() == 96);
  CHECK(schedule.late() == 3);
  // Each turn takes two ticks and a half: with time, one tick a turn and none to make up for.
  for (int i = 0; i < 60; ++i) {
    now += Micros{250'000};
    REQUIRE(schedule.take(now));
  }
  CHECK(now - schedule.next_at() <= Micros{250'000});
}

}  // namespace ashlar::server
