#include "protocol/sequence.h"

#include <set>

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using Micros = AckTracker::Micros;

TEST_CASE("the window agrees with a set of everything seen", "[protocol][sequence]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  CAPTURE(seed);
  Rng rng{seed};
  SequenceWindow window;
  std::set<std::uint64_t> seen;
  std::uint64_t highest = 0;
  for (int i = 0; i < 50000; ++i) {
    const std::uint32_t kind = rng.below(100);
    std::uint64_t sequence = highest + 1;
    if (kind < 30) sequence = highest + 1 + rng.below(4);
    if (kind >= 30 && kind < 90 && highest > 0) {
      const std::uint32_t back = rng.below(1400);
      sequence = highest > back ? highest - back : 1;
    }
    if (kind == 99) sequence = highest + rng.below(5000) + 1;
    const auto result = window.accept(sequence);
    if (sequence <= highest && highest - sequence >= SequenceWindow::width) {
      REQUIRE_FALSE(result.has_value());
      CHECK(result.error() == DropReason::too_old);
    } else if (seen.count(sequence) != 0) {
      REQUIRE_FALSE(result.has_value());
      CHECK(result.error() == DropReason::duplicate);
    } else {
      REQUIRE(result.has_value());
      seen.insert(sequence);
      highest = std::max(highest, sequence);
    }
    REQUIRE(window.highest() == highest);
    if (i % 16 == 0) {
      PacketHeader header;
      window.fill(header);
      REQUIRE(header.ack == static_cast<std::uint32_t>(highest));
      for (std::uint32_t bit = 0; bit < 32; ++bit) {
        const bool acked = (header.ack_bits >> bit & 1) != 0;
        REQUIRE(acked == (highest > bit + 1 && seen.count(highest - 1 - bit) != 0));
      }
    }
  }
}

TEST_CASE("a jump over the whole window leaves nothing stale behind", "[protocol][sequence]") {
  SequenceWindow window;
  for (std::uint64_t s = 1; s <= 2000; ++s) REQUIRE(window.accept(s).has_value());
  REQUIRE(window.accept(1'000'000).has_value());
  for (std::uint64_t s = 1'000'000 - SequenceWindow::width + 1; s < 1'000'000; ++s)
    REQUIRE(window.accept(s).has_value());
}

TEST_CASE("acknowledgements give a round trip once per packet", "[protocol][sequence]") {
  AckTracker sent;
  CHECK(sent.next_sequence(Micros{1000}) == 1);
  CHECK(sent.next_sequence(Micros{2000}) == 2);
  PacketHeader header;
  header.ack = 2;
  header.ack_bits = 1;
  const auto first = sent.acknowledge(header, Micros{9000});
  REQUIRE(first.has_value());
  CHECK(first->newly_acked == 2);
  CHECK(first->has_rtt);
  CHECK(first->rtt == Micros{7000});
  const auto again = sent.acknowledge(header, Micros{10000});
  REQUIRE(again.has_value());
  CHECK(again->newly_acked == 0);
  CHECK_FALSE(again->has_rtt);
}

TEST_CASE("acknowledging what was never sent is refused", "[protocol][sequence]") {
  AckTracker sent;
  PacketHeader header;
  CHECK(sent.acknowledge(header, Micros{0}).has_value());
  header.ack = 1;
  CHECK(sent.acknowledge(header, Micros{0}).error() == DropReason::bad_ack);
  for (int i = 0; i < 3; ++i) sent.next_sequence(Micros{0});
  header.ack = 3;
  header.ack_bits = 0b11;
  CHECK(sent.acknowledge(header, Micros{0})->newly_acked == 3);
  header.ack_bits = 0b111;  // claims sequence 0
  CHECK(sent.acknowledge(header, Micros{0}).error() == DropReason::bad_ack);
  header.ack = 4;
  header.ack_bits = 0;
  CHECK(sent.acknowledge(header, Micros{0}).error() == DropReason::bad_ack);
}

TEST_CASE("window and tracker agree over a lossy exchange", "[protocol][sequence]") {
  Rng rng{99};
  AckTracker sent;
  SequenceWindow window;
  std::uint64_t arrived = 0;
  std::uint64_t acked = 0;
  for (int i = 0; i < 5000; ++i) {
    const std::uint64_t sequence = sent.next_sequence(Micros{i});
    if (rng.below(10) == 0) continue;  // lost
    REQUIRE(window.accept(sequence).has_value());
    ++arrived;
    if (rng.below(4) == 0) continue;  // the answer is lost; later ones repeat it
    PacketHeader header;
    window.fill(header);
    const auto result = sent.acknowledge(header, Micros{i + 1});
    REQUIRE(result.has_value());
    acked += result->newly_acked;
  }
  CHECK(arrived > 4000);
  CHECK(arrived - acked < 32);
}

TEST_CASE("a crowd's snapshots are timed and counted, however many packets are on their way",
          "[protocol][sequence]") {
  // 32 parts in each of 60 snapshots a second, half a second on the way to and fro; every tenth part is lost
  // where it says so. An input goes back every so many snapshots, and speaks of the newest 33 packets.
  const int inputs_every = GENERATE(1, 2, 5);
  const bool lossy = GENERATE(false, true);
  CAPTURE(inputs_every, lossy);
  constexpr int parts = 32, trip_ticks = 30;
  constexpr Micros tick{16'667};
  Rng rng{7};
  AckTracker sent;
  SequenceWindow window;
  std::vector<std::vector<std::uint64_t>> on_the_way;
  std::uint64_t told = 0, acked = 0;
  for (int t = 0; t < 600; ++t) {
    const Micros now = tick * t;
    auto& burst = on_the_way.emplace_back();
    for (int p = 0; p < parts; ++p) burst.push_back(sent.next_sequence(now));
    if (t < trip_ticks || t % inputs_every != 0) continue;
    for (int arrived = t - trip_ticks - inputs_every + 1; arrived <= t - trip_ticks; ++arrived)
      for (const std::uint64_t sequence : on_the_way[static_cast<std::size_t>(std::max(0, arrived))])
        if (!lossy || rng.below(10) != 0) static_cast<void>(window.accept(sequence));
    PacketHeader header;
    window.fill(header);
    const auto result = sent.acknowledge(header, now);
    REQUIRE(result.has_value());
    told += result->newly_told, acked += result->newly_acked;
    REQUIRE(result->has_rtt);
    CHECK(result->rtt == tick * trip_ticks);
  }
  CHECK(told > 3000);
  const double loss = static_cast<double>(told - acked) / static_cast<double>(told);
  CHECK(loss == Approx(lossy ? 0.1 : 0.0).margin(0.02));
}

TEST_CASE("what is said of packets long gone is ignored", "[protocol][sequence]") {
  AckTracker sent;
  for (std::uint64_t i = 0; i < AckTracker::width + 10; ++i) sent.next_sequence(Micros{5});
  PacketHeader header;
  header.ack = 10;
  header.ack_bits = 1;
  const auto old = sent.acknowledge(header, Micros{9});
  REQUIRE(old.has_value());
  CHECK(old->newly_told == 0);
  CHECK_FALSE(old->has_rtt);
  header.ack = 11;
  CHECK(sent.acknowledge(header, Micros{9})->newly_told == 1);
}
