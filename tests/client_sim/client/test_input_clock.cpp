// The input clock against a server that is nothing but ticks and delays, in simulated time.
#include "client_sim/client/input_clock.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <vector>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

/// A server that ticks, a client that numbers commands, and a way between them that delays both.
struct ClockRun {
  ClockRun(std::uint16_t rate_hz, int latency_ms, int jitter_ms, std::uint64_t seed, double drift = 0,
           std::uint16_t snapshot_every = 1, int lead = 1)
      : rate(rate_hz),
        latency(1000 * latency_ms),
        jitter(1000 * jitter_ms),
        every(snapshot_every),
        client_speed(1 + drift),
        rng(rng_for(seed, 9)) {
    clock.reset(rate_hz, lead, every);  // those of games want one tick
  }

  struct Told {
    std::int64_t at_us;
    std::uint32_t tick;
    int ahead;
    std::int64_t rtt_us;
  };
  struct Sent {
    std::int64_t at_us;
    std::uint32_t tick;
  };

  std::int64_t delay() {
    return latency +
           (jitter == 0 ? 0 : static_cast<std::int64_t>(rng.below(static_cast<std::uint32_t>(jitter))));
  }
  /// The client's clock: it drifts, and may leap.
  Micros client_now() const {
    return Micros{static_cast<std::int64_t>(static_cast<double>(now_us) * client_speed) + leapt_us};
  }

  void turn() {
    now_us += 1000;
    for (; server_us() >= next_tick_us(); ++tick) tick_server();
    std::ranges::sort(commands, {}, &Sent::at_us);
    while (!commands.empty() && commands.front().at_us <= now_us) {
      newest = std::max(newest, commands.front().tick);
      came_us[commands.front().tick] = commands.front().at_us;
      commands.pop_front();
    }
    if (now_us - called_us < call_every_us) return;
    called_us = now_us;
    if (resumes) clock.resume(client_now());
    std::ranges::sort(told, {}, &Told::at_us);
    while (!told.empty() && told.front().at_us <= now_us) {
      const Told t = told.front();
      told.pop_front();
      clock.take_round_trip(client_now(), Micros{t.rtt_us});
      if (const double share = clock.share(client_now()); watching)
        shares.push_back(share > 0.5 ? share - 1 : share);
      if (!clock.running())
        clock.start(client_now(), t.tick);
      else
        clock.observe(client_now(), t.tick, t.ahead);
    }
    while (clock.next(client_now())) {
      ++issued;
      commands.push_back({now_us + delay(), clock.newest_tick()});
    }
  }
  std::int64_t server_us() const { return now_us + server_leapt_us; }
  std::int64_t next_tick_us() const { return std::int64_t{tick} * 1'000'000 / rate; }
  void tick_server() {
    const int ahead = newest == 0 ? 0 : static_cast<int>(newest) - static_cast<int>(tick);
    if (watching) leads.push_back(ahead);
    if (const auto came = came_us.find(tick); watching && came != came_us.end())
      waits_us.push_back(now_us - came->second);
    came_us.erase(came_us.begin(), came_us.upper_bound(tick));
    if (tick % every != 0 || rng.unit() < told_lost) return;
    const std::int64_t way = delay();
    if (newest != 0 || !clock.running())
      told.push_back({now_us + way, tick, std::clamp(ahead, -127, 127), way + delay()});
  }
  void run(double seconds) {
    const std::int64_t until = now_us + static_cast<std::int64_t>(seconds * 1e6);
    while (now_us < until) turn();
  }
  /// Leads of the ticks of so many seconds, in order of size.
  std::vector<int> watch(double seconds) {
    leads.clear(), waits_us.clear(), shares.clear();
    watching = true;
    run(seconds);
    watching = false;
    std::ranges::sort(leads);
    return leads;
  }

  std::uint16_t rate;
  std::int64_t latency, jitter;
  std::uint16_t every;
  double told_lost = 0;  ///< share of the snapshots
  double client_speed;
  Rng rng;
  InputClock clock;
  std::int64_t now_us = 5'000'000, leapt_us = 0, server_leapt_us = 0;
  std::uint32_t tick = static_cast<std::uint32_t>(5 * rate);
  std::int64_t call_every_us = 0, called_us = 0;
  bool resumes = false;  ///< each call, as if the caller had been away
  std::uint32_t newest = 0;
  std::uint64_t issued = 0;
  std::deque<Sent> commands;
  std::deque<Told> told;
  std::map<std::uint32_t, std::int64_t> came_us;  ///< commands that wait
  std::vector<int> leads;
  std::vector<std::int64_t> waits_us;  ///< from when a command came to the tick that it is for
  std::vector<double> shares;          ///< of a tick, since the nearest command, as snapshots came
  bool watching = false;
};

/// In time, and not earlier than jitter asks for: 1 to 3 ticks wait beyond it.
/// @param early  more ticks that some may wait
void check_leads(const ClockRun& run, const std::vector<int>& leads, int early = 0) {
  const double jitter_ticks = static_cast<double>(run.jitter) * run.rate / 1e6;
  const auto at = [&](double share) {
    return leads[static_cast<std::size_t>(share * static_cast<double>(leads.size() - 1))];
  };
  CAPTURE(run.rate, run.latency, run.jitter, leads.front(), at(0.5), leads.back());
  CHECK(at(0.01) >= 0);
  CHECK(at(0.01) <= 3);
  CHECK(at(0.5) >= 1);
  CHECK(at(0.5) <= 3 + jitter_ticks);
  CHECK(at(0.99) <= 3 + early + 2 * jitter_ticks);
  CHECK(leads.front() >= -1 - jitter_ticks);
  CHECK(leads.back() <= 4 + early + 2 * jitter_ticks);
}

}  // namespace

TEST_CASE("commands come just in time at every rate, two seconds after the start",
          "[client_sim][input_clock][property]") {
  const std::uint16_t rate = GENERATE(std::uint16_t{10}, std::uint16_t{20}, std::uint16_t{35},
                                      std::uint16_t{60}, std::uint16_t{128});
  const int latency_ms = GENERATE(10, 75);
  const int jitter_ms = GENERATE(0, 10, 30);
  ClockRun run(rate, latency_ms, jitter_ms, rate + static_cast<std::uint64_t>(jitter_ms));
  run.run(2.2);
  check_leads(run, run.watch(20));
}

TEST_CASE("where ticks are long commands wait for little more than the ticks that are wished for",
          "[client_sim][input_clock][property]") {
  const std::uint16_t rate =
      GENERATE(std::uint16_t{10}, std::uint16_t{15}, std::uint16_t{20}, std::uint16_t{33});
  const int latency_ms = GENERATE(3, 30, 120);
  const int jitter_ms = GENERATE(0, 10, 30);
  struct Case {
    double drift, told_lost;
    std::uint16_t every;
    int lead;
  };
  const auto [drift, told_lost, every, lead] =
      GENERATE(Case{0, 0, 1, 1}, Case{2e-4, 0, 1, 1}, Case{-2e-4, 0, 1, 1}, Case{0, 0.2, 1, 1},
               Case{2e-4, 0.1, 3, 1}, Case{2e-4, 0.1, 1, 2});
  ClockRun run(rate, latency_ms, jitter_ms, rate + static_cast<std::uint64_t>(jitter_ms), drift, every, lead);
  run.told_lost = told_lost;
  run.run(3);
  const std::vector<int> leads = run.watch(60);
  std::ranges::sort(run.waits_us);
  const std::int64_t tick_us = 1'000'000 / rate, jitter_us = 1000 * jitter_ms;
  const std::int64_t middle_us = run.waits_us[run.waits_us.size() / 2];
  CAPTURE(rate, latency_ms, jitter_ms, drift, told_lost, every, lead);
  CAPTURE(run.waits_us.front(), run.waits_us.back());
  CHECK(leads.front() >= 0);
  // What came too late once asks for more for a while.
  const std::int64_t asked_us = jitter_ms > 0 && told_lost > 0 ? tick_us / 4 : 0;
  CHECK(middle_us <= lead * tick_us + 30'000 + jitter_us + asked_us);
}

TEST_CASE(
    "where ticks are short snapshots come just behind commands, and these wait for no tick more than that "
    "asks",
    "[client_sim][input_clock][property]") {
  const std::uint16_t rate = GENERATE(std::uint16_t{35}, std::uint16_t{60}, std::uint16_t{128});
  const int latency_ms = GENERATE(2, 11, 37, 75);
  const int jitter_ms = GENERATE(0, 4, 15);
  const double drift = GENERATE(-2e-4, 0.0, 2e-4);
  ClockRun run(rate, latency_ms, jitter_ms, rate + static_cast<std::uint64_t>(latency_ms), drift);
  run.run(6);
  const std::vector<int> leads = run.watch(30);
  std::ranges::sort(run.waits_us);
  std::ranges::sort(run.shares);
  const std::int64_t tick_us = 1'000'000 / rate, jitter_us = 1000 * jitter_ms;
  CAPTURE(rate, latency_ms, jitter_ms, drift, run.waits_us.front(), run.waits_us.back());
  CHECK(leads.front() >= 0);
  CHECK(leads[leads.size() / 100] >= 1);
  // The tick that is wished for, the least spare, and up to a tick until the next snapshot comes.
  CHECK(run.waits_us[run.waits_us.size() / 2] <= tick_us * 5 / 2 + jitter_us + 1000);
  // The latest of them but for a few; here time goes on by milliseconds.
  const auto latest = run.shares[run.shares.size() * 94 / 100];
  const double step = 1000.0 / static_cast<double>(tick_us);
  CAPTURE(latest);
  if (jitter_us < tick_us / 2) CHECK(latest <= 0.2 + 2 * step);
}

TEST_CASE("a settled clock is at most two per cent fast or slow", "[client_sim][input_clock][property]") {
  const std::uint16_t rate =
      GENERATE(std::uint16_t{10}, std::uint16_t{30}, std::uint16_t{60}, std::uint16_t{128});
  const int jitter_ms = GENERATE(0, 10, 30);
  const double drift = GENERATE(-0.0005, 0.0, 0.0005);
  ClockRun run(rate, 40, jitter_ms, 3, drift);
  run.run(2.2);
  const std::uint64_t skipped = run.clock.skipped();
  const std::uint32_t from = run.clock.newest_tick();
  for (int second = 0; second < 20; ++second) {
    const std::uint32_t before = run.clock.newest_tick();
    run.run(1);
    const double ticks = run.clock.newest_tick() - before;
    CAPTURE(rate, jitter_ms, drift, second, ticks);
    CHECK(ticks >= 0.98 * rate - 1.01);
    CHECK(ticks <= 1.02 * rate + 1.01);
  }
  CHECK(run.clock.skipped() == skipped);
  // Of a few ticks a second one is much; over all of it the rate is the server's.
  const double all = run.clock.newest_tick() - from;
  CHECK(all >= 0.98 * 20 * rate);
  CHECK(all <= 1.02 * 20 * rate);
}

TEST_CASE("a leap of either clock is recovered from within two seconds",
          "[client_sim][input_clock][property]") {
  const std::uint16_t rate = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  enum class Leap { server, forward, forward_told, backward, backward_told };
  const Leap leap =
      GENERATE(Leap::server, Leap::forward, Leap::forward_told, Leap::backward, Leap::backward_told);
  CAPTURE(static_cast<int>(leap));
  ClockRun run(rate, 30, 5, 11);
  run.run(4);
  if (leap == Leap::server)
    run.server_leapt_us += 700'000;  // it stood still, and plays what it missed at once
  else
    run.leapt_us += leap == Leap::forward || leap == Leap::forward_told ? 900'000 : -900'000;
  if (leap == Leap::forward_told || leap == Leap::backward_told) run.clock.resume(run.client_now());
  run.run(2.2);
  // Back to the last tick it is stretched, which at ten a second takes some seconds.
  check_leads(run, run.watch(10), rate == 10 ? 2 : 0);
}

TEST_CASE("who is called a few times a second numbers commands for all the time until the next call",
          "[client_sim][input_clock]") {
  const std::uint16_t rate = GENERATE(std::uint16_t{20}, std::uint16_t{60});
  const int call_ms = GENERATE(130, 200, 300, 500);
  const int latency_ms = GENERATE(5, 40);
  CAPTURE(rate, call_ms, latency_ms);
  ClockRun run(rate, latency_ms, 0, 5);
  run.call_every_us = 1000 * call_ms;
  run.run(6);
  const std::vector<int> leads = run.watch(20);
  // It runs no further ahead than half a second.
  CHECK(leads.front() >= (call_ms < 500 ? 0 : -1));
  CHECK(leads.back() <= 2 * call_ms * rate / 1000 + 4);
}

TEST_CASE("who was away before each call has a command to send in each", "[client_sim][input_clock]") {
  const std::uint16_t rate = GENERATE(std::uint16_t{20}, std::uint16_t{60});
  const int call_ms = GENERATE(130, 200, 500, 2500);
  const int latency_ms = GENERATE(5, 40);
  CAPTURE(rate, call_ms, latency_ms);
  ClockRun run(rate, latency_ms, 0, 5);
  run.call_every_us = 1000 * call_ms;
  run.resumes = true;
  run.run(10);
  const std::uint64_t before = run.issued;
  const std::uint32_t from = run.clock.newest_tick();
  run.run(50);
  const auto calls = static_cast<std::uint64_t>(50'000 / call_ms);
  CHECK(run.issued - before >= calls - 1);
  // And they are the server's ticks.
  CHECK(run.clock.newest_tick() - from >= 48u * rate);
}
