#include "protocol/connection/congestion.h"

#include "tests/catch.h"
#include "tests/protocol/connection/traffic.h"
#include "tests/slowness.h"

using namespace ashlar;
using namespace ashlar::test;

TEST_CASE("bulk takes what snapshots leave of a line, whatever the line loses by chance",
          "[protocol][connection][congestion]") {
  struct Case {
    int rtt_ms;
    double loss, share_min, added_ms_max;  // p99 of what snapshots wait more than the line's latency
  };
  const Case c = GENERATE(Case{80, 0, 0.85, 20}, Case{80, 0.01, 0.85, 20}, Case{80, 0.05, 0.75, 20},
                          Case{80, 0.2, 0.5, 20}, Case{20, 0, 0.85, 20}, Case{20, 0.2, 0.5, 20},
                          Case{200, 0, 0.75, 40}, Case{200, 0.05, 0.4, 40}, Case{200, 0.2, 0.25, 40});
  CAPTURE(c.rtt_ms, c.loss);
  SimulatedPair pair(line_of_10_mbit(c.rtt_ms, c.loss, 1, 5));
  BulkTransfer bulk(pair, 10 << 20);
  for (int i = 0; i < 120 && !bulk.done(); ++i) pair.run(pair.now + Micros{1'000'000}, std::ref(bulk));
  REQUIRE(bulk.done());
  CHECK(bulk.goodput_share(ten_mbit_bytes_per_s) >= c.share_min);
  CHECK(bulk.delay_ms(0.5) <= c.rtt_ms / 2 + 15);
  CHECK(bulk.delay_ms(0.99) <= c.rtt_ms / 2 + c.added_ms_max);
}

TEST_CASE("beside a Reno flow each gets its share of the line", "[protocol][connection][congestion]") {
  const int rtt_ms = GENERATE(20, 80, 200);
  const int ours_s = GENERATE(0, 20);
  if (test::slowness > 1 && rtt_ms != 80) return;
  CAPTURE(rtt_ms, ours_s);
  const BesideReno result = beside_reno(rtt_ms, 1, ours_s, 0, 120, 3);
  CHECK(result.share > 0.33);
  CHECK(result.share < 0.67);
  CHECK(result.used > 0.9);
}

TEST_CASE("when the other flow has ended, the queue is short again", "[protocol][connection][congestion]") {
  SimulatedPair pair(line_of_10_mbit(80, 0, 1, 3));
  RenoFlow reno(pair, 1);
  bool ended = false;
  pair.other_arrived = [&](const SimulatedLink::Arrival& packet, bool is_up) {
    if (!ended) reno.arrived(packet, is_up);
  };
  BulkTransfer bulk(pair, 0);
  Micros reno_at{0};
  Micros longest{0};
  const auto work = [&](Micros now) {
    if (!ended && now >= reno_at) reno_at = reno.work();
    longest = std::max(longest, pair.down.queue_delay(now));
    return bulk(now);
  };
  pair.run(pair.now + Micros{40'000'000}, work);
  CHECK(longest > Micros{70'000});
  ended = true;
  pair.run(pair.now + Micros{80'000'000}, work);
  longest = Micros{0};
  const std::size_t before = bulk.bulk_received;
  pair.run(pair.now + Micros{20'000'000}, work);
  CHECK(longest < Micros{60'000});
  CHECK(static_cast<double>(bulk.bulk_received - before) > 0.8 * 20 * ten_mbit_bytes_per_s);
}

TEST_CASE("a line that becomes ten times slower, and then faster again, is followed",
          "[protocol][connection][congestion]") {
  SimulatedPair pair(line_of_10_mbit(80, 0, 1, 3));
  BulkTransfer bulk(pair, 0);
  const auto rate = [&](int seconds) {
    pair.run(pair.now + Micros{10'000'000}, std::ref(bulk));
    const std::size_t before = bulk.bulk_received;
    pair.run(pair.now + Micros{seconds * 1'000'000}, std::ref(bulk));
    return static_cast<double>(bulk.bulk_received - before) / seconds;
  };
  CHECK(rate(10) > 0.8 * ten_mbit_bytes_per_s);
  pair.down.faults().bytes_per_s = ten_mbit_bytes_per_s / 10;
  CHECK(rate(20) > 0.5 * ten_mbit_bytes_per_s / 10);
  pair.down.faults().bytes_per_s = ten_mbit_bytes_per_s;
  CHECK(rate(10) > 0.8 * ten_mbit_bytes_per_s);
}

TEST_CASE("snapshots go first: bulk never makes one wait at the sender",
          "[protocol][connection][congestion]") {
  SimulatedPair pair(line_of_10_mbit(80, 0.05, 1, 3));
  BulkTransfer bulk(pair, 0);
  pair.run(pair.now + Micros{60'000'000}, std::ref(bulk));
  CHECK(pair.server->connection.counters().unreliable_refused == 0);
  CHECK(bulk.snapshots >= 60 * 60 - 1);
}

TEST_CASE("a line that cannot even carry the snapshots has some refused, not a growing queue",
          "[protocol][connection][congestion]") {
  SimulatedPair::Options options = line_of_10_mbit(80, 0, 1, 3);
  options.down.bytes_per_s = 16'000;  // snapshots alone want 28 kB/s
  options.down.queue_bytes = 64'000;
  SimulatedPair pair(options);
  BulkTransfer snapshots(pair, 1);
  Micros longest{0};
  pair.run(pair.now + Micros{20'000'000}, std::ref(snapshots));
  pair.run(pair.now + Micros{20'000'000}, [&](Micros now) {
    longest = std::max(longest, pair.down.queue_delay(now));
    return snapshots(now);
  });
  CHECK(pair.server->connection.counters().unreliable_refused > 300);
  CHECK(longest < Micros{600'000});  // the queue would hold four seconds
  CHECK(static_cast<double>(pair.down.carried_bytes) > 0.8 * 40 * 16'000);
}

TEST_CASE("snapshots of two packets a tick are not held back by chance losses and jitter",
          "[protocol][connection][congestion]") {
  struct Case {
    int rtt_ms;
    double loss, share_min;  // of snapshots that go whole
  };
  const Case c = GENERATE(Case{30, 0, 0.95}, Case{30, 0.02, 0.9}, Case{30, 0.1, 0.7}, Case{100, 0, 0.95},
                          Case{100, 0.02, 0.9}, Case{100, 0.1, 0.85});
  CAPTURE(c.rtt_ms, c.loss);
  SimulatedPair::Options options = line_of_10_mbit(c.rtt_ms, c.loss, 1, 9);
  options.up.jitter = options.down.jitter = Micros{10'000};
  options.down.queue_bytes = 1 << 20;
  SimulatedPair pair(options);
  Connection& server = pair.server->connection;
  std::uint64_t wanted = 0, whole = 0;
  Micros next = pair.now;
  const auto ticks = [&](Micros now) {
    while (now >= next) {
      next += Micros{16'667};
      ++wanted;
      // As a publisher does: whole, or not at all.
      if (server.unreliable_room() < 2 * datagram_bytes_max) {
        server.held_back();
        continue;
      }
      ++whole;
      for (int part = 0; part < 2; ++part)
        (void)server.send_unreliable(now, std::vector<std::uint8_t>(1150), pair.server->out);
      (void)pair.client->connection.send_unreliable(now, std::vector<std::uint8_t>(60), pair.client->out);
      while (server.next_fate() || pair.client->connection.next_fate()) {
      }
    }
    return next;
  };
  pair.run(pair.now + Micros{5'000'000}, ticks);
  // A slow line for a while leaves the window small; then it grows again.
  pair.down.faults().bytes_per_s = 20'000;
  pair.run(pair.now + Micros{5'000'000}, ticks);
  pair.down.faults().bytes_per_s = ten_mbit_bytes_per_s;
  pair.run(pair.now + Micros{15'000'000}, ticks);
  wanted = whole = 0;
  pair.run(pair.now + Micros{20'000'000}, ticks);
  CHECK(static_cast<double>(whole) > c.share_min * static_cast<double>(wanted));
}
