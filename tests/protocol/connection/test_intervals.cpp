#include "protocol/connection/intervals.h"

#include <array>
#include <deque>

#include "protocol/connection/ack_ranges.h"
#include "protocol/connection/byte_ring.h"
#include "protocol/connection/grow_ring.h"
#include "protocol/connection/replay_window.h"
#include "tests/catch.h"
#include "tests/slowness.h"
#include "world/math/random.h"

using namespace ashlar;

TEST_CASE("an interval set agrees with one flag for each offset", "[protocol][connection][intervals]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Rng rng{seed};
  IntervalSet set;
  std::array<bool, 400> held{};
  for (int round = 0; round < 4000; ++round) {
    const std::uint64_t begin = rng.below(380);
    const std::uint64_t end = begin + rng.below(round % 3 == 0 ? 20 : 6);
    const bool adds = rng.below(100) < 55;
    IntervalSet copy = set;
    copy.insert({begin, end});
    REQUIRE(set.count_with({begin, end}) == copy.list().size());
    if (adds) set.insert({begin, end});
    if (!adds) set.erase({begin, end});
    for (std::uint64_t i = begin; i < end; ++i) held[i] = adds;

    std::vector<Interval> expected;
    for (std::uint64_t i = 0; i < held.size(); ++i) {
      if (!held[i]) continue;
      if (expected.empty() || expected.back().end != i) expected.push_back({i, i});
      expected.back().end = i + 1;
    }
    REQUIRE(std::vector<Interval>(set.list().begin(), set.list().end()) == expected);
    const std::uint64_t from = rng.below(380), to = from + rng.below(8);
    bool all = true;
    for (std::uint64_t i = from; i < to; ++i) all = all && held[i];
    REQUIRE(set.covers({from, to}) == all);
  }
}

TEST_CASE("ack ranges agree with a list of everything that arrived", "[protocol][connection][ack_ranges]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  if (test::slowness > 1 && seed != 1) return;
  CAPTURE(seed);
  Rng rng{seed};
  AckRanges ranges;
  std::vector<bool> arrived(6000);
  std::uint64_t highest = 0;
  for (int round = 0; round < 4000; ++round) {
    const std::uint64_t jump = rng.below(10) == 0 ? 1 + rng.below(30) : 1;
    std::uint64_t sequence = std::min<std::uint64_t>(highest + jump, arrived.size() - 1);
    if (rng.below(100) < 40 && highest > 40) sequence = highest - rng.below(40);
    if (arrived[sequence] && rng.below(4) != 0) continue;  // doubles now and then
    if (ranges.list().size() == AckRanges::ranges_max) {
      ranges.forget_until(highest / 2);
      for (std::uint64_t s = 0; s <= highest / 2; ++s) arrived[s] = false;
      if (sequence <= highest / 2) continue;
    }
    ranges.insert(sequence);
    arrived[sequence] = true;
    highest = std::max(highest, sequence);
    std::vector<AckRange> expected;
    for (std::uint64_t s = highest; s > 0; --s) {
      if (!arrived[s]) continue;
      if (expected.empty() || expected.back().first != s + 1) expected.push_back({s, s});
      expected.back().first = s;
    }
    while (expected.size() > AckRanges::ranges_max) {
      for (std::uint64_t s = expected.back().first; s <= expected.back().last; ++s) arrived[s] = false;
      expected.pop_back();
    }
    REQUIRE(std::vector<AckRange>(ranges.list().begin(), ranges.list().end()) == expected);
    REQUIRE(ranges.largest() == expected.front().last);
  }
}

TEST_CASE("the oldest ack range gives way and is counted", "[protocol][connection][ack_ranges]") {
  AckRanges ranges;
  for (std::uint64_t i = 1; i <= AckRanges::ranges_max + 10; ++i) ranges.insert(3 * i);
  CHECK(ranges.list().size() == AckRanges::ranges_max);
  CHECK(ranges.forgotten() == 10);
  CHECK(ranges.list().back().first == 33);
  ranges.insert(2);  // older than all: forgotten at once
  CHECK(ranges.forgotten() == 11);
  CHECK(ranges.list().back().first == 33);
  ranges.forget_until(34);
  CHECK(ranges.list().back().first == 36);
}

TEST_CASE("a byte ring holds what was written, wherever it lies", "[protocol][connection][byte_ring]") {
  Rng rng{7};
  ByteRing ring;
  std::deque<std::uint8_t> twin;
  std::uint64_t base = 0;
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::uint8_t> bytes(rng.below(200));
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(rng.next_u64());
    if (rng.below(2) == 0) {
      ring.write(ring.top(), bytes);
      twin.insert(twin.end(), bytes.begin(), bytes.end());
    } else {
      const std::uint64_t gone =
          rng.below(static_cast<std::uint32_t>(std::min<std::size_t>(twin.size(), 260) + 1));
      base += gone;
      ring.advance(base);
      twin.erase(twin.begin(), twin.begin() + static_cast<std::ptrdiff_t>(gone));
    }
    if (rng.below(20) == 0) {
      const std::uint64_t kept = rng.below(static_cast<std::uint32_t>(twin.size() + 1));
      ring.truncate(base + kept);
      twin.resize(kept);
    }
    REQUIRE(ring.base() == base);
    REQUIRE(ring.top() == base + twin.size());
    std::vector<std::uint8_t> out(twin.size());
    ring.read(base, out);
    REQUIRE(std::equal(out.begin(), out.end(), twin.begin(), twin.end()));
  }
  ring.advance(ring.top());
  CHECK(ring.memory_bytes() <= ByteRing::kept_bytes);
}

TEST_CASE("a ring's rows keep their index while it grows", "[protocol][connection][grow_ring]") {
  GrowRing<std::uint64_t> ring;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ring.push_back(i * i);
    if (i % 3 == 0) ring.pop_front();
    for (std::uint64_t k = ring.first(); k < ring.end(); ++k) REQUIRE(ring[k] == k * k);
  }
  const std::size_t memory = ring.memory_bytes();
  for (std::uint64_t i = 0; i < 1000; ++i) ring.pop_front(), ring.push_back(i);
  CHECK(ring.memory_bytes() == memory);
}

TEST_CASE("the replay window lets each sequence pass once", "[protocol][connection][replay_window]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Rng rng{seed};
  ReplayWindow window;
  std::vector<bool> marked(300'000);
  CHECK(window.check(0).error() == DropReason::bad_header);
  for (int i = 0; i < 50'000; ++i) {
    const std::uint64_t highest = window.highest();
    std::uint64_t sequence = highest + 1 + rng.below(4);
    const std::uint32_t back = rng.below(1400);
    if (rng.below(100) < 70) sequence = highest > back ? highest - back : 1;
    if (rng.below(1000) == 0) sequence = highest + 1 + rng.below(3000);
    if (sequence >= marked.size()) break;
    const auto fresh = window.check(sequence);
    if (sequence + ReplayWindow::width <= highest) {
      REQUIRE(fresh.error() == DropReason::too_old);
    } else if (marked[sequence]) {
      REQUIRE(fresh.error() == DropReason::duplicate);
    } else {
      REQUIRE(fresh.has_value());
      if (rng.below(5) == 0) continue;  // did not open: asking alone changes nothing
      window.mark(sequence);
      marked[sequence] = true;
    }
  }
}
