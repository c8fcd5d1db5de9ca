// The budget of a client's snapshots on a line of some rate, in simulated time.
#include "server/host/snapshot_budget.h"

#include <algorithm>
#include <array>
#include <deque>

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

/// A line that carries so many bytes a second and keeps what waits, with a peer that acknowledges after 25 ms
/// as ours may, and somebody who always has `wanted` bytes to tell in each tick.
struct SlowLine {
  double bytes_per_s = 0;
  std::size_t wanted = 6'000;
  Micros one_way{20'000};
  double most = snapshot_rate_most;
  bool stands = false;  // nothing is carried, and nothing lost
  Micros tick_time{16'667};
  // Acknowledgements come with a command of the peer's, which are a tick apart: with the next but one, as it
  // is busy. False: after 25 ms.
  bool with_commands = false;

  SnapshotBudget budget;
  PathState path;
  Micros now{1'000'000}, free_at{0};
  Micros delay_max{0}, gap_max{0}, went_at{1'000'000};
  double sent = 0;
  struct Packet {
    Micros sent_at, acked_at, waited;
    std::size_t bytes;
  };
  std::deque<Packet> flying;

  void tick() {
    now += tick_time;
    path.tick_time = tick_time;
    if (stands) free_at = std::max(free_at, now + tick_time);
    for (; !flying.empty() && flying.front().acked_at <= now && !stands; flying.pop_front()) {
      const Packet& packet = flying.front();
      path.acked_bytes += packet.bytes;
      path.in_flight_bytes -= packet.bytes;
      const Micros rtt = packet.acked_at - packet.sent_at - packet.waited;
      if (path.rtt_samples++ == 0) path.rtt = path.rtt_min = rtt;
      path.rtt += (rtt - path.rtt) / 8;
      path.rtt_min = std::min(path.rtt_min, rtt);
      path.rtt_latest = rtt;
    }
    const std::size_t allowed = budget.allow(now, path, most);
    if (allowed == 0) return budget.held_back();
    if (allowed < wanted) budget.held_back();
    gap_max = std::max(gap_max, now - went_at);
    went_at = now;
    std::size_t left = std::min(allowed, wanted);
    while (left > 0) {
      const std::size_t bytes = std::min<std::size_t>(left, 1200);
      left -= bytes;
      budget.spend(bytes);
      free_at = std::max(free_at, now) +
                Micros{static_cast<std::int64_t>(static_cast<double>(bytes) / bytes_per_s * 1e6)};
      delay_max = std::max(delay_max, free_at - now);
      const Micros there = free_at + one_way;
      const Micros waited =
          with_commands ? 2 * tick_time - (there + tick_time / 2) % tick_time : Micros{25'000};
      flying.push_back({now, there + waited + one_way, waited, bytes});
      path.in_flight_bytes += bytes;
      sent += static_cast<double>(bytes);
    }
  }
  void run(double seconds) {
    delay_max = gap_max = Micros{0};
    went_at = now;
    sent = 0;
    for (const Micros until = now + Micros{static_cast<std::int64_t>(seconds * 1e6)}; now < until;) tick();
  }
};

}  // namespace

TEST_CASE("on a slow line snapshots take what it carries, and do not queue", "[server][snapshot_budget]") {
  const double kbit_s = GENERATE(64., 128., 256., 1'000., 2'000.);
  const Micros one_way{GENERATE(1'000, 20'000, 100'000)};
  const int rate_hz = GENERATE(60, 20);
  CAPTURE(kbit_s, one_way.count(), rate_hz);
  SlowLine line;
  line.tick_time = Micros{1'000'000 / rate_hz};
  line.bytes_per_s = kbit_s * 125;
  line.one_way = one_way;
  line.wanted = 19'200;
  line.run(1);
  const Micros learning = line.delay_max;
  CAPTURE(learning.count());
  CHECK(learning <= Micros{1'000'000});
  line.run(1);
  line.run(20);
  CAPTURE(line.budget.bytes_per_s(), line.gap_max.count(), line.delay_max.count(), line.sent / 20);
  CHECK(line.delay_max <= Micros{400'000});
  // Where all that comes in a tenth of a second is one snapshot, a pause for what queued lasts longer.
  const bool slowest = kbit_s == 64 && rate_hz < 60;
  CHECK(line.gap_max <= Micros{slowest ? 700'000 : 400'000});
  CHECK(line.sent >= 0.6 * 20 * line.bytes_per_s);
}

TEST_CASE("on a line with room for all a client is told all within a second", "[server][snapshot_budget]") {
  SlowLine line;
  line.bytes_per_s = 1'250'000;
  line.wanted = 6'000;  // 360 kB/s
  line.run(1);
  line.run(5);
  CHECK(line.sent >= 0.99 * 5 * 60 * 6'000);
  CHECK(line.delay_max <= Micros{10'000});
}

TEST_CASE("what the setting allows is not exceeded, whatever the line carries", "[server][snapshot_budget]") {
  SlowLine line;
  line.bytes_per_s = 12'500'000;
  line.most = 40'000;
  line.run(2);
  line.run(10);
  CHECK(line.sent <= 1.01 * 10 * 40'000);
  CHECK(line.sent >= 0.95 * 10 * 40'000);
}

TEST_CASE("what the setting allows is used at any rate of ticks", "[server][snapshot_budget]") {
  const int rate_hz = GENERATE(10, 20, 30, 60, 128);
  const Micros one_way{GENERATE(500, 12'000, 40'000)};
  CAPTURE(rate_hz, one_way.count());
  SlowLine line;
  line.bytes_per_s = 12'500'000;
  line.most = 64'000;
  line.wanted = 20'000;
  line.one_way = one_way;
  line.tick_time = Micros{1'000'000 / rate_hz};
  line.with_commands = true;
  line.run(3);
  line.run(10);
  CAPTURE(line.sent, line.budget.bytes_per_s());
  CHECK(line.sent >= 0.97 * 10 * 64'000);
  CHECK(line.sent <= 1.03 * 10 * 64'000);
}

TEST_CASE("a line that stood for a second, or became slower, is told as before two seconds later",
          "[server][snapshot_budget]") {
  const int rate_hz = GENERATE(60, 20);
  CAPTURE(rate_hz);
  SlowLine line;
  line.tick_time = Micros{1'000'000 / rate_hz};
  line.wanted = 360'000 / static_cast<std::size_t>(rate_hz);
  line.bytes_per_s = 125'000;
  line.run(5);
  SECTION("it stood") {
    line.stands = true;
    line.run(1);
    line.stands = false;
    line.run(2);
    line.run(5);
    CHECK(line.sent >= 0.6 * 5 * 125'000);
    CHECK(line.delay_max <= Micros{300'000});
  }
  SECTION("it became slower") {
    line.bytes_per_s = 16'000;
    line.run(2);
    line.run(10);
    CHECK(line.delay_max <= Micros{300'000});
    CHECK(line.sent >= 0.6 * 10 * 16'000);
  }
  SECTION("it became faster") {
    line.bytes_per_s = 1'250'000;
    line.run(2);
    line.run(5);
    CHECK(line.sent >= 0.95 * 5 * 60 * 6'000);
  }
}

TEST_CASE("who has little to tell keeps its rate for when there is more", "[server][snapshot_budget]") {
  SlowLine line;
  line.bytes_per_s = 1'250'000;
  line.run(2);
  line.wanted = 100;
  line.run(30);
  line.wanted = 6'000;
  line.run(0.2);
  CHECK(line.sent >= 0.9 * 0.2 * 60 * 6'000);
}
