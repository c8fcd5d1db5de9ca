#include "protocol/quantise.h"

#include <cmath>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;

TEST_CASE("positions come back within half a step anywhere in the world", "[protocol][quantise]") {
  Rng rng{1};
  for (int i = 0; i < 100000; ++i) {
    const double reach = i % 2 == 0 ? 100.0 : 1048575.0;
    DVec3 p;
    p.x = rng.between(-reach, reach);
    p.y = rng.between(-reach, reach);
    p.z = rng.between(-4095, 4095);
    const QuantisedPosition q = quantise(p);
    REQUIRE((q.x < cell_steps && q.y < cell_steps && q.z < cell_steps));
    const DVec3 back = dequantise(q);
    const double half_step = 0.5 / position_steps_per_m;
    REQUIRE(std::fabs(back.x - p.x) <= half_step);
    REQUIRE(std::fabs(back.y - p.y) <= half_step);
    REQUIRE(std::fabs(back.z - p.z) <= half_step);
    REQUIRE(quantise(back) == q);
  }
}

TEST_CASE("a position just below a cell's upper face rounds into the next cell", "[protocol][quantise]") {
  const QuantisedPosition q = quantise(DVec3{63.999, -0.001, 64.0});
  CHECK(q == QuantisedPosition{{1, 0, 1}, 0, 0, 0});
  CHECK(quantise(DVec3{-64.0, -0.5, 63.99}) == QuantisedPosition{{-1, -1, 0}, 0, 8128, 8191});
}

TEST_CASE("yaw rounds to the nearest of 256 directions and wraps", "[protocol][quantise]") {
  for (unsigned u = 0; u < 65536; ++u) {
    const Turn16 yaw{static_cast<std::uint16_t>(u)};
    const Turn16 back = dequantise_turn(quantise_turn(yaw));
    const int off = static_cast<std::int16_t>(back - yaw);
    REQUIRE(std::abs(off) <= 128);
  }
  CHECK(quantise_turn(Turn16{65535}) == 0);
  CHECK(quantise_turn(Turn16{16384}) == 64);
}

TEST_CASE("pitch stays within a quarter turn", "[protocol][quantise]") {
  CHECK(quantise_pitch(Turn16{16384}) == 64);
  CHECK(quantise_pitch(Turn16{49152}) == -64);
  CHECK(quantise_pitch(Turn16{0}) == 0);
  CHECK(quantise_pitch(Turn16{30000}) == 64);
}

TEST_CASE("quantising a command twice changes nothing", "[protocol][quantise]") {
  Rng rng{3};
  for (int i = 0; i < 10000; ++i) {
    PlayerCommand command;
    command.forward = rng.between(-1.5, 1.5);
    command.left = rng.between(-1.5, 1.5);
    command.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    command.pitch = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    command.buttons = static_cast<std::uint16_t>(rng.next_u32());
    const PlayerCommand once = quantise(command);
    REQUIRE(quantise(once) == once);
    REQUIRE(std::fabs(once.forward) <= 1);
    REQUIRE((once.buttons & ~button::known) == 0);
  }
  PlayerCommand nan;
  nan.forward = std::nan("");
  CHECK(quantise(nan).forward == 0);
}

TEST_CASE("the tick that a player saw travels as an age, and what no age tells is not known",
          "[protocol][quantise]") {
  for (const std::uint32_t seen : {1u, 2u, 999u, 0xfffffff0u})
    for (const std::uint32_t age : {1u, 2u, 60u, 0xffffu}) {
      const std::uint32_t tick = seen + age;
      if (tick < seen) continue;
      CHECK(seen_age(TickId{seen}, tick) == age);
      CHECK(seen_tick(seen_age(TickId{seen}, tick), tick) == TickId{seen});
    }
  CHECK(seen_age(TickId{0}, 50) == 0);
  CHECK(seen_age(TickId{50}, 50) == 0);  // a command cannot be for a tick that its player has seen
  CHECK(seen_age(TickId{51}, 50) == 0);
  CHECK(seen_age(TickId{1}, 0x10001) == 0);  // longer ago than 16 bits tell
  CHECK(seen_tick(0, 50) == TickId{0});
}
