#include "world/sim/triggers.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/catch.h"
#include "tests/world/bsp/random_maps.h"
#include "tests/world/compass.h"
#include "tests/world/sim/moving_rooms.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Where the ceiling of the middle room stands over its floor, map units.
double open_units(MovingWorld& w, std::size_t room = 1) {
  return (w.sector(room).ceiling_m - w.sector(room).floor_m) * 32;
}

/// How far a point is from a line.
double away_m(const MapPlan& plan, std::uint32_t line, DVec2 p) {
  const DVec2 a = plan.start_m(line), along = plan.end_m(line) - a;
  const double length2 = dot(along, along);
  const double at = length2 > 0 ? std::clamp(dot(p - a, along) / length2, 0.0, 1.0) : 0;
  return length(a + along * at - p);
}

/// Lines that are found around a point.
std::vector<std::uint8_t> found_at(const MapPlan& plan, DVec2 p, double half_m) {
  std::vector<std::uint8_t> found(plan.map().source().lines.size(), 0);
  plan.visit_triggers({p.x - half_m, p.y - half_m}, {p.x + half_m, p.y + half_m},
                      [&](std::uint32_t line) { found[line] = 1; });
  return found;
}

}  // namespace

TEST_CASE("every line is found wherever it is touched, and none from far away",
          "[world][triggers][property]") {
  std::size_t lines = 0;
  for (std::uint64_t seed = 0; seed < 60 / test::slowness; ++seed) {
    CAPTURE(seed);
    RandomMap drawn(seed);
    SectorMap map = drawn.map();
    for (MapLine& line : map.lines) line.special = line.v1 % 2 != 0 ? 88 : 62, line.tag = 1;
    for (MapSector& s : map.sectors) s.tag = 1;
    const auto placed = place_map(map, {});
    if (!placed) continue;
    const MapPlan plan(*placed);
    Rng rng(seed);
    for (std::uint32_t line = 0; line < plan.map().source().lines.size(); ++line) {
      if (plan.action(line) == nullptr) continue;  // of the doorway
      ++lines;
      const DVec2 a = plan.start_m(line), b = plan.end_m(line);
      DVec2 p = a + (b - a) * rng.unit();
      if (rng.below(4) == 0) p = rng.below(2) == 0 ? a : b;
      const auto found = found_at(plan, p, 0);
      CHECK(found[line] == 1);
      // A cell has sides of 4 m.
      for (std::uint32_t other = 0; other < found.size(); ++other)
        if (found[other] != 0) REQUIRE(away_m(plan, other, p) < 4 * 1.5);
    }
  }
  CHECK(lines > 1000 / test::slowness);
}

TEST_CASE("walks set off in random maps what a look at all lines says", "[world][triggers][property]") {
  std::size_t crossed_in_all = 0;
  for (std::uint64_t seed = 0; seed < 60 / test::slowness; ++seed) {
    CAPTURE(seed);
    RandomMap drawn(seed);
    SectorMap map = drawn.map();
    for (MapLine& line : map.lines) line.special = 88, line.tag = 1;
    for (MapSector& s : map.sectors) s.tag = 1;
    const auto placed = place_map(map, {});
    if (!placed) continue;
    const MapPlan plan(*placed);
    const BlockBox& box = (*placed)->box();
    Rng rng(seed);
    for (int i = 0; i < 300; ++i) {
      DVec2 from, to;
      from.x = rng.between(box.min.x, box.max.x);
      from.y = rng.between(box.min.y, box.max.y);
      to.x = from.x + rng.between(-3, 3);
      to.y = from.y + rng.between(-3, 3);
      std::size_t count = 0;
      for (std::uint32_t line = 0; line < plan.map().source().lines.size(); ++line) {
        if (plan.action(line) == nullptr || plan.in_front(line, from) == plan.in_front(line, to)) continue;
        const DVec2 d = to - from;
        const double side_a = cross(d, plan.start_m(line) - from), side_b = cross(d, plan.end_m(line) - from);
        count += side_a * side_b <= 0 && cross(d, plan.end_m(line) - plan.start_m(line)) != 0;
      }
      crossed_in_all += count;
      CHECK(lines_walked_over(plan, from, to).count == std::min(count, CrossedLines::lines_max));
    }
  }
  CHECK(crossed_in_all > 500 / test::slowness);
}

TEST_CASE("a door opens when it is used from its front, within two metres and with nothing between",
          "[world][triggers]") {
  const SectorMap map = row_of_rooms({{0, 128}, {0, 0}, {0, 128}}, {{1}, {1, 0, true}});
  MovingWorld w(map);
  const std::size_t p = w.add_player(w.at(60, 128, 0), east);  // 68 units from the door: too far
  w.press(p, button::use);
  CHECK(w.movers().movers().empty());
  w.players.body[p].position_m = w.at(70, 128, 0);  // 58 units
  w.players.command[p].yaw = north;
  w.press(p, button::use);
  CHECK(w.movers().movers().empty());
  w.players.command[p].yaw = east;
  w.press(p, button::use);
  REQUIRE(w.movers().movers().size() == 1);
  CHECK(w.count(MoverEventKind::switched) == 1);
  w.run(3);
  CHECK(open_units(w) == 124);

  // Walking through, and using it from inside does nothing: its front is outside.
  w.players.command[p].forward = 1;
  w.run(0.5);
  w.players.command[p].forward = 0;
  w.run(12);
  // Held open by nobody, closed by now unless the player stands in it.
  CHECK(open_units(w) >= 0);
}

TEST_CASE("a held use button counts once, and a used door turns round", "[world][triggers]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 0}, {0, 128}}, {{1}, {1, 0, true}}));
  const std::size_t p = w.add_player(w.at(90, 128, 0), east);
  w.players.command[p].buttons = button::use;
  w.run(1);
  CHECK(w.mechanics.counters().lines == 1);
  w.players.command[p].buttons = 0;
  w.step();
  CHECK(open_units(w) > 0);
  w.press(p, button::use);
  CHECK(w.movers().movers()[0].phase == MotionPhase::down);
  const double height = open_units(w);
  w.step();
  CHECK(open_units(w) < height);
  w.press(p, button::use);
  CHECK(w.movers().movers()[0].phase == MotionPhase::up);
}

TEST_CASE("a closed door hides the switch behind it", "[world][triggers]") {
  // The second divider is a switch with its front to the west; the room before it is shut.
  MovingWorld w(row_of_rooms({{0, 128}, {0, 0, 5}, {0, 128, 6}}, {{}, {63, 6}}));
  const Rules& rules = w.rules;
  const MapPlan& plan = *w.mechanics.maps()[0].plan;
  const DVec3 before = w.at(124, 128, 0);
  CHECK(line_used(plan, w.space(), w.heights[0], before, rules.player, east, 5) == no_index);
  w.sector(1).ceiling_m = w.z(128);
  CHECK(line_used(plan, w.space(), w.heights[0], before, rules.player, east, 5) == 1);
  CHECK(line_used(plan, w.space(), w.heights[0], before, rules.player, east, 4.1) == no_index);
  // From behind a line is not used.
  CHECK(line_used(plan, w.space(), w.heights[0], w.at(270, 128, 0), rules.player, west, 2) == no_index);
}

TEST_CASE("a placed block hides a switch", "[world][triggers]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 128, 5}}, {{62, 5}}));
  const MapPlan& plan = *w.mechanics.maps()[0].plan;
  const DVec3 before = w.at(70, 128, 0);
  CHECK(line_used(plan, w.space(), w.heights[0], before, w.rules.player, east, 2) == 0);
  const DVec3 between = before + DVec3{1.2, 0, 0.9};
  REQUIRE(w.volume.set_block(block_at(between), BlockId::stone));
  CHECK(line_used(plan, w.space(), w.heights[0], before, w.rules.player, east, 2) == no_index);
}

TEST_CASE("a line that works once is spent, a repeatable one works again", "[world][triggers]") {
  const auto special = static_cast<std::uint16_t>(GENERATE(10, 88));  // lift: once, repeatable
  MovingWorld w(row_of_rooms({{0, 256}, {0, 256}, {64, 256, 5}, {0, 256}}, {{special, 5}, {}, {}}));
  const std::size_t p = w.add_player(w.at(100, 128, 0), east);
  w.players.command[p].forward = 1;
  w.run(0.4);
  CHECK(w.mechanics.counters().lines == 1);
  CHECK(w.players.body[p].position_m.x > w.at(128, 0, 0).x);
  w.players.command[p].yaw = west;
  w.run(0.6);
  // The lift was still busy on the way back.
  CHECK(w.mechanics.counters().lines == 1);
  w.players.command[p].forward = 0;
  w.run(8);
  w.players.command[p].forward = 1;
  w.players.command[p].yaw = east;
  w.run(0.8);
  CHECK(w.mechanics.counters().lines == (special == 88 ? 2u : 1u));
}

TEST_CASE("each crossing of a line counts once, however the way is cut", "[world][triggers]") {
  MovingWorld w(row_of_rooms({{0, 256}, {0, 256, 5}}, {{88, 5}}));
  const MapPlan& plan = *w.mechanics.maps()[0].plan;
  const DVec2 from = xy(w.at(100, 60, 0)), to = xy(w.at(156, 200, 0));
  Rng rng = rng_for(7, 1);
  for (int run = 0; run < 2000; ++run) {
    std::size_t crossed = 0;
    DVec2 at = from;
    const std::uint32_t parts = 1 + rng.below(6);
    for (std::uint32_t i = 1; i <= parts; ++i) {
      // Some cuts lie exactly on the line.
      const double share = i == parts ? 1.0 : rng.below(3) == 0 ? 0.5 : rng.unit();
      const DVec2 next = i == parts ? to : from + (to - from) * share;
      const CrossedLines c = lines_walked_over(plan, at, next);
      crossed += c.count;
      at = next;
    }
    CAPTURE(run);
    REQUIRE(crossed % 2 == 1);  // ends on the other side
  }
  CHECK(lines_walked_over(plan, from, to).count == 1);
  CHECK(lines_walked_over(plan, from, to).list[0].from_front);
  CHECK_FALSE(lines_walked_over(plan, to, from).list[0].from_front);
  // Beside the line's end there is nothing to cross.
  CHECK(lines_walked_over(plan, xy(w.at(100, 260, 0)), xy(w.at(156, 260, 0))).count == 0);
}

TEST_CASE("a shot opens the door that it hits and no other", "[world][triggers]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 128}, {0, 0, 5}, {0, 128}}, {{}, {46, 5}, {}}));
  const std::size_t p = w.add_player(w.at(40, 128, 0), north);
  w.press(p, button::attack);
  CHECK(w.movers().movers().empty());
  w.run(w.rules.shot_interval_s);
  w.players.command[p].yaw = east;
  w.press(p, button::attack);
  REQUIRE(w.movers().movers().size() == 1);
  // A block in the line of fire stops the next one.
  MovingWorld blocked(row_of_rooms({{0, 128}, {0, 128}, {0, 0, 5}, {0, 128}}, {{}, {46, 5}, {}}));
  const std::size_t q = blocked.add_player(blocked.at(40, 128, 0), east);
  const DVec3 eye = blocked.players.body[q].position_m + DVec3{2, 0, blocked.rules.player_eye_m};
  REQUIRE(blocked.volume.set_block(block_at(eye), BlockId::stone));
  blocked.press(q, button::attack);
  CHECK(blocked.movers().movers().empty());
}

TEST_CASE("a locked door asks for its key, and a key lies on the way", "[world][triggers]") {
  const SectorMap map =
      row_of_rooms({{0, 128}, {0, 128}, {0, 0}, {0, 128}}, {{}, {28}, {}}, {thing_at(192, 200, 13)});
  MovingWorld w(map);
  const std::size_t p = w.add_player(w.at(200, 100, 0), east);
  w.press(p, button::use);
  CHECK(w.movers().movers().empty());
  CHECK(w.count(MoverEventKind::locked) == 1);
  CHECK(w.mechanics.counters().locked == 1);
  w.players.command[p].yaw = north;
  w.players.command[p].forward = 1;
  for (int i = 0; i < 60 && w.mechanics.keys(p) == 0; ++i) w.step();
  CHECK(w.mechanics.keys(p) == key::red);
  CHECK(w.count(MoverEventKind::key_taken) == 1);
  w.players.command[p].forward = 0;
  w.players.command[p].yaw = east;
  w.run(0.5);
  w.press(p, button::use);
  CHECK(w.movers().movers().size() == 1);

  MovingWorld open(map);
  open.rules.keys = KeyRule::ignored;
  const std::size_t q = open.add_player(open.at(200, 100, 0), east);
  open.press(q, button::use);
  CHECK(open.movers().movers().size() == 1);
}

TEST_CASE("a key lies where its marks say, and who plays against others needs none", "[world][triggers]") {
  MapThing red = thing_at(192, 100, 13);
  red.flags |= thing_flag::not_cooperative;
  const SectorMap map = row_of_rooms({{0, 128}, {0, 128}, {0, 0}, {0, 128}}, {{}, {28}, {}}, {red});
  const auto mode = GENERATE(GameMode::cooperative, GameMode::deathmatch, GameMode::teams);
  CAPTURE(mode);
  MovingWorld w(map);
  w.rules.mode = mode;
  const std::size_t p = w.add_player(w.at(200, 100, 0), east);
  w.press(p, button::use);
  const bool against = mode != GameMode::cooperative;
  CHECK((w.mechanics.keys(p) == key::red) == against);
  CHECK((w.mechanics.counters().locked == 0) == against);
  CHECK(w.movers().movers().empty() != against);
}

TEST_CASE("monsters open doors, walk over what Doom lets them, and never a locked door",
          "[world][triggers]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 0}, {0, 128}}, {{1}, {1, 0, true}}));
  const std::size_t m = w.add_monster(MonsterKind::imp, w.at(64, 128, 0), east);
  w.run(6);
  CHECK(w.mechanics.counters().lines >= 1);
  CHECK(w.monsters.body[m].position_m.x > w.at(128, 0, 0).x);

  MovingWorld locked(row_of_rooms({{0, 128}, {0, 0}, {0, 128}}, {{26}, {26, 0, true}}));
  locked.rules.keys = KeyRule::ignored;
  locked.add_monster(MonsterKind::imp, locked.at(64, 128, 0), east);
  locked.run(4);
  CHECK(locked.movers().movers().empty());
  CHECK(locked.mechanics.counters().lines == 0);

  // 88 is theirs too, 120 is the player's alone, 126 theirs alone.
  for (const auto& [special, works] : {std::pair<std::uint16_t, bool>{88, true}, {120, false}}) {
    MovingWorld lift(row_of_rooms({{0, 256}, {0, 256}, {64, 256, 5}}, {{special, 5}, {}}));
    lift.add_monster(MonsterKind::imp, lift.at(90, 128, 0), east);
    lift.run(2);
    CAPTURE(special);
    CHECK((lift.mechanics.counters().lines > 0) == works);
  }
}

TEST_CASE("a teleporter sends from its front to a free place that faces as its landing says",
          "[world][triggers]") {
  const SectorMap map =
      row_of_rooms({{0, 128}, {0, 128}, {32, 160, 5}}, {{97, 5}, {}}, {thing_at(320, 128, 14, 90)});
  MovingWorld w(map);
  const DVec3 landing = w.at(320, 128, 32);
  std::vector<std::size_t> arrived;
  for (int i = 0; i < 8; ++i) {
    const std::size_t p = w.add_player(w.at(110, 128, 0), east);
    w.players.command[p].forward = 1;
    std::size_t sent = 0;
    for (int k = 0; k < 60 && sent == 0; ++k) {
      w.step();
      sent = w.count(MoverEventKind::teleported);
    }
    REQUIRE(sent == 1);
    CHECK(w.players.yaw[p] == north);
    CHECK(length(w.players.body[p].velocity_mps) == 0);
    w.players.command[p] = PlayerCommand{};
    arrived.push_back(p);
    const DVec3 at = w.players.body[p].position_m;
    CHECK_FALSE(space_overlaps(w.space(), w.rules.player, at));
    CHECK(length(xy(at - landing)) < 2.0);
    if (i == 0) CHECK(at == landing);
    for (const std::size_t other : arrived) {
      if (other == p) continue;
      CHECK(length(xy(w.players.body[other].position_m - at)) >= 2 * w.rules.player.radius_m - 1e-9);
    }
  }
  CHECK(w.mechanics.counters().teleports == 8);

  // From behind one walks through.
  MovingWorld back(map);
  const std::size_t p = back.add_player(back.at(160, 128, 0), west);
  back.players.command[p].forward = 1;
  back.run(0.5);
  CHECK(back.mechanics.counters().teleports == 0);
  CHECK(back.players.body[p].position_m.x < back.at(128, 0, 0).x);
}

TEST_CASE("who is sent by using a line has not walked over what lies between", "[world][triggers]") {
  // A teleporter to use, and between it and its landing a line that would open a door.
  SectorMap map = row_of_rooms({{0, 128}, {0, 128}, {0, 128, 5}, {0, 0, 6}}, {{70}, {11, 6}, {}},
                               {thing_at(272, 128, 14)});
  map.specials = SpecialNumbers::zdoom;
  map.lines[0].flags |= line_activation::player_use;
  map.lines[0].args = {0, 5};
  map.lines[1].flags |= line_activation::player_cross;
  map.lines[1].args = {6, 16};
  MovingWorld w(map);
  const std::size_t p = w.add_player(w.at(100, 128, 0), east);
  w.press(p, button::use);
  REQUIRE(w.mechanics.counters().teleports == 1);
  CHECK(w.mechanics.counters().lines == 1);
  CHECK(w.movers().movers().empty());
  // Walked over, it works.
  w.players.command[p].yaw = west;
  w.players.command[p].forward = 1;
  w.run(0.5);
  w.players.command[p].yaw = east;
  w.run(0.5);
  CHECK(w.mechanics.counters().lines == 2);
}

TEST_CASE("who walks in a tunnel under a map sets nothing off in it", "[world][triggers]") {
  MovingWorld w(row_of_rooms({{0, 256}, {0, 256, 5}}, {{88, 5}}));
  const DVec3 from = w.at(100, 128, 0), to = w.at(156, 128, 0);
  const std::int32_t ground = w.map->box().min.z - 4;
  for (auto x = floor_to_int(from.x) - 2; x <= floor_to_int(to.x) + 2; ++x)
    for (const std::int32_t dy : {-1, 0, 1})
      for (const std::int32_t dz : {0, 1, 2})
        REQUIRE(w.volume.set_block({x, floor_to_int(from.y) + dy, ground + dz}, BlockId::air));
  const std::size_t p = w.add_player({from.x, from.y, static_cast<double>(ground)}, east);
  w.players.command[p].forward = 1;
  w.run(0.5);
  CHECK(w.players.body[p].position_m.x > to.x);
  CHECK(w.mechanics.counters().lines == 0);
}

TEST_CASE("an exit leads back to the surface, for everybody who takes it", "[world][triggers]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 128}}, {{11}}));
  for (int i = 0; i < 4; ++i) {
    const std::size_t p = w.add_player(w.at(90, 128, 0), east);
    w.press(p, button::use);
    CHECK(w.count(MoverEventKind::exited) == 1);
    const DVec3 at = w.players.body[p].position_m;
    CHECK(at.z >= w.map->roof_m());
    CHECK_FALSE(space_overlaps(w.space(), w.rules.player, at));
  }
  w.run(1);
  for (std::size_t i = 0; i < 4; ++i) CHECK(w.players.body[i].position_m.z == w.map->roof_m());
}

TEST_CASE("runs with the same inputs end in the same hash", "[world][triggers]") {
  const SectorMap map = row_of_rooms({{0, 128}, {0, 0, 6}, {0, 256}, {96, 256, 5}, {0, 256}},
                                     {{1}, {1, 0, true}, {62, 5}, {88, 5, true}});
  std::uint64_t hashes[2] = {};
  for (std::uint64_t& hash : hashes) {
    MovingWorld w(map);
    for (int i = 0; i < 4; ++i) w.add_player(w.at(30 + 20 * i, 60 + 30 * i, 0), east);
    Rng rng = rng_for(3, 3);
    Hasher all;
    for (int i = 0; i < 60 * 30; ++i) {
      for (std::size_t k = 0; k < 4; ++k) {
        PlayerCommand& c = w.players.command[k];
        const std::uint32_t turn = rng.below(40);
        if (turn == 0) c.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
        c.forward = 1;
        const std::uint32_t use = rng.below(20);
        c.buttons = use == 0 ? button::use : 0;
      }
      w.step();
      all.add(w.hash());
    }
    hash = all.value();
    CHECK(w.mechanics.counters().lines > 3);
  }
  CHECK(hashes[0] == hashes[1]);
}
