#include "world/sim/sector_movers.h"

#include "tests/catch.h"
#include "tests/world/sim/moving_rooms.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr std::uint16_t rates_hz[] = {10, 20, 35, 60, 128};

}  // namespace

TEST_CASE("a door opens, waits and closes in the same time at every tick rate", "[world][sector_movers]") {
  const std::uint16_t rate = GENERATE(from_range(std::begin(rates_hz), std::end(rates_hz)));
  CAPTURE(rate);
  // Middle room closed; the lowest ceiling beside it is 120, so it opens to 116.
  MovingWorld w(row_of_rooms({{0, 128}, {0, 0, 5}, {0, 120}}, {{}, {}}), rate);
  REQUIRE(start(w, 90, 5));  // two units a tic, 150 tics open
  const double speed = 70 * map_unit_m, top = 116 * map_unit_m, up_s = top / speed, wait_s = 150.0 / 35;
  double t = 0;
  while (t < 2 * up_s + wait_s + 1) {
    w.step();
    t += w.rules.tick_s();
    const double expected = t <= up_s               ? speed * t
                            : t <= up_s + wait_s    ? top
                            : t < 2 * up_s + wait_s ? top - speed * (t - up_s - wait_s)
                                                    : 0;
    CHECK(w.sector(1).ceiling_m - w.z(0) == Approx(expected).margin(1e-9));
  }
  CHECK(w.sector(1).ceiling_m == w.z(0));
  CHECK(w.movers().movers().empty());
}

TEST_CASE("every kind of mover ends where Doom ends it", "[world][sector_movers]") {
  struct Case {
    std::uint16_t special;
    double floor, ceiling;  // of the middle room after all is done, map units
    double seconds;
  };
  // West: floor 0, ceiling 128. Middle (tag 5): 32 to 96. East: 64 to 160.
  const Case cases[] = {
      {103, 32, 124, 9},  // open door: four under the lowest ceiling beside it
      {50, 32, 32, 9},    // close door
      {63, 32, 32, 99},   // raise door: up, wait, down to the floor
      {42, 32, 32, 9},    // close door, repeatable
      {62, 32, 96, 99},   // lift: back where it was
      {23, 0, 96, 9},     // floor to the lowest
      {45, 64, 96, 9},    // floor to the highest beside it
      {36, 72, 96, 9},    // turbo: eight above the highest
      {18, 64, 96, 9},    // next higher
      {101, 96, 96, 9},   // up to the lowest ceiling, its own here
      {55, 88, 96, 9},    // crushing: eight below
      {58, 56, 96, 9},    // by 24
      {14, 64, 96, 9},    // by 32
      {41, 32, 32, 9},    // ceiling to floor
      {44, 32, 40, 9},    // ceiling to eight above the floor
      {40, 32, 160, 99},  // ceiling up; the floor it asks for as well never starts
      {151, 0, 160, 99},  // ceiling up and floor down
      {140, 96, 96, 99},  // by 512, as far as its ceiling lets it
      {219, 0, 96, 9},    // next lower
      {166, 32, 160, 9},  // ceiling to the highest beside it
  };
  for (const Case& c : cases) {
    CAPTURE(c.special);
    MovingWorld w(row_of_rooms({{0, 128}, {32, 96, 5}, {64, 160}}, {{}, {}}), 35);
    REQUIRE(start(w, c.special, 5));
    CHECK_FALSE(start(w, c.special, 5));  // busy
    w.run(c.seconds);
    CHECK(w.sector(1).floor_m == w.z(c.floor));
    CHECK(w.sector(1).ceiling_m == w.z(c.ceiling));
    CHECK(w.movers().movers().empty());
    CHECK(w.sector(0).floor_m == w.z(0));
    CHECK(w.sector(2).ceiling_m == w.z(160));
  }
}

TEST_CASE("a lift goes down to the lowest floor beside it and stays three seconds",
          "[world][sector_movers]") {
  const std::uint16_t rate = GENERATE(from_range(std::begin(rates_hz), std::end(rates_hz)));
  MovingWorld w(row_of_rooms({{0, 256}, {128, 256, 5}, {64, 256}}, {{}, {}}), rate);
  REQUIRE(start(w, 62, 5));
  const double speed = 140 * map_unit_m, way = 128 * map_unit_m, one_s = way / speed;
  double lowest = 1e9;
  double low_for_s = 0;
  for (double t = 0; t < 2 * one_s + 3 + 0.5; t += w.rules.tick_s()) {
    w.step();
    lowest = std::min(lowest, w.sector(1).floor_m);
    if (w.sector(1).floor_m == w.z(0)) low_for_s += w.rules.tick_s();
  }
  CHECK(lowest == w.z(0));
  CHECK(low_for_s == Approx(3).margin(w.rules.tick_s() + 1e-9));
  CHECK(w.sector(1).floor_m == w.z(128));
}

TEST_CASE("perpetual lifts and crushers go on until they are stopped, and go on again",
          "[world][sector_movers]") {
  MovingWorld w(row_of_rooms({{0, 256}, {32, 256, 5}, {64, 256}}, {{}, {}}), 60);
  REQUIRE(start(w, 87, 5));
  double low = 1e9, high = -1e9;
  for (int i = 0; i < 60 * 30; ++i) {
    w.step();
    low = std::min(low, w.sector(1).floor_m), high = std::max(high, w.sector(1).floor_m);
  }
  CHECK(low == w.z(0));
  CHECK(high == w.z(64));
  REQUIRE(start(w, 89, 5));
  const double held = w.sector(1).floor_m;
  w.run(5);
  CHECK(w.sector(1).floor_m == held);
  CHECK(w.movers().movers().size() == 1);
  REQUIRE(start(w, 87, 5));
  w.run(5);
  CHECK(w.sector(1).floor_m != held);

  REQUIRE(start(w, 73, 5));
  double least = 1e9;
  for (int i = 0; i < 60 * 30; ++i) {
    w.step();
    least = std::min(least, w.sector(1).ceiling_m - w.sector(1).floor_m);
  }
  CHECK(least >= 0);
  REQUIRE(start(w, 74, 5));
  const double ceiling = w.sector(1).ceiling_m;
  w.run(3);
  CHECK(w.sector(1).ceiling_m == ceiling);
}

TEST_CASE("stairs rise one above the other over rooms with the same floor", "[world][sector_movers]") {
  // Fronts look west, so the staircase runs east from the tagged room.
  MovingWorld w(row_of_rooms({{0, 256}, {0, 256, 5}, {0, 256}, {0, 256}, {0, 256}}, {{}, {}, {}, {}}), 60);
  REQUIRE(start(w, 7, 5));
  w.run(10);
  for (int i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(w.sector(static_cast<std::size_t>(i)).floor_m == w.z(8.0 * i));
  }
}

TEST_CASE("a donut lowers its pillar and raises the ring around it", "[world][sector_movers]") {
  // In a row: the pillar is the tagged room, the ring its first neighbour, the outside the room beyond.
  MovingWorld w(row_of_rooms({{64, 256, 5}, {-16, 256}, {8, 256}}, {{}, {}}), 60);
  REQUIRE(start(w, 9, 5));
  w.run(10);
  CHECK(w.sector(0).floor_m == w.z(8));
  CHECK(w.sector(1).floor_m == w.z(8));
  CHECK(w.sector(2).floor_m == w.z(8));
}

TEST_CASE("sectors with a timer close after thirty seconds or open after five minutes",
          "[world][sector_movers]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 96, 0, 10}, {0, 128}, {0, 0, 0, 14}, {0, 128}}, {{}, {}, {}, {}}),
                20);
  w.run(29.9);
  CHECK(w.sector(1).ceiling_m == w.z(96));
  w.run(5);
  CHECK(w.sector(1).ceiling_m == w.z(0));
  CHECK(w.sector(3).ceiling_m == w.z(0));
  w.run(300 - 34.9 + 3);
  CHECK(w.sector(3).ceiling_m == w.z(124));
}

TEST_CASE("planes that are moved by an amount again and again stop within the map's rock",
          "[world][sector_movers]") {
  // Boom's generalised floors and ceilings: by 32 units, fast.
  constexpr std::uint16_t ceiling_up = 0x43d8, floor_up = 0x63d8, floor_down = 0x6398;
  MovingWorld w(row_of_rooms({{0, 128, 5}, {0, 128, 6, 0, true}, {0, 128, 7}}, {{}, {}}));
  std::size_t players[3];
  for (std::size_t i = 0; i < 3; ++i)
    players[i] = w.add_player(w.at((static_cast<double>(i) + 0.5) * room_units, 128, 0));
  for (int times = 0; times < 12; ++times) {
    CAPTURE(times);
    REQUIRE(start(w, ceiling_up, 5));
    REQUIRE(start(w, floor_up, 6));
    REQUIRE(start(w, floor_down, 7));
    for (int tick = 0; tick < 60; ++tick) {
      w.step();
      for (const std::size_t p : players)
        REQUIRE_FALSE(space_overlaps(w.space(), w.rules.player, w.players.body[p].position_m));
    }
    CHECK(w.movers().movers().empty());
  }
  CHECK(w.sector(0).ceiling_m == w.map->highest_ceiling_m());
  CHECK(w.sector(1).floor_m == w.map->roof_m());
  CHECK(w.sector(2).floor_m == w.map->lowest_floor_m());
  // A court that is level with the roof is roof to whoever stands there.
  CHECK(w.players.body[players[1]].position_m.z == w.map->roof_m());
  CHECK(w.players.body[players[2]].position_m.z == w.map->lowest_floor_m());
}

TEST_CASE("the state of movers can be copied, put back and told apart", "[world][sector_movers]") {
  const SectorMap map = row_of_rooms({{0, 128}, {0, 0, 5}, {64, 120, 6}}, {{}, {}});
  MovingWorld a(map, 60), b(map, 60);
  REQUIRE(start(a, 90, 5));
  REQUIRE(start(a, 62, 6));
  a.run(0.5);
  CHECK(a.hash() != b.hash());
  SectorMovers copy = b.movers();
  REQUIRE(copy.assign(a.movers().movers()));
  CHECK(std::equal(copy.movers().begin(), copy.movers().end(), a.movers().movers().begin(),
                   a.movers().movers().end()));

  // From there both go the same way, bit for bit.
  const_cast<SectorMovers&>(b.movers()) = copy;
  b.heights[0] = a.heights[0];
  for (int i = 0; i < 600; ++i) {
    a.step(), b.step();
    REQUIRE(a.hash() == b.hash());
  }

  // What is not a state of this map is refused.
  std::vector<Mover> bad(1);
  bad[0].speed_mps = 1;
  bad[0].sector = 3;
  CHECK_FALSE(copy.assign(bad));
  bad[0].sector = 1;
  CHECK(copy.assign(bad));
  bad[0].speed_mps = std::nan("");
  CHECK_FALSE(copy.assign(bad));
  bad[0].speed_mps = 1;
  bad[0].high_m = std::numeric_limits<double>::infinity();
  CHECK_FALSE(copy.assign(bad));
  bad[0].high_m = 0;
  bad.push_back(bad[0]);  // the same plane twice
  CHECK_FALSE(copy.assign(bad));
}

TEST_CASE("a motion is heard to start, arrive, go on and end", "[world][sector_movers]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 0, 5}, {0, 120}}, {{}, {}}), 60);
  REQUIRE(start(w, 90, 5));
  std::vector<MoverEventKind> heard;
  for (int i = 0; i < 60 * 10; ++i) {
    w.step();
    for (const MoverEvent& e : w.mechanics.events()) {
      heard.push_back(e.kind);
      CHECK(e.where == 1);
      CHECK(e.plane == Plane::ceiling);
    }
  }
  CHECK(heard == std::vector{MoverEventKind::started, MoverEventKind::arrived, MoverEventKind::started,
                             MoverEventKind::arrived});
}

TEST_CASE("a door of sky is rock while it is shut and open to the roof once it opens",
          "[world][sector_movers]") {
  const SectorMap map =
      row_of_rooms({{0, 128, 0, 0, true}, {0, 0, 5, 0, true}, {0, 128, 0, 0, true}}, {{103, 5}, {}});
  MovingWorld w(map);
  const DVec3 inside = w.at(192, 128, 30), west = w.at(64, 128, 30), east = w.at(320, 128, 30);
  CHECK(space_solid(w.space(), inside));
  CHECK(space_overlaps(w.space(), w.rules.player, w.at(192, 128, 0)));
  CHECK_FALSE(space_sees(w.space(), west, east));
  const RayHit wall = space_ray(w.space(), west, {1, 0, 0}, 20);
  REQUIRE(wall.hit());
  CHECK(wall.t_m == Approx(64 * map_unit_m));
  REQUIRE(start(w, 103, 5));
  w.step();
  CHECK_FALSE(space_solid(w.space(), inside));
  CHECK(space_sees(w.space(), west, east));
  // What stands in it keeps it from shutting.
  w.run(3);
  const std::size_t p = w.add_player(w.at(192, 128, 0));
  REQUIRE(start(w, 3, 5));
  w.run(5);
  CHECK(w.sector(1).ceiling_m > w.sector(1).floor_m);
  w.players.id[p] = EntityId{0};
  w.run(5);
  CHECK(w.sector(1).ceiling_m == w.sector(1).floor_m);
  CHECK(space_solid(w.space(), inside));

  // A sky that nothing moves is open whatever its height.
  MovingWorld open(row_of_rooms({{0, 128}, {0, 0, 0, 0, true}}, {{}}));
  CHECK_FALSE(space_solid(open.space(), open.at(192, 128, 30)));
}

TEST_CASE("with nobody in the way a motion foreseen is the motion that happens, bit for bit",
          "[world][sector_movers]") {
  const std::uint64_t seed = GENERATE(range<std::uint64_t>(1, 21));
  CAPTURE(seed);
  Rng rng = rng_for(seed, 5);
  const auto rate = static_cast<std::uint16_t>(10 + rng.below(119));
  MovingWorld w(row_of_rooms({{0, 128}, {0, 96, 1}, {32, 160, 2}, {0, 0, 3}, {64, 256, 4, 0, true}, {0, 128}},
                             {{}, {}, {}, {}, {}}),
                rate);
  constexpr std::uint16_t specials[] = {1,  62, 63, 42, 76, 87, 89, 73, 74, 77, 40,
                                        45, 18, 41, 44, 7,  9,  14, 36, 55, 140};
  SectorMovers alone(w.map->source().sectors.size() > 0 ? 6 : 0);
  std::vector<SectorHeights> heights;
  std::size_t compared = 0;
  for (int round = 0; round < 40; ++round) {
    start(w, specials[rng.below(std::size(specials))], static_cast<std::uint16_t>(1 + rng.below(4)));
    REQUIRE(alone.assign(w.movers().movers()));
    heights = w.heights[0];
    const std::uint32_t ticks = 1 + rng.below(2u * rate);
    for (std::uint32_t t = 0; t < ticks; ++t) {
      w.step();
      alone.advance_alone(*w.map, heights, w.rules.tick_s());
      REQUIRE(heights == w.heights[0]);
      REQUIRE(std::ranges::equal(alone.movers(), w.movers().movers(), same_motion));
      compared += alone.movers().size();
    }
  }
  CHECK(compared > 100);
}

TEST_CASE("a single motion is put in its place or over the one before, and taken away",
          "[world][sector_movers]") {
  SectorMovers movers(4);
  Mover m;
  m.speed_mps = 1;
  for (const std::uint32_t sector : {2u, 0u, 3u}) {
    m.sector = sector;
    REQUIRE(movers.put(m));
  }
  m.sector = 2, m.speed_mps = 7;
  REQUIRE(movers.put(m));
  REQUIRE(movers.movers().size() == 3);
  CHECK(movers.find(2, Plane::floor)->speed_mps == 7);
  CHECK(movers.movers()[0].sector == 0);
  movers.remove(0, Plane::ceiling);  // not there
  movers.remove(0, Plane::floor);
  CHECK(movers.movers().size() == 2);
  CHECK(movers.find(0, Plane::floor) == nullptr);
  m.sector = 4;
  CHECK_FALSE(movers.put(m));
  m.sector = 1, m.left_s = std::nan("");
  CHECK_FALSE(movers.put(m));
  CHECK(movers.movers().size() == 2);
}
