// What a command may claim to have seen: what its client was sent, and had not long ago.
#include "server/host/picture_limit.h"

#include "tests/catch.h"

using namespace ashlar;
using namespace ashlar::server;

namespace {

constexpr std::uint32_t now = 10'000;  // when all is acknowledged, where that does not matter

std::uint32_t believed(const PictureLimit& limit, std::uint32_t seen, std::uint32_t rate_hz = 60) {
  return number(limit.believed(TickId{seen}, 0, 1'000'000, rate_hz));
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
  limit.note_fate({3 * 190, true}, now);
  CHECK(believed(limit, 60) == 184);
  CHECK(believed(limit, 184) == 184);
  CHECK(believed(limit, 195) == 195);
  CHECK(believed(limit, 60, 128) == 177);
  // What was lost, came before, or is not a snapshot's packet changes nothing.
  limit.note_fate({3 * 195, false}, now);
  limit.note_fate({3 * 180, true}, now);
  limit.note_fate({3 * 195 + 1, true}, now);
  limit.note_fate({3 * 20, true}, now);
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
    limit.note_fate({sequence++, true}, now);
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

TEST_CASE("whoever shows what it was told is believed, however far snapshots are apart and the way is long",
          "[server][host][picture_limit]") {
  const std::uint32_t every = GENERATE(1u, 2u, 3u, 6u), way = GENERATE(range(1u, 13u));
  PictureLimit limit;
  std::uint32_t held = 0;  // by the client, as of a command that arrives
  std::uint32_t wrong = 0;
  for (std::uint32_t tick = every; tick < 200 * every; ++tick) {
    if (tick % every == 0) limit.note_sent(tick, tick);
    // A command tells what its client had half a way ago, when all that was sent a whole one ago was there.
    if (tick > way && (tick - way) % every == 0) held = tick - way, limit.note_fate({held, true}, tick);
    if (tick < 100 * every) continue;
    // A picture is between the newest two, or was when it was made.
    const std::uint32_t oldest = held - every;
    wrong += number(limit.believed(TickId{oldest}, 0, tick, 60)) == oldest ? 0 : 1;
  }
  CAPTURE(every, way);
  CHECK(wrong == 0);
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
      while (acked < tick && tick - (acked + 1) >= age(acked + 1))
        ++acked, limit.note_fate({acked, true}, now);
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
  limit.complete(command, 0, now, 60);
  return {command.told_before, command.told_after};
}
/// What is made of a command that says itself which two they were.
Told claimed(const PictureLimit& limit, std::uint32_t seen, Told says, std::uint32_t ticks_ago = 0,
             std::uint32_t at = now) {
  PlayerCommand command;
  command.seen = TickId{seen};
  command.told_before = static_cast<std::uint8_t>(says.before);
  command.told_after = static_cast<std::int8_t>(says.after);
  limit.complete(command, ticks_ago, at, 60);
  return {command.told_before, command.told_after};
}

}  // namespace

TEST_CASE("a picture is made of the two acknowledged states around it, or goes on from the last two",
          "[server][host][picture_limit]") {
  PictureLimit limit;
  CHECK(told(limit, 0) == Told{0, 0});
  CHECK(told(limit, 7) == Told{0, 0});
  for (std::uint32_t tick = 6; tick <= 600; tick += 6) limit.note_sent(tick, tick);
  limit.note_fate({540, true}, now);
  CHECK(told(limit, 543) == Told{0, 0});  // one alone says nothing of a way
  limit.note_fate({546, true}, now);
  CHECK(told(limit, 540) == Told{0, 0});
  CHECK(told(limit, 543) == Told{3, 3});
  CHECK(told(limit, 546) == Told{0, 0});
  CHECK(told(limit, 549) == Told{9, -3});
  CHECK(told(limit, 530) == Told{0, 0});  // older than all that is known
  CHECK(told(limit, 0) == Told{0, 0});
  // One was lost, and another comes behind a later one.
  limit.note_fate({552, false}, now);
  limit.note_fate({564, true}, now);
  CHECK(told(limit, 555) == Told{9, 9});
  CHECK(told(limit, 540) == Told{7, 11});  // no claim is believed that is older than 553
  limit.note_fate({558, true}, now);
  limit.note_fate({558, true}, now);
  CHECK(told(limit, 555) == Told{9, 3});
  CHECK(told(limit, 559) == Told{1, 5});
  CHECK(told(limit, 566) == Told{8, -2});
  // Hundreds of them push out the oldest alone.
  for (std::uint32_t tick = 606; tick <= 6000; tick += 6) {
    limit.note_sent(tick, tick);
    limit.note_fate({tick, true}, now);
    if (tick > 612) REQUIRE(told(limit, tick - 4) == Told{2, 4});
  }
  CHECK(told(limit, 5999) == Told{5, 1});
  CHECK(told(limit, 600) == Told{0, 0});
  limit.reset();
  CHECK(told(limit, 5999) == Told{0, 0});
}

TEST_CASE("which two states a picture was made of is believed where that can be so",
          "[server][host][picture_limit]") {
  PictureLimit limit;
  for (std::uint32_t tick = 6; tick <= 600; tick += 6) limit.note_sent(tick, tick);
  limit.note_fate({582, true}, 100);
  limit.note_fate({588, true}, 106);
  CHECK(claimed(limit, 585, {3, 3}, 0, 110) == Told{3, 3});
  // What is not acknowledged yet may have come all the same.
  CHECK(claimed(limit, 590, {2, 4}, 0, 110) == Told{2, 4});
  CHECK(claimed(limit, 596, {2, 4}, 0, 110) == Told{2, 4});
  CHECK(claimed(limit, 598, {10, -4}, 0, 110) == Told{10, -4});
  // What was acknowledged was there, and shown.
  const Told inferred{8, -2};  // from 582 on and beyond 588, at 590
  CHECK(claimed(limit, 590, {14, 4}, 0, 110) == inferred);
  CHECK(claimed(limit, 590, {14, -8}, 0, 110) == inferred);
  CHECK(claimed(limit, 590, {8, 4}, 0, 110) == inferred);
  // Nothing is made of states that were never sent, or will be, or of one alone.
  for (const Told says : {Told{3, 4}, Told{2, 3}, Told{2, 16}, Told{0, 4}, Told{2, 0}, Told{2, -2},
                          Told{2, -8}, Told{255, 127}, Told{255, -128}})
    CHECK(claimed(limit, 590, says, 0, 110) == inferred);
  // Nor of an older picture than is believed.
  CHECK(claimed(limit, 540, {6, 6}, 0, 110) == told(limit, 540));
}

TEST_CASE("a command that comes late because others were lost may know less than what came with it",
          "[server][host][picture_limit]") {
  PictureLimit limit;
  for (std::uint32_t tick = 6; tick <= 600; tick += 6) limit.note_sent(tick, tick);
  limit.note_fate({582, true}, 100);
  limit.note_fate({588, true}, 107);
  limit.note_fate({594, true}, 110);
  const Told says{8, -2};  // as if 594 had not been there, at 590
  CHECK(claimed(limit, 590, says, 0, 110) == Told{2, 4});
  CHECK(claimed(limit, 590, says, 1, 110) == says);
  CHECK(claimed(limit, 590, says, 1, 111) == says);
  CHECK(claimed(limit, 590, says, 1, 112) == Told{2, 4});
  CHECK(claimed(limit, 590, says, 2, 112) == says);
  // 588 was there by then.
  CHECK(claimed(limit, 590, {20, -8}, 2, 110) == Told{2, 4});
}

TEST_CASE("of a command that comes again for a lost one the picture may be as much older, and no more",
          "[server][host][picture_limit]") {
  PictureLimit limit;
  // Six ticks apart, acknowledged two later.
  for (std::uint32_t tick = 6; tick <= 600; tick += 6) {
    limit.note_sent(tick, tick);
    if (tick > 6) limit.note_fate({tick - 6, true}, tick + 1);
  }
  const auto oldest = [&](std::uint32_t ago, std::uint32_t next) {
    return number(limit.believed(TickId{1}, ago, next, 60));
  };
  const std::uint32_t own = oldest(0, 601);
  CHECK(own < 594);
  // The snapshot of tick 600 had not been sent when those were given.
  CHECK(oldest(1, 601) == own - 6);
  CHECK(oldest(2, 601) == own - 6);
  CHECK(oldest(1, 602) == own);
  CHECK(oldest(2, 602) == own - 6);
  // A fiftieth of a second is what is believed of that.
  CHECK(oldest(8, 604) == own);
  CHECK(oldest(8, 603) == own - 6);
}
