#include "world/bsp/line_specials.h"

#include <map>
#include <string>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"

using namespace ashlar;

namespace {

SectorMap with_special(std::uint16_t special, std::uint16_t tag = 7) {
  SectorMap map;
  MapLine line;
  line.special = special;
  line.tag = tag;
  map.lines.push_back(line);
  return map;
}

LineAction doom(std::uint16_t special) {
  const SectorMap map = with_special(special);
  const auto action = line_action(map, map.lines.front());
  REQUIRE(action.has_value());
  return *action;
}

constexpr double unit_m = 1.0 / 32;

}  // namespace

TEST_CASE("every number of Doom's own linedef types is known, and 0 is none", "[world][line_specials]") {
  for (std::uint16_t n = 1; n <= 141; ++n) {
    CAPTURE(n);
    CHECK(special_known(SpecialNumbers::doom, n));
  }
  const SectorMap none = with_special(0);
  CHECK_FALSE(line_action(none, none.lines.front()).has_value());
}

TEST_CASE("doors and lifts have Doom's speeds, waits and targets", "[world][line_specials]") {
  const LineAction door = doom(1);
  CHECK(door.trigger == LineTrigger::use);
  CHECK(door.effect == LineEffect::door_raise);
  CHECK(door.repeats);
  CHECK(door.sector_behind);
  CHECK(door.monsters);
  CHECK(door.speed_mps == Approx(2 * 35 * unit_m).margin(1e-12));
  CHECK(door.wait_s == Approx(150.0 / 35).margin(1e-12));
  CHECK(door.offset_m == -4 * unit_m);

  const LineAction lift = doom(62);
  CHECK(lift.trigger == LineTrigger::use);
  CHECK(lift.effect == LineEffect::lift);
  CHECK(lift.tag == 7);
  CHECK_FALSE(lift.sector_behind);
  CHECK_FALSE(lift.monsters);
  CHECK(lift.speed_mps == Approx(4 * 35 * unit_m).margin(1e-12));
  CHECK(lift.wait_s == 3);

  CHECK(doom(88).monsters);
  CHECK(doom(88).trigger == LineTrigger::walk);
  CHECK(doom(46).trigger == LineTrigger::shoot);
  CHECK(doom(46).repeats);
  CHECK_FALSE(doom(24).repeats);
  CHECK(doom(36).offset_m == 8 * unit_m);
  CHECK(doom(7).step_m == 8 * unit_m);
  CHECK(doom(100).step_m == 16 * unit_m);
}

TEST_CASE("locks ask for the key of their colour", "[world][line_specials]") {
  const std::map<std::uint16_t, std::uint8_t> locks = {
      {26, key::blue}, {27, key::yellow}, {28, key::red},     {32, key::blue},
      {33, key::red},  {34, key::yellow}, {99, key::blue},    {133, key::blue},
      {134, key::red}, {135, key::red},   {136, key::yellow}, {137, key::yellow}};
  for (std::uint16_t n = 1; n <= 141; ++n) {
    CAPTURE(n);
    const auto lock = locks.find(n);
    CHECK(doom(n).keys == (lock == locks.end() ? 0 : lock->second));
  }
  CHECK(key_of_thing(5) == key::blue);
  CHECK(key_of_thing(40) == key::blue);
  CHECK(key_of_thing(13) == key::red);
  CHECK(key_of_thing(39) == key::yellow);
  CHECK(key_of_thing(1) == 0);
}

TEST_CASE("monsters set off what Doom lets them, and some lines are theirs alone", "[world][line_specials]") {
  for (std::uint16_t n = 1; n <= 141; ++n) {
    CAPTURE(n);
    const bool allowed =
        n == 1 || n == 4 || n == 10 || n == 39 || n == 46 || n == 88 || n == 97 || n == 125 || n == 126;
    CHECK(doom(n).monsters == allowed);
    CHECK(doom(n).players == (n != 125 && n != 126));
  }
}

TEST_CASE("Boom's generalised numbers are taken apart", "[world][line_specials]") {
  // 0x3413: switched lift, repeatable, fast, to the lowest floor, one second.
  const LineAction lift = doom(0x3413);
  CHECK(lift.trigger == LineTrigger::use);
  CHECK(lift.repeats);
  CHECK_FALSE(lift.sector_behind);
  CHECK(lift.effect == LineEffect::lift);
  CHECK(lift.target == HeightTarget::lowest_floor);
  CHECK(lift.speed_mps == Approx(8 * 35 * unit_m).margin(1e-12));
  CHECK(lift.wait_s == 1);
  // 0x3e11: walk-over door, repeatable, fast, twice the usual wait.
  const LineAction door = doom(0x3e11);
  CHECK(door.trigger == LineTrigger::walk);
  CHECK(door.repeats);
  CHECK(door.effect == LineEffect::door_raise);
  CHECK(door.speed_mps == Approx(8 * 35 * unit_m).margin(1e-12));
  CHECK(door.wait_s == Approx(300.0 / 35).margin(1e-12));
  // Pushed, locked, opens and stays, all keys.
  const LineAction locked = doom(0x3800 | 7 | 0x20 | 0x1c0);
  CHECK(locked.sector_behind);
  CHECK(locked.effect == LineEffect::door_open);
  CHECK(locked.keys == key::all);
  // A floor raised by 24, once, when walked over.
  const LineAction floor = doom(0x6000 | 0x300 | 0x40);
  CHECK(floor.effect == LineEffect::floor);
  CHECK(floor.offset_m == 24 * unit_m);
  // Every generalised number means something, with a speed above zero.
  for (std::uint32_t n = 0x2f80; n < 0x8000; ++n) {
    const LineAction a = doom(static_cast<std::uint16_t>(n));
    if (a.trigger == LineTrigger::none || !(a.speed_mps > 0)) FAIL("number " << n);
  }
}

TEST_CASE("UDMF's zdoom actions do the same as Doom's specials", "[world][line_specials]") {
  using namespace line_activation;
  SectorMap map = with_special(12);
  map.specials = SpecialNumbers::zdoom;
  MapLine& line = map.lines.front();
  line.flags = player_use | monster_use | repeats;
  line.args = {0, 16, 150, 0, 0};
  const auto door = line_action(map, line);
  REQUIRE(door.has_value());
  const LineAction same = doom(1);
  CHECK(door->trigger == same.trigger);
  CHECK(door->effect == same.effect);
  CHECK(door->repeats == same.repeats);
  CHECK(door->sector_behind == same.sector_behind);
  CHECK(door->monsters == same.monsters);
  CHECK(door->speed_mps == same.speed_mps);
  CHECK(door->wait_s == same.wait_s);
  CHECK(door->offset_m == same.offset_m);

  line.special = 62;
  line.flags = player_cross | monster_cross | repeats;
  line.args = {9, 32, 105, 0, 0};
  const auto lift = line_action(map, line);
  REQUIRE(lift.has_value());
  CHECK(lift->tag == 9);
  CHECK(lift->trigger == LineTrigger::walk);
  CHECK(lift->speed_mps == doom(88).speed_mps);
  CHECK(lift->wait_s == doom(88).wait_s);

  line.special = 13;
  line.flags = player_use;
  line.args = {0, 16, 0, 130, 0};
  const auto locked = line_action(map, line);
  REQUIRE(locked.has_value());
  CHECK(locked->keys == key::blue);
  CHECK(locked->effect == LineEffect::door_open);

  // Arguments come from a file: any value gives finite, bounded numbers.
  for (const std::int32_t wild : {-2147483647 - 1, -1, 0, 1, 2147483647}) {
    for (std::uint16_t n = 0; n < 300; ++n) {
      line.special = n;
      line.args = {wild, wild, wild, wild, wild};
      const auto a = line_action(map, line);
      if (!a) continue;
      CAPTURE(n, wild);
      CHECK((a->speed_mps > 0 && a->speed_mps < 1000));
      CHECK((a->wait_s >= 0 && a->wait_s < 1e9));
      CHECK((a->offset_m > -1e5 && a->offset_m < 1e5));
    }
  }
}

TEST_CASE("unknown specials are listed once each, by number and count", "[world][line_specials]") {
  SectorMap map = with_special(9999);
  map.lines.push_back(map.lines.front());
  map.lines.push_back(with_special(340).lines.front());
  map.lines.push_back(with_special(1).lines.front());
  const auto unknown = unknown_specials(map);
  REQUIRE(unknown.size() == 2);
  CHECK(unknown[0] == std::pair<std::uint16_t, std::uint32_t>{340, 1});
  CHECK(unknown[1] == std::pair<std::uint16_t, std::uint32_t>{9999, 2});
}
