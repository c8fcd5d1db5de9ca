#include "server/host/input_buffer.h"

#include "tests/catch.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {
PlayerCommand facing(std::uint16_t yaw) {
  PlayerCommand c;
  c.yaw = Turn16{yaw};
  c.forward = 1;
  return c;
}
}  // namespace

TEST_CASE("commands play in the order of their ticks, whatever order they come in",
          "[server][input_buffer]") {
  InputBuffer buffer;
  CHECK(buffer.add(12, facing(12), 10) == InputVerdict::taken);
  CHECK(buffer.add(10, facing(10), 10) == InputVerdict::taken);
  CHECK(buffer.add(11, facing(11), 10) == InputVerdict::taken);
  CHECK(buffer.add(11, facing(99), 10) == InputVerdict::repeated);
  for (std::uint16_t tick = 10; tick <= 12; ++tick) {
    const auto played = buffer.take(tick);
    CHECK(played.own);
    CHECK(played.command == facing(tick));
    CHECK(buffer.last_own_tick() == tick);
  }
}

TEST_CASE("a missing command repeats the last one for a few ticks, then the player stands still",
          "[server][input_buffer]") {
  const std::uint32_t rate = GENERATE(10u, 60u, 128u);
  const std::uint32_t repeats = InputBuffer::repeat_ticks(rate);  // a tenth of a second
  CHECK(repeats == (rate == 10 ? 1u : rate == 60 ? 6u : 13u));
  InputBuffer buffer(rate);
  REQUIRE(buffer.add(1, facing(7), 1) == InputVerdict::taken);
  REQUIRE(buffer.take(1).own);
  for (std::uint32_t i = 0; i < repeats; ++i) {
    const auto played = buffer.take(2 + i);
    CHECK_FALSE(played.own);
    CHECK(played.command == facing(7));
  }
  const auto still = buffer.take(2 + repeats);
  CHECK(still.command.forward == 0);
  CHECK(still.command.yaw == Turn16{7});
  CHECK(buffer.last_own_tick() == 1);
}

TEST_CASE("late and far too early commands are refused, also across the wrap of ticks",
          "[server][input_buffer]") {
  InputBuffer buffer;
  CHECK(buffer.add(9, facing(1), 10) == InputVerdict::late);
  CHECK(buffer.add(10 + InputBuffer::reach_ticks, facing(1), 10) == InputVerdict::early);
  buffer = InputBuffer{};
  const std::uint32_t wrap = 0xffffffffu;
  CHECK(buffer.add(1, facing(2), wrap) == InputVerdict::taken);
  CHECK(buffer.level(wrap) == 2);
  CHECK(buffer.add(wrap - 1, facing(3), wrap) == InputVerdict::late);
  CHECK(buffer.take(1).own);
}

TEST_CASE("a client whose commands are all late is told by how much", "[server][input_buffer]") {
  InputBuffer buffer;
  CHECK(buffer.add(70, facing(1), 100) == InputVerdict::late);
  CHECK(buffer.level(100) == -30);
  CHECK(buffer.add(72, facing(1), 102) == InputVerdict::late);
  CHECK(buffer.add(71, facing(1), 102) == InputVerdict::late);
  CHECK(buffer.level(102) == -30);
  CHECK_FALSE(buffer.take(102).own);
  CHECK(buffer.add(300, facing(1), 103) == InputVerdict::early);
  CHECK(buffer.level(103) == -31);
}

TEST_CASE("a new buffer says that it has seen nothing and stands still", "[server][input_buffer]") {
  InputBuffer buffer;
  CHECK(buffer.level(5) == InputBuffer::level_none);
  CHECK(buffer.take(5).command == PlayerCommand{});
}

TEST_CASE("looking at a message's news alone takes what looking at all of it takes",
          "[server][input_buffer]") {
  const auto seed = GENERATE(range(1u, 40u));
  CAPTURE(seed);
  Rng rng{seed};
  InputBuffer all, news;
  std::uint32_t next = 100, newest = 95;
  std::uint32_t looked = 0, repeated = 0;
  for (int i = 0; i < 400; ++i) {
    // Some arrive late and out of order, with more or fewer repeats, some far ahead; some never.
    if (newest < next + 12) newest += static_cast<std::uint32_t>(rng.between(0, 3));
    const auto count = static_cast<std::uint32_t>(rng.between(1, 12));
    std::uint32_t told = newest - static_cast<std::uint32_t>(rng.unit() < 0.2 ? rng.between(0, 9) : 0);
    if (rng.unit() < 0.02) told += static_cast<std::uint32_t>(rng.between(0, 80));
    InputVerdict first{}, other{};
    for (std::uint32_t k = 0; k < count; ++k) {
      const InputVerdict verdict = all.add(told - k, facing(static_cast<std::uint16_t>(told - k)), next);
      if (k == 0) first = verdict;
    }
    const std::uint32_t few = news.count_news(told, count, next);
    REQUIRE(few >= 1);
    REQUIRE(few <= count);
    looked += few, repeated += count;
    for (std::uint32_t k = 0; k < few; ++k) {
      const InputVerdict verdict = news.add(told - k, facing(static_cast<std::uint16_t>(told - k)), next);
      if (k == 0) other = verdict;
    }
    REQUIRE(first == other);
    if (rng.unit() < 0.8) {
      const auto a = all.take(next), b = news.take(next);
      REQUIRE(a.own == b.own);
      REQUIRE(a.command == b.command);
      ++next;
    }
    REQUIRE(all.newest_tick() == news.newest_tick());
    if (newest < next) newest = next;
  }
  CHECK(2 * looked < repeated);
}

TEST_CASE("what was foreseen of a tick is known while its command is the last one of its own",
          "[server][input_buffer]") {
  InputBuffer buffer;
  CHECK(buffer.foreseen(10) == 0);
  REQUIRE(buffer.add(10, facing(10), 10, 0, 77) == InputVerdict::taken);
  REQUIRE(buffer.add(11, facing(11), 10) == InputVerdict::taken);
  CHECK(buffer.foreseen(10) == 0);
  REQUIRE(buffer.take(10).own);
  CHECK(buffer.foreseen(10) == 77);
  CHECK(buffer.foreseen(9) == 0);
  REQUIRE(buffer.take(11).own);
  CHECK(buffer.foreseen(11) == 0);
  CHECK(buffer.foreseen(10) == 0);
  REQUIRE(buffer.add(12, facing(12), 12, 0, 78) == InputVerdict::taken);
  REQUIRE(buffer.take(12).own);
  REQUIRE_FALSE(buffer.take(13).own);
  CHECK(buffer.foreseen(13) == 0);
}

TEST_CASE("repeats make up for lost messages at any tick, half way round the numbers, too",
          "[server][input_buffer]") {
  const std::uint32_t first = GENERATE(1u, 1000u, 0x7fffff00u, 0x80001000u, 0xffffff80u);
  CAPTURE(first);
  InputBuffer buffer;
  std::uint32_t own = 0;
  for (std::uint32_t i = 0; i < 600; ++i) {
    const std::uint32_t next = first + i, newest = next + 1;
    if (i % 3 != 0) {  // each third one is lost
      const std::uint32_t news = buffer.count_news(newest, 8, next);
      for (std::uint32_t back = 0; back < news; ++back)
        buffer.add(newest - back, facing(static_cast<std::uint16_t>(newest - back)), next);
    }
    own += buffer.take(next).own ? 1 : 0;
  }
  CHECK(own >= 599);
}
