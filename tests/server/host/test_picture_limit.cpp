// What a command may claim to have seen: what its client was sent, and had not long ago.
#include "server/host/picture_limit.h"

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

std::uint32_t believed(const PictureLimit& limit, std::uint32_t seen, std::uint32_t rate_hz = 60) {
  return number(limit.believed(TickId{seen}, rate_hz));
}

}  // namespace

TEST_CASE("before a snapshot was sent no claim is believed", "[server][host][picture_limit]") {
  const PictureLimit limit;
  CHECK(believed(limit, 5) == 0);
  CHECK(believed(limit, 0) == 0);
}

TEST_CASE("a tick that was never sent is not believed", "[server][host][picture_limit]") {
  PictureLimit limit;
  limit.note_sent(7, 100);
  CHECK(believed(limit, 100) == 100);
  CHECK(believed(limit, 101) == 100);
  CHECK(believed(limit, 0xffffffffu) == 100);
  // Not known stays not known.
  CHECK(believed(limit, 0) == 0);
}

TEST_CASE("what is much older than what the client holds is not believed", "[server][host][picture_limit]") {
  PictureLimit limit;
  for (std::uint32_t tick = 1; tick <= 200; ++tick) limit.note_sent(3 * tick, tick);
  CHECK(believed(limit, 60) == 60);  // it may have had none of them
  limit.note_fate({3 * 190, true});
  CHECK(believed(limit, 60) == 184);
  CHECK(believed(limit, 184) == 184);
  CHECK(believed(limit, 195) == 195);
  CHECK(believed(limit, 60, 128) == 177);
  // What was lost, came before, or is not a snapshot's packet changes nothing.
  limit.note_fate({3 * 195, false});
  limit.note_fate({3 * 180, true});
  limit.note_fate({3 * 195 + 1, true});
  limit.note_fate({3 * 20, true});
  CHECK(believed(limit, 60) == 184);
  limit.reset();
  CHECK(believed(limit, 190) == 0);
}

TEST_CASE("a picture may be behind by what its snapshots are apart, on top",
          "[server][host][picture_limit]") {
  PictureLimit limit;
  std::uint64_t sequence = 1;
  const auto acked = [&](std::uint32_t tick) {
    limit.note_sent(sequence, tick);
    limit.note_fate({sequence++, true});
  };
  constexpr std::uint32_t margin = PictureLimit::margin_ticks;
  for (std::uint32_t tick = 6; tick <= 600; tick += 6) acked(tick);
  CHECK(believed(limit, 1) == 600 - margin - 5);
  // One that was lost says nothing, a second one does, and both are forgotten.
  acked(612);
  CHECK(believed(limit, 1) == 612 - margin - 5);
  acked(624);
  CHECK(believed(limit, 1) == 624 - margin - 11);
  for (std::uint32_t tick = 630; tick <= 1200; tick += 6) acked(tick);
  CHECK(believed(limit, 1) == 1200 - margin - 5);
}

TEST_CASE("a picture is believed to be behind by the jitter that acknowledgements show, and a tick",
          "[server][host][picture_limit]") {
  PictureLimit limit;
  constexpr std::uint32_t margin = PictureLimit::margin_ticks;
  // Each tick's is sent, and acknowledged some ticks later.
  std::uint32_t tick = 1, acked = 0;
  const auto run = [&](std::uint32_t ticks, auto&& age) {
    for (const std::uint32_t until = tick + ticks; tick < until; ++tick) {
      limit.note_sent(tick, tick);
      while (acked < tick && tick - (acked + 1) >= age(acked + 1)) ++acked, limit.note_fate({acked, true});
    }
    --tick;
    const std::uint32_t seen = believed(limit, 1);
    ++tick;
    return tick - 1 - seen;
  };
  // Too few to tell: a tenth of a second behind what it holds.
  CHECK(run(30, [](std::uint32_t) { return 4u; }) == 4 + 6);
  CHECK(run(300, [](std::uint32_t) { return 4u; }) == 4 + margin);
  // One in four comes three ticks later, and with it those behind it: they are waited for.
  CHECK(run(600, [](std::uint32_t t) { return t % 4 == 0 ? 7u : 4u; }) >= 6 + margin);
  CHECK(run(600, [](std::uint32_t t) { return t % 4 == 0 ? 7u : 4u; }) <= 7 + margin + 3);
  // One in fifty is not.
  CHECK(run(600, [](std::uint32_t t) { return t % 50 == 0 ? 7u : 4u; }) <= 5 + margin + 2);
  // And it is forgotten.
  CHECK(run(600, [](std::uint32_t) { return 4u; }) == 4 + margin);
}

namespace {

struct Told {
  int before = 0, after = 0;
  friend bool operator==(const Told&, const Told&) = default;
};
Told told(const PictureLimit& limit, std::uint32_t seen) {
  PlayerCommand command;
  command.seen = TickId{seen};
  command.told_before = 9, command.told_after = 9;  // whatever it says itself
  limit.add_told(command);
  CHECK(command.seen == TickId{seen});
  return {command.told_before, command.told_after};
}

}  // namespace

TEST_CASE("a picture is made of the two acknowledged states around it, or goes on from the last two",
          "[server][host][picture_limit]") {
  PictureLimit limit;
  CHECK(told(limit, 0) == Told{0, 0});
  CHECK(told(limit, 7) == Told{0, 0});
  for (std::uint32_t tick = 6; tick <= 600; tick += 6) limit.note_sent(tick, tick);
  limit.note_fate({540, true});
  CHECK(told(limit, 543) == Told{0, 0});  // one alone says nothing of a way
  limit.note_fate({546, true});
  CHECK(told(limit, 540) == Told{0, 0});
  CHECK(told(limit, 543) == Told{3, 3});
  CHECK(told(limit, 546) == Told{0, 0});
  CHECK(told(limit, 549) == Told{9, -3});
  CHECK(told(limit, 530) == Told{0, 0});  // older than all that is known
  CHECK(told(limit, 0) == Told{0, 0});
  // One was lost, and another comes behind a later one.
  limit.note_fate({552, false});
  limit.note_fate({564, true});
  CHECK(told(limit, 547) == Told{1, 17});
  limit.note_fate({558, true});
  limit.note_fate({558, true});
  CHECK(told(limit, 547) == Told{1, 11});
  CHECK(told(limit, 559) == Told{1, 5});
  CHECK(told(limit, 566) == Told{8, -2});
  // Hundreds of them push out the oldest alone.
  for (std::uint32_t tick = 606; tick <= 6000; tick += 6) {
    limit.note_sent(tick, tick);
    limit.note_fate({tick, true});
    REQUIRE(told(limit, tick - 8) == (tick > 612 ? Told{4, 2} : told(limit, tick - 8)));
  }
  CHECK(told(limit, 5999) == Told{5, 1});
  CHECK(told(limit, 600) == Told{0, 0});
  limit.reset();
  CHECK(told(limit, 5999) == Told{0, 0});
}
