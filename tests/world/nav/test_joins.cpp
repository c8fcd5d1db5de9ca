// The joins between one way and another: lifts, ladders, water, the stairs of a map.

#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/nav/map_hunt.h"
#include "tests/world/sim/arena.h"
#include "world/nav/block_ways.h"
#include "world/nav/map_rock.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// One that hunts over blocks alone.
struct GroundHunt {
  explicit GroundHunt(const std::function<bool(IVec3)>& block)
      : arena(1, 1, block), navigation(std::span<const MapPlan* const>{}, 1) {
    arena.rules.monsters_fight = Switch::off;
  }
  double comes_within(MonsterKind kind, DVec3 from, DVec3 player, double seconds) {
    arena.add_player(player);
    const std::size_t row = arena.add_monster(kind, from);
    monster_takes_up(arena.rules, arena.monsters, row, arena.players.id[0], player);
    for (int t = 0; t < seconds * 60; ++t) {
      arena.near.fill(arena.players);
      navigation.advance(arena.space(), arena.players, arena.monsters, arena.tick, {});
      const MonsterWish wish = monster_think(arena.space(), arena.rules, arena.players, arena.near,
                                             arena.monsters, row, TickId{arena.tick}, &navigation);
      monster_move(arena.space(), arena.rules, arena.monsters.traits_at(row), wish, arena.monsters.body[row]);
      ++arena.tick;
      const DVec3 d = arena.monsters.body[row].position_m - player;
      if (length(xy(d)) < 2.2 && std::fabs(d.z) < 1.2) return t / 60.0;
    }
    return -1;
  }
  Arena arena;
  Navigation navigation;
};

constexpr std::uint16_t tag = 7;

/// A hall with a wall across it that has two gates, sectors 2 and 3; the near one has the tag.
SectorMap two_gates(double near_units = 256) {
  MapWriter m;
  const auto west = m.sector(0, 256), east = m.sector(0, 256), near_gate = m.sector(0, near_units),
             far_gate = m.sector(0, 256);
  m.map.name = "GATES";
  m.map.sectors[near_gate].tag = tag;
  m.line({0, 0}, {0, 1024}, west), m.line({0, 1024}, {512, 1024}, west);
  // West hall's east side, from north to south: wall, far gate, wall, near gate, wall.
  m.line({512, 1024}, {512, 896}, west);
  m.line({512, 896}, {512, 768}, west, far_gate);
  m.line({512, 768}, {512, 256}, west);
  m.line({512, 256}, {512, 128}, west, near_gate);
  m.line({512, 128}, {512, 0}, west);
  m.line({512, 0}, {0, 0}, west);
  m.line({512, 896}, {544, 896}, far_gate), m.line({544, 768}, {512, 768}, far_gate);
  m.line({512, 256}, {544, 256}, near_gate), m.line({544, 128}, {512, 128}, near_gate);
  m.line({544, 896}, {544, 768}, far_gate, east);
  m.line({544, 256}, {544, 128}, near_gate, east);
  m.line({544, 0}, {544, 128}, east), m.line({544, 256}, {544, 768}, east);
  m.line({544, 896}, {544, 1024}, east), m.line({544, 1024}, {1024, 1024}, east);
  m.line({1024, 1024}, {1024, 0}, east), m.line({1024, 0}, {544, 0}, east);
  return m.map;
}

}  // namespace

TEST_CASE("a monster calls a lift by its line, waits before it, rides up and comes to who stands there",
          "[world][nav][joins]") {
  // Two rooms below with a line between them that calls the lift, the lift, a room above.
  const SectorMap map = row_of_rooms({{0, 256}, {0, 256}, {128, 256, tag}, {128, 256}},
                                     {{88, tag, GENERATE(false, true)}, {}, {}});
  MovingWorld w(map, 60, 4, 1);
  MapHunt hunt(w);
  w.add_player(w.at(450, 128, 128));
  const double from = GENERATE(40.0, 200.0);  // before the line, and between it and the lift
  const std::size_t row = hunt.add(MonsterKind::imp, w.at(from, 128, 0));
  // Some 14 m at 2.9 m/s, a lift of 4 m both ways at 4.4 m/s and its wait of 3 s.
  const double s = hunt.comes_within(row, 30);
  CHECK(s > 5);
  CHECK(s < 20);
}

TEST_CASE("a lift that nobody can call is no way, and one in motion is", "[world][nav][joins]") {
  const SectorMap map = row_of_rooms({{0, 256}, {0, 256}, {128, 256, tag}, {128, 256}}, {{}, {}, {}});
  MovingWorld w(map, 60, 4, 1);
  MapHunt hunt(w);
  w.add_player(w.at(450, 128, 128));
  const std::size_t row = hunt.add(MonsterKind::imp, w.at(200, 128, 0));
  w.monsters.deaf[row] = 1;
  CHECK(hunt.comes_within(row, 4) < 0);
  CHECK_FALSE(hunt.navigation.route(w.space(), w.players, w.monsters, row).way.has_value());
  REQUIRE(start(w, 53, tag));  // up and down for ever
  monster_takes_up(w.rules, w.monsters, row, w.players.id[0], w.players.body[0].position_m);
  CHECK(hunt.comes_within(row, 40) > 0);
}

TEST_CASE("whom a floor that rose walls off goes another way within five seconds", "[world][nav][joins]") {
  MovingWorld w(two_gates(), 60, 4, 1);
  MapHunt hunt(w);
  w.add_player(w.at(800, 192, 0));
  const std::size_t row = hunt.add(MonsterKind::imp, w.at(100, 192, 0));
  for (int t = 0; t < 120; ++t) hunt.step();
  CHECK(w.monsters.body[row].position_m.y == Approx(w.at(0, 192, 0).y).margin(2));
  w.sector(2).floor_m = w.z(200);
  for (int t = 0; t < 5 * 60; ++t) hunt.step();
  CHECK(w.monsters.body[row].position_m.y > w.at(0, 192, 0).y + 4);  // on its way to the other gate
  CHECK(hunt.comes_within(row, 30) > 0);
}

TEST_CASE("who opens no doors goes another way within five seconds when one shuts before him",
          "[world][nav][joins]") {
  const SectorMap map = two_gates(96);
  for (const bool opens : {false, true}) {
    CAPTURE(opens);
    MovingWorld w(map, 60, 4, 1);
    KindSet kinds = default_kinds();
    kinds.monsters[static_cast<std::size_t>(MonsterKind::imp)].opens_doors = opens ? 1 : 0;
    w.monsters.use_kinds(std::make_shared<const KindSet>(std::move(kinds)));
    MapHunt hunt(w);
    w.add_player(w.at(800, 192, 0));
    const std::size_t row = hunt.add(MonsterKind::imp, w.at(100, 192, 0));
    for (int t = 0; t < 120; ++t) hunt.step();
    CHECK(w.monsters.body[row].position_m.y == Approx(w.at(0, 192, 0).y).margin(2));
    REQUIRE(start(w, 42, tag));  // the near gate's ceiling comes down as a door
    for (int t = 0; t < 5 * 60; ++t) hunt.step();
    // The line before the gate is none to open it by: whoever he is, he has to go round.
    CHECK(w.sector(2).ceiling_m == w.sector(2).floor_m);
    CHECK(w.monsters.body[row].position_m.y > w.at(0, 192, 0).y + 4);
    CHECK(hunt.comes_within(row, 30) > 0);
  }
}

TEST_CASE("who climbs goes up a ladder to a player on a wall, others do not", "[world][nav][joins]") {
  for (const MonsterKind kind : {MonsterKind::imp, MonsterKind::brute}) {
    // A plateau 6 m high without any other way up.
    GroundHunt hunt([](IVec3 b) { return b.z < 0 || (b.z < 6 && b.y >= 8); });
    for (std::int32_t z = 0; z < 6; ++z) hunt.arena.volume.set_block({3, 7, z}, BlockId::ladder);
    const double s = hunt.comes_within(kind, {-4.5, -2.5, 0}, {2.5, 14.5, 6}, 25);
    CHECK((s > 0) == (kind == MonsterKind::imp));
  }
}

TEST_CASE("who swims crosses a lake and gets out at its bank", "[world][nav][joins]") {
  KindSet set = default_kinds();
  for (const bool swims : {true, false}) {
    set.monsters[static_cast<std::size_t>(MonsterKind::imp)].swims = swims ? 1 : 0;
    // A lake 6 m deep across the whole world.
    GroundHunt hunt([](IVec3 b) { return b.z < -6 || (b.z < 0 && (b.x < 0 || b.x >= 10)); });
    hunt.arena.monsters.use_kinds(std::make_shared<const KindSet>(set));
    for (std::int32_t x = 0; x < 10; ++x)
      for (std::int32_t y = -64; y < 64; ++y)
        for (std::int32_t z = -6; z < 0; ++z) hunt.arena.volume.set_block({x, y, z}, BlockId::water);
    const double s = hunt.comes_within(MonsterKind::imp, {-6.5, 0.5, 0}, {14.5, 3.5, 0}, 25);
    CHECK((s > 0) == swims);
  }
}

TEST_CASE("a monster leaves its map by the stairs for a player outside, and comes back for one inside",
          "[world][nav][joins]") {
  const SectorMap source = row_of_rooms({{0, 128}, {0, 128}, {0, 128}}, {{}, {}}, {thing_at(64, 128, 1)});
  MovingWorld w(source, 60, 4, 1, false, true);
  REQUIRE_FALSE(w.map->doorways().empty());
  const Doorway doorway = w.map->doorways().front();
  const DVec2 out = xy(doorway.top_m - doorway.foot_m);
  const DVec3 outside = doorway.top_m + DVec3{out.x, out.y, 0} * (6 / length(out));
  const DVec3 inside = w.at(320, 128, 0);
  const bool leaves = GENERATE(true, false);
  MapHunt hunt(w);
  w.add_player(leaves ? outside : inside);
  const std::size_t row = hunt.add(MonsterKind::imp, leaves ? inside : outside);
  CHECK(hunt.comes_within(row, 40) > 0);
}

TEST_CASE("over a map's roof a way leads round what is open to the sky", "[world][nav][joins]") {
  // Three rooms of 4 m by 8 m; the one in the middle is a court, deep under the roof.
  for (const bool court : {false, true}) {
    CAPTURE(court);
    const SectorMap source =
        row_of_rooms({{0, 128}, {0, 128, 0, 0, court}, {0, 128}}, {{}, {}}, {thing_at(64, 128, 1)});
    MovingWorld w(source, 60, 4, 1, false, false);
    const BlockBox& box = w.map->box();
    const double roof = w.map->roof_m(), middle = w.at(192, 128, 0).y;
    BlockSearch search({MapRock{box, open_columns(*w.map)}});
    search.begin(w.volume, {box.max.x + 3.0, std::floor(middle), roof}, {});
    while (!search.whole()) search.advance(w.volume, 1000);
    DVec3 at{box.min.x - 3.0, std::floor(middle), roof};
    const auto first = search.ways().step(at);
    REQUIRE(first.has_value());
    const double straight_m = box.max.x - box.min.x + 6.0;
    CHECK((first->distance_m > straight_m + 1) == court);
    bool over_court = false;
    for (int steps = 0; steps < 200 && length(at - DVec3{box.max.x + 3.0, std::floor(middle), roof}) > 2;
         ++steps) {
      const auto step = search.ways().step(at);
      REQUIRE(step.has_value());
      at = step->to_m;
      CHECK(at.z == roof);
      const DVec2 on_map = w.map->to_map(xy(at));
      over_court = over_court || (on_map.x > room_units - 16 && on_map.x < 2 * room_units + 16 &&
                                  on_map.y > -16 && on_map.y < room_depth_units + 16);
    }
    CHECK(over_court != court);
  }
}
