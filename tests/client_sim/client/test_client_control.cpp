// Who is in control: each tick's command arrives in time, whatever the link, the clocks and the server do.
#include "client_sim/client/client.h"

#include "tests/catch.h"
#include "tests/client_sim/client/client_match.h"

using namespace ashlar;
using namespace ashlar::client_sim;
using namespace ashlar::client_sim::match_test;

TEST_CASE("every tick's command arrives in time over a steady link", "[client_sim][client]") {
  const int rate = GENERATE(10, 30, 60, 128);
  const int delay_ms = GENERATE(0, 20, 150);
  CAPTURE(rate, delay_ms);
  ClientMatch match;
  match.server.rate_hz = static_cast<std::uint16_t>(rate);
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  match.run(6);  // to settle
  REQUIRE(match.client.state() == ClientState::playing);
  match.server.missing = match.server.applied = 0;
  match.server.ahead_max = -127;
  match.server.ahead_min = 127;
  match.run(10);
  CHECK(match.server.missing == 0);
  CHECK(match.server.applied >= static_cast<std::uint64_t>(rate) * 10 - 2);
  CHECK(match.server.ahead_min >= 0);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("every tick's command arrives in time however rare snapshots are", "[client_sim][client]") {
  const int rate = GENERATE(10, 60, 128);
  const int every = GENERATE(2, 10, 47, 60);
  const int delay_ms = GENERATE(0, 20, 150);
  if (every > rate) return;
  CAPTURE(rate, every, delay_ms);
  ClientMatch match;
  match.server.rate_hz = static_cast<std::uint16_t>(rate);
  match.server.snapshot_every = static_cast<std::uint16_t>(every);
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  match.run(40);  // to settle: what it goes by comes that rarely
  REQUIRE(match.client.state() == ClientState::playing);
  match.server.missing = match.server.applied = match.server.early = 0;
  match.server.ahead_max = -127;
  match.server.ahead_min = 127;
  match.run(20);
  CHECK(match.server.missing == 0);
  CHECK(match.server.early == 0);
  CHECK(match.server.ahead_min >= 0);
  CHECK(match.server.ahead_max <= 8);
}

TEST_CASE("under loss, jitter, doubling and reordering nearly every command arrives",
          "[client_sim][client]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  ClientMatch match(config_named("Ada"), seed);
  LinkConditions conditions;
  conditions.latency = Micros{30'000};
  conditions.jitter = Micros{30'000};
  conditions.loss = 0.1;
  conditions.duplication = 0.05;
  conditions.reordering = 0.05;
  match.conditions(conditions);
  match.run(8);
  REQUIRE(match.client.state() == ClientState::playing);
  match.server.missing = match.server.applied = 0;
  match.run(20);
  CHECK(match.server.missing < 60);
  CHECK(match.server.applied > 1100);
  CHECK(match.client.stats().starved == 0);
  CHECK(match.client.stats().drops[static_cast<std::size_t>(DropReason::duplicate)] > 0);
  CHECK(match.client.rtt() > Micros{60'000});
  CHECK(match.client.rtt() < Micros{140'000});
  // Nothing is applied twice or out of order.
  for (std::size_t i = 1; i < match.server.applied_ticks.size(); ++i)
    REQUIRE(match.server.applied_ticks[i - 1] < match.server.applied_ticks[i]);
}

TEST_CASE("a client catches up after a stall of its caller", "[client_sim][client]") {
  ClientMatch match;
  match.run(3);
  for (int i = 0; i < 5; ++i) {
    match.step(Micros{400'000});  // neither side ran
    match.run(1);
  }
  match.run(3);
  match.server.missing = 0;
  match.run(3);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.missing == 0);
  CHECK(match.client.stats().commands_skipped > 0);
}

TEST_CASE("tick numbers that were jumped over count on in the next world", "[client_sim][client]") {
  ClientMatch match;
  match.run(3);
  match.step(Micros{400'000});
  match.run(1);
  const std::uint64_t skipped = match.client.stats().commands_skipped;
  REQUIRE(skipped > 0);
  match.server.change_world();
  match.run(2);
  REQUIRE(match.client.stats().worlds == 2);
  CHECK(match.client.stats().commands_skipped >= skipped);
  match.step(Micros{400'000});
  match.run(1);
  CHECK(match.client.stats().commands_skipped > skipped);
}

TEST_CASE("a client that was away for long hears the server again", "[client_sim][client]") {
  // What its socket had room for are the snapshots of the first seconds: the ones after them were lost.
  const double away_s = GENERATE(4.0, 8.5, 9.5);
  const std::uint32_t room = GENERATE(1u, 64u, 256u);
  CAPTURE(away_s, room);
  ClientMatch match;
  match.run(3);
  const Micros back = match.now + Micros{static_cast<std::int64_t>(away_s * 1e6)};
  while (match.now < back) {
    match.now += Micros{2000};
    match.to_server.clear();
    match.up.deliver(match.now, match.to_server);
    if (match.down.under_way() >= room) match.down.partition(match.now + Micros{1000});
    match.advance_server();
  }
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.own_tick() + 5 > match.server.tick);
  match.server.missing = 0;
  match.run(1);
  CHECK(match.server.missing == 0);
}

TEST_CASE("who calls five times a second hears that nobody answers all the same", "[client_sim][client]") {
  const Micros frame{200'000};
  SECTION("at the start") {
    ClientMatch match;
    match.server.silent = true;
    match.run(30, frame);
    CHECK(match.client.state() == ClientState::lost);
  }
  SECTION("later, and how long the way is") {
    ClientMatch match;
    match.run(20, frame);
    CHECK(match.client.state() == ClientState::playing);
    CHECK(match.client.rtt() > Micros{0});
    match.server.silent = true;
    match.run(150, frame);
    CHECK(match.client.state() == ClientState::lost);
  }
}

TEST_CASE("a client that did not listen was not starved by the server", "[client_sim][client]") {
  ClientMatch match;
  match.run(2);
  // As when the whole machine stands still: no time passes for the server either.
  match.now += Micros{3'000'000};
  match.down.partition(match.now + Micros{300'000});
  match.run(0.5);
  CHECK(match.client.stats().starved == 0);
  match.down.partition(match.now + Micros{1'100'000});
  match.run(1.5);
  CHECK(match.client.stats().starved == 1);
}

TEST_CASE("a client whose clock leaps ahead keeps its control", "[client_sim][client]") {
  const int leap_ms = GENERATE(30, 100, 200, 300, 1000, 5000, 100'000);
  const int delay_ms = GENERATE(0, 60);
  CAPTURE(leap_ms, delay_ms);
  ClientMatch match;
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  match.run(4);
  match.server.missing = 0;
  match.leapt = Micros{leap_ms * 1000};
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.rtt() < Micros{2 * delay_ms * 1000 + 40'000});
  CHECK(match.server.missing == 0);
  CHECK(match.server.early == 0);
  match.server.ahead_max = -127;
  match.run(2);
  CHECK(match.server.missing == 0);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("a client follows a server that slows down, and goes on telling it so", "[client_sim][client]") {
  const int slower = GENERATE(2, 6, 20);
  CAPTURE(slower);
  ClientMatch match;
  match.run(4);
  match.server.missing = 0;
  match.server.slower = slower;
  match.run(0.3 * slower);
  const std::uint64_t inputs = match.server.inputs;
  match.run(10);
  match.server.ahead_max = -127;
  match.run(10);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.early == 0);
  CHECK(match.server.missing < 10);
  CHECK(match.server.ahead_max <= 10);
  CHECK(match.server.inputs - inputs > 180);  // each a sign of life
  match.server.slower = 1;
  match.run(1);
  match.server.missing = 0;
  match.run(2);
  match.server.ahead_max = -127;
  match.run(2);
  CHECK(match.server.missing == 0);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("control is back soon after a server stood still", "[client_sim][client]") {
  const double frozen_s = GENERATE(0.1, 0.4, 2.0, 4.0);
  const int delay_ms = GENERATE(0, 60);
  CAPTURE(frozen_s, delay_ms);
  ClientMatch match;
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  match.run(4);
  match.server.missing = 0;
  match.server.frozen = true;
  match.run(frozen_s);
  match.server.frozen = false;
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.early == 0);
  CHECK(match.server.missing < 20);
  match.server.missing = 0;
  match.server.ahead_max = -127;
  match.run(2);
  CHECK(match.server.missing == 0);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("a client whose hello waited for seconds is in control at once", "[client_sim][client]") {
  ClientMatch match;
  LinkConditions conditions;
  conditions.latency = Micros{20'000};
  conditions.ordered = true;  // as over TCP: what is sent waits for the line
  match.conditions(conditions);
  match.up.partition(Micros{4'000'000});
  match.down.partition(Micros{4'000'000});
  match.run(5.5);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.early == 0);
  match.server.missing = match.server.applied = 0;
  match.run(1);
  CHECK(match.server.missing == 0);
  CHECK(match.server.applied >= 59);
}

TEST_CASE("control is back soon after a link was cut", "[client_sim][client]") {
  const bool cut_up = GENERATE(true, false), cut_down = GENERATE(true, false);
  const double cut_s = GENERATE(0.2, 1.0, 4.0);
  const int delay_ms = GENERATE(30, 200);
  const bool stream = GENERATE(false, true);  // over TCP everything waits, and comes at once
  CAPTURE(cut_up, cut_down, cut_s, delay_ms, stream);
  ClientMatch match;
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  conditions.ordered = stream;
  match.conditions(conditions);
  match.run(4);
  const Micros until = match.now + Micros{static_cast<std::int64_t>(cut_s * 1e6)};
  if (cut_up) match.up.partition(until);
  if (cut_down) match.down.partition(until);
  match.run(cut_s + 0.5 + 0.004 * delay_ms);
  match.server.missing = 0;
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.missing < 5);
  CHECK(match.server.early == 0);
  match.run(1);
  match.server.ahead_max = -127;
  match.run(2);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("a command names the newest tick that its client holds whole, or the one that its game shows",
          "[client_sim][client]") {
  const int every = GENERATE(1, 6);
  ClientMatch match;
  match.server.snapshot_every = static_cast<std::uint16_t>(every);
  LinkConditions conditions;
  conditions.latency = Micros{40'000};
  match.conditions(conditions);
  match.run(3);
  REQUIRE(match.client.state() == ClientState::playing);
  match.server.seen.clear();
  match.run(1);
  const auto seen_at = [&](std::size_t back) {
    return match.server.seen[match.server.seen.size() - 1 - back];
  };
  REQUIRE(match.server.seen.size() > 50);
  for (std::size_t i = 0; i < 50; ++i) {
    const auto [tick, seen] = seen_at(i);
    CAPTURE(tick, seen);
    // A snapshot's way here and the command's way back: 80 ms, and the time that a snapshot stays the newest.
    CHECK(tick - seen >= 5);
    CHECK(tick - seen <= 5u + 4u + static_cast<std::uint32_t>(every));
    CHECK(seen % static_cast<std::uint32_t>(every) == 0);
  }
  PlayerCommand command;
  command.seen = TickId{match.client.complete_tick() - 6};
  match.client.set_command(command);
  match.run(0.5);
  CHECK(seen_at(0).second == number(command.seen));
}
