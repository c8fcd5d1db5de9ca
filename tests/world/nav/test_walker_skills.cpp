// What a kind can do by its data is what its ways lead through.

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/nav/block_hunt.h"
#include "tests/world/nav/map_hunt.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

std::shared_ptr<const KindSet> kinds_with(const std::function<void(MonsterTraits&)>& change) {
  KindSet kinds = default_kinds();
  change(kinds.monsters[static_cast<std::size_t>(MonsterKind::imp)]);
  return std::make_shared<const KindSet>(std::move(kinds));
}

}  // namespace

TEST_CASE("a kind that opens no doors has no way through one that is shut, others have",
          "[world][nav][walker_skills]") {
  for (const bool opens : {true, false}) {
    CAPTURE(opens);
    // A door line is between the second room and the shut third one.
    MovingWorld w(row_of_rooms({{0, 128}, {0, 128}, {0, 0}, {0, 128}}, {{}, {1}, {1, 0, true}}));
    w.monsters.use_kinds(kinds_with([&](MonsterTraits& kind) { kind.opens_doors = opens ? 1 : 0; }));
    MapHunt hunt(w);
    w.add_player(w.at(450, 128, 0));
    const std::size_t row = hunt.add(MonsterKind::imp, w.at(60, 128, 0));
    bool way = false;
    for (int t = 0; t < 60 && !way; ++t) {
      hunt.step();
      way = hunt.navigation.route(w.space(), w.players, w.monsters, row).way.has_value();
    }
    CHECK(way == opens);
    CHECK((hunt.comes_within(row, 20) >= 0) == opens);
  }
}

TEST_CASE("over a line that holds up monsters there is no way for them", "[world][nav][walker_skills]") {
  for (const bool held_up : {true, false}) {
    CAPTURE(held_up);
    SectorMap map = row_of_rooms({{0, 128}, {0, 128}, {0, 128}}, {{}, {}});
    if (held_up) map.lines[1].flags |= line_flag::block_monsters;
    MovingWorld w(map);
    MapHunt hunt(w);
    w.add_player(w.at(320, 128, 0));
    const std::size_t row = hunt.add(MonsterKind::imp, w.at(60, 128, 0));
    bool way = false;
    for (int t = 0; t < 60 && !way; ++t) {
      hunt.step();
      way = hunt.navigation.route(w.space(), w.players, w.monsters, row).way.has_value();
    }
    CHECK(way != held_up);
  }
}

TEST_CASE("a line that holds up monsters within one sector is known to ways, which lead round its end",
          "[world][nav][walker_skills]") {
  enum class Line { none, whole, part };
  for (const Line line : {Line::none, Line::whole, Line::part}) {
    CAPTURE(static_cast<int>(line));
    MapWriter writer;
    writer.map.name = "HALL";
    const auto hall = writer.sector(0, 128);
    writer.ring({{0, 0}, {0, 512}, {768, 512}, {768, 0}}, hall);
    if (line != Line::none)
      writer.line({384, 0}, {384, line == Line::whole ? 512.0 : 384.0}, hall, hall).flags |=
          line_flag::block_monsters;
    MovingWorld w(writer.map);
    MapHunt hunt(w);
    w.add_player(w.at(640, 64, 0));
    const std::size_t row = hunt.add(MonsterKind::imp, w.at(128, 64, 0));
    bool way = false;
    for (int t = 0; t < 60 && !way; ++t) {
      hunt.step();
      way = hunt.navigation.route(w.space(), w.players, w.monsters, row).way.has_value();
    }
    CHECK(way == (line != Line::whole));
    double north = 0;
    bool came = false;
    for (int t = 0; t < 20 * 60 && !came; ++t) {
      hunt.step();
      north = std::max(north, w.map->to_map(xy(w.monsters.body[row].position_m)).y);
      came = hunt.beside(row);
    }
    CHECK(came == (line != Line::whole));
    CHECK((north > 384) == (line == Line::part));
  }
}

TEST_CASE("ways of a kind that minds a drop lead round by what is lower", "[world][nav][walker_skills]") {
  // A terrace of four blocks in the west, and steps down from it 22 m aside.
  const VoxelVolume volume = test::make_volume({-2, -2, -1}, {4, 4, 2}, [](IVec3 b) {
    const std::int32_t height = b.x < 0 ? 4 : b.y >= 20 && b.y < 26 ? 3 - b.x / 2 : 0;
    return b.z < std::max(0, height);
  });
  for (const bool minds : {false, true}) {
    CAPTURE(minds);
    MonsterTraits kind = traits(MonsterKind::imp);
    if (minds) kind.drop_m = 1.5;
    const auto walker = block_walker_of(kind);
    REQUIRE(walker.has_value());
    BlockSearch search;
    search.begin(volume, {10, 0, 0}, *walker);
    while (!search.whole()) search.advance(volume, 1000);
    const auto step = search.ways().step({-9.8, 0.2, 4});
    REQUIRE(step.has_value());
    CHECK((step->distance_m > 40) == minds);
  }
}

TEST_CASE("a kind that leaps a block up has a way onto one, others have none",
          "[world][nav][walker_skills]") {
  for (const bool leaps : {false, true}) {
    CAPTURE(leaps);
    BlockHunt hunt(1, [](IVec3 b) { return b.z < 0 || (b.z == 0 && b.x >= 4); });
    hunt.arena.monsters.use_kinds(kinds_with([&](MonsterTraits& kind) { kind.jump_m = leaps ? 1 : 0; }));
    hunt.player({12, 0, 1});
    const std::size_t row = hunt.add(MonsterKind::imp, {-6, 0, 0});
    CHECK((hunt.comes_within(row, 20) >= 0) == leaps);
  }
}
