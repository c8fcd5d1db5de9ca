#include "server/host/overload.h"

#include "server/host/host.h"
#include "tests/catch.h"
#include "world/math/random.h"

namespace ashlar::server {
namespace {

/// A server that takes a share of its tick's time on each rung, on simulated time: what it does not get done
/// makes the next tick late.
struct Burdened {
  OverloadLadder ladder{60};
  Micros now{0};
  std::int64_t behind_us = 0;
  std::uint64_t changes = 0;
  bool tells_busy = true;

  /// @param load  of a tick on the lowest rung; each rung takes so much of the one below
  void tick(double load, double each_rung = 0.6) {
    constexpr std::int64_t tick_us = 16'667;
    const OverloadRung before = ladder.rung();
    double share = load;
    for (int i = 0; i < static_cast<int>(before); ++i) share *= each_rung;
    const bool late = behind_us >= tick_us;
    if (late) behind_us = std::min(behind_us, 3 * tick_us);  // what is beyond is given up
    behind_us += static_cast<std::int64_t>((share - 1) * tick_us);
    behind_us = std::max<std::int64_t>(behind_us, 0);
    now += Micros{tick_us};
    ladder.observe(now, late, tells_busy ? share : 0);
    changes += ladder.rung() != before ? 1 : 0;
  }
  void seconds(double count, double load) {
    for (int i = 0; i < static_cast<int>(count * 60); ++i) tick(load);
  }
};

}  // namespace

TEST_CASE("who keeps up leaves nothing out", "[server][overload]") {
  Burdened server;
  server.seconds(60, 0.95);
  CHECK(server.ladder.rung() == OverloadRung::none);
  CHECK(server.changes == 0);
}

TEST_CASE("who is late as others have the processor leaves nothing out, who has it and is late does",
          "[server][overload]") {
  const double own = GENERATE(0.1, 0.4, 0.6, 0.95);
  OverloadLadder ladder(60);
  Micros now{5'000'000};
  std::uint64_t cpu_ns = 1'000'000'000;
  for (int i = 0; i < 60 * 5; ++i) {
    now += Micros{20'000};
    cpu_ns += static_cast<std::uint64_t>(own * 20e6);
    ladder.observe(now, true, 1.2, cpu_ns);
  }
  CHECK((ladder.rung() == OverloadRung::none) == (own < 0.5));
  CHECK((ladder.starved() > 5) == (own < 0.5));
  CHECK((ladder.climbs() > 0) == (own > 0.5));
}

TEST_CASE("a stall alone is no overload", "[server][overload]") {
  Burdened server;
  for (int stall = 0; stall < 20; ++stall) {
    server.behind_us = 3 * 16'667;  // a pause of whatever length: three late ticks are made up for
    server.seconds(2, 0.5);
  }
  CHECK(server.changes == 0);
}

TEST_CASE("overload is met rung by rung, and only as far as it takes", "[server][overload]") {
  Burdened server;
  server.seconds(4, 1.3);
  CHECK(server.ladder.rung() == OverloadRung::far_cells);
  server.seconds(4, 2.2);
  CHECK(server.ladder.rung() == OverloadRung::half_rate);
  server.seconds(6, 20);
  CHECK(server.ladder.rung() == OverloadRung::slow_tick);
  // Down again, a rung at a time, when the load has gone.
  server.seconds(2.5, 0.3);
  CHECK(server.ladder.rung() == OverloadRung::quarter_rate);
  server.seconds(8, 0.3);
  CHECK(server.ladder.rung() == OverloadRung::none);
}

TEST_CASE("a late tick now and then does not hold it up", "[server][overload]") {
  Burdened server;
  server.seconds(4, 1.3);
  REQUIRE(server.ladder.rung() == OverloadRung::far_cells);
  for (int i = 0; i < 6; ++i) {
    server.seconds(0.9, 0.3);
    server.behind_us = 16'667;
  }
  CHECK(server.ladder.rung() == OverloadRung::none);
}

TEST_CASE("under a steady load it does not swing", "[server][overload]") {
  const double load = GENERATE(1.05, 1.5, 1.9, 3.0, 6.0);
  const bool tells_busy = GENERATE(true, false);
  CAPTURE(load, tells_busy);
  Burdened server;
  server.tells_busy = tells_busy;
  server.seconds(10, load);
  server.changes = 0;
  server.seconds(600, load);
  // Where it knows how busy it is it stays where it is, or nearly so; else it asks again more and more
  // seldom.
  CHECK(server.changes <= (tells_busy ? 2u : 32u));
  CHECK(server.ladder.patience() <= Micros{64'000'000});
}

TEST_CASE("after it was wrong for a while it becomes quick again", "[server][overload]") {
  Burdened server;
  server.tells_busy = false;
  server.seconds(300, 1.3);
  REQUIRE(server.ladder.patience() > Micros{16'000'000});
  for (int i = 0; i < 6; ++i) server.seconds(100, 0.2), server.seconds(3, 1.3);
  CHECK(server.ladder.patience() <= Micros{8'000'000});
}

TEST_CASE("a rung never leaves fewer than ten snapshots a second", "[server][overload]") {
  for (std::uint32_t rate = 10; rate <= 128; ++rate)
    for (std::uint32_t every = 1; every <= rate; ++every)
      for (int rung = 0; rung < static_cast<int>(overload_rung_count); ++rung) {
        const std::uint32_t divisor = snapshot_divisor(OverloadRung(rung), rate, every);
        REQUIRE(divisor >= 1);
        REQUIRE((divisor == 1 || rate >= 10 * every * divisor));
      }
  CHECK(snapshot_divisor(OverloadRung::quarter_rate, 60, 1) == 4);
  CHECK(snapshot_divisor(OverloadRung::half_rate, 60, 1) == 2);
  CHECK(snapshot_divisor(OverloadRung::far_cells, 60, 1) == 1);
  CHECK(snapshot_divisor(OverloadRung::quarter_rate, 30, 1) == 3);
}

TEST_CASE("one stall is no overload at any rate and in any phase", "[server][overload]") {
  const int rate = GENERATE(10, 20, 30, 60, 128);
  for (int phase = 0; phase < 64; ++phase) {
    CAPTURE(rate, phase);
    OverloadLadder ladder(static_cast<std::uint16_t>(rate));
    Micros now{0};
    const Micros tick{1'000'000 / rate};
    for (int i = 0; i < phase; ++i) ladder.observe(now += tick, false, 0.2);
    now += Micros{700'000};
    for (std::int64_t i = 0; i < Host::catch_up_ticks_max; ++i) ladder.observe(now, true, 0.2);
    for (int i = 0; i < 64; ++i) ladder.observe(now += tick, false, 0.2);
    REQUIRE(ladder.climbs() == 0);
  }
}

}  // namespace ashlar::server
