#include "world/sim/mover_bodies.h"

#include "tests/catch.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Every body fits where it is: not under a floor, in a ceiling or in a wall.
void require_all_free(const MovingWorld& w) {
  for (std::size_t i = 0; i < w.players.rows(); ++i) {
    if (!w.players.alive(i)) continue;
    if (space_overlaps(w.space(), w.rules.player, w.players.body[i].position_m))
      FAIL("player " << i << " is in solid at tick " << w.tick << ", z "
                     << w.players.body[i].position_m.z - w.z(0) << " over the map's zero");
  }
  for (std::size_t i = 0; i < w.monsters.rows(); ++i) {
    if (w.monsters.id[i] == EntityId{0}) continue;
    if (space_overlaps(w.space(), traits(w.monsters.kind[i]).shape, w.monsters.body[i].position_m))
      FAIL("monster " << i << " is in solid at tick " << w.tick);
  }
}

}  // namespace

TEST_CASE("a body on a lift rides it up and down exactly, at every tick rate", "[world][mover_bodies]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(10, 20, 35, 60, 128));
  const auto special = static_cast<std::uint16_t>(GENERATE(62, 123, 87));  // lift, fast lift, perpetual lift
  CAPTURE(rate, special);
  MovingWorld w(row_of_rooms({{0, 512}, {160, 512, 5}, {192, 512}}, {{}, {}}), rate);
  const std::size_t rider = w.add_player(w.at(192, 128, 160));
  REQUIRE(start(w, special, 5));
  bool went_down = false, went_up = false;
  double before = w.sector(1).floor_m;
  const DVec2 place = xy(w.players.body[rider].position_m);
  for (int i = 0; i < 14 * rate; ++i) {
    w.step();
    const Body& b = w.players.body[rider];
    // Not a hair off the floor, not a bit sideways: no jitter.
    REQUIRE(b.position_m.z == w.sector(1).floor_m);
    REQUIRE(xy(b.position_m) == place);
    REQUIRE(b.grounded == 1);
    REQUIRE(b.velocity_mps.z == 0);
    went_down = went_down || w.sector(1).floor_m < before;
    went_up = went_up || w.sector(1).floor_m > before;
    before = w.sector(1).floor_m;
  }
  CHECK(went_down);
  CHECK(went_up);
}

TEST_CASE("a body half on a lift stays where the higher floor holds it", "[world][mover_bodies]") {
  MovingWorld w(row_of_rooms({{0, 512}, {96, 512, 5}, {96, 512}}, {{}, {}}), 60);
  // Its disc reaches over the line to the east room.
  const std::size_t body = w.add_player(w.at(252, 128, 96));
  REQUIRE(start(w, 62, 5));
  for (int i = 0; i < 60 * 10; ++i) {
    w.step();
    REQUIRE(w.players.body[body].position_m.z == w.z(96));
    require_all_free(w);
  }
  CHECK(w.players.report[body].recovered == false);
}

TEST_CASE("a closing door turns back from eight bodies at once and harms nobody", "[world][mover_bodies]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(10, 35, 60, 128));
  CAPTURE(rate);
  MovingWorld w(row_of_rooms({{0, 128}, {0, 0, 5}, {0, 128}}, {{}, {}}), rate);
  REQUIRE(start(w, 90, 5));
  w.run(3);  // open
  for (int i = 0; i < 8; ++i) w.add_player(w.at(150 + 28 * (i % 4), 100 + 40 * (i / 4), 0));
  std::size_t reversed = 0;
  std::vector<Body> stood(w.players.body.begin(), w.players.body.begin() + 8);
  for (int i = 0; i < 20 * rate; ++i) {
    w.step();
    reversed += w.count(MoverEventKind::reversed);
    require_all_free(w);
    REQUIRE(w.sector(1).ceiling_m >= w.z(56) - 2 * contact_slop_m);
  }
  CHECK(reversed >= 2);
  for (std::size_t i = 0; i < 8; ++i) CHECK(w.players.body[i].position_m == stood[i].position_m);
  // They leave, and it closes.
  for (std::size_t i = 0; i < 8; ++i) w.players.id[i] = EntityId{0};
  w.run(12);
  CHECK(w.sector(1).ceiling_m == w.z(0));
}

TEST_CASE("a door that only closes waits for whoever stands in it", "[world][mover_bodies]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 120, 5}, {0, 128}}, {{}, {}}), 60);
  const std::size_t body = w.add_player(w.at(192, 128, 0));
  REQUIRE(start(w, 42, 5));
  w.run(10);
  require_all_free(w);
  CHECK(w.sector(1).ceiling_m >= w.z(56));
  CHECK(w.sector(1).ceiling_m < w.z(56) + 70 * map_unit_m / 60 + 1e-9);
  w.players.id[body] = EntityId{0};
  w.run(5);
  CHECK(w.sector(1).ceiling_m == w.z(0));
}

TEST_CASE("a crusher hurts whom it holds nine times a second and lets go on its way up",
          "[world][mover_bodies]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(10, 35, 60, 128));
  CAPTURE(rate);
  MovingWorld w(row_of_rooms({{0, 128}, {0, 120, 5}, {0, 128}}, {{}, {}}), rate);
  w.rules.crush_damage = 0;  // or it would be dead after ten
  const std::size_t body = w.add_player(w.at(192, 128, 0));
  REQUIRE(start(w, 73, 5));
  w.run(3);  // down onto the head
  std::size_t hurt = 0;
  for (int i = 0; i < 4 * rate; ++i) {
    w.step();
    for (const MoverEvent& e : w.mechanics.events())
      if (e.kind == MoverEventKind::crushed) {
        ++hurt;
        CHECK(e.entity == w.players.id[body]);
      }
    require_all_free(w);
  }
  // Every 4/35 s at best; slower ticks round that up to whole ticks.
  CHECK(hurt <= 36);
  CHECK(hurt >= (rate >= 35 ? 28 : 19));
  CHECK(w.mechanics.counters().crushed >= hurt);
  w.players.id[body] = EntityId{0};
  double lowest = 1e9, highest = -1e9;
  for (int i = 0; i < 40 * rate; ++i) {
    w.step();
    lowest = std::min(lowest, w.sector(1).ceiling_m), highest = std::max(highest, w.sector(1).ceiling_m);
  }
  CHECK(lowest == Approx(w.z(8)).margin(35 * map_unit_m / rate));
  CHECK(highest == Approx(w.z(120)).margin(35 * map_unit_m / rate));
}

TEST_CASE("a rising floor lifts who jumps over it and stops under a low ceiling", "[world][mover_bodies]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 96, 5}, {96, 160}}, {{}, {}}), 60);
  const std::size_t body = w.add_player(w.at(192, 128, 0));
  REQUIRE(start(w, 101, 5));  // up to its ceiling
  for (int i = 0; i < 60 * 8; ++i) {
    w.players.command[body].buttons = i % 40 == 0 ? button::jump : 0;
    w.step();
    require_all_free(w);
    REQUIRE(w.players.body[body].position_m.z >= w.sector(1).floor_m);
  }
  // 56 units of body under a ceiling at 96: the floor waits at 40 or just below.
  CHECK(w.sector(1).floor_m <= w.z(40));
  CHECK(w.sector(1).floor_m > w.z(40) - 35 * map_unit_m / 60 - 1e-9);
}

TEST_CASE("a floor that comes up to a sky of its sector shuts nobody into rock who is in the air over it",
          "[world][mover_bodies]") {
  // The court's sky is a door's, 32 units over its floor; its floor rises by 24 and by 24 again.
  MovingWorld w(row_of_rooms({{0, 256}, {0, 32, 5, 0, true}, {0, 256}}, {{3, 5}, {}}));
  const std::size_t p = w.add_player(w.at(192, 128, 0));
  w.players.command[p].buttons = button::jump;
  for (int times = 0; times < 2; ++times) {
    REQUIRE(start(w, 59, 5));
    for (int tick = 0; tick < 120; ++tick) {
      w.step();
      REQUIRE_FALSE(space_overlaps(w.space(), w.rules.player, w.players.body[p].position_m));
    }
  }
  // The floor waits under the sky for as long as somebody is there.
  CHECK(w.sector(1).floor_m < w.sector(1).ceiling_m);
  CHECK_FALSE(w.movers().movers().empty());
}

TEST_CASE("a lift that comes up under a low ceiling turns back from eight bodies at once",
          "[world][mover_bodies]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(10, 35, 60, 128));
  CAPTURE(rate);
  // Up it has 40 units of room: nobody fits, so it comes as far as their heads and goes down again.
  MovingWorld w(row_of_rooms({{0, 256}, {96, 136, 5}, {0, 256}}, {{}, {}}), rate);
  REQUIRE(start(w, 62, 5));
  w.run(1.2);
  REQUIRE(w.sector(1).floor_m == w.z(0));
  for (int i = 0; i < 8; ++i) w.add_player(w.at(150 + 28 * (i % 4), 100 + 40 * (i / 4), 0));
  std::size_t reversed = 0;
  double highest = -1e9;
  for (int i = 0; i < 20 * rate; ++i) {
    w.step();
    reversed += w.count(MoverEventKind::reversed);
    highest = std::max(highest, w.sector(1).floor_m);
    require_all_free(w);
    for (std::size_t k = 0; k < 8; ++k) {
      REQUIRE(w.players.body[k].position_m.z == w.sector(1).floor_m);
      REQUIRE_FALSE(w.players.report[k].recovered);
    }
  }
  CHECK(reversed >= 2);
  CHECK(highest <= w.z(80));
  CHECK(highest > w.z(80) - 140 * map_unit_m / rate - 1e-9);
}

TEST_CASE("a conveyor carries who stands on it at its speed and nobody else", "[world][mover_bodies]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(20, 60, 128));
  CAPTURE(rate);
  // The wall at the south of the first room, 128 units to the west, carries the second room: 4 m, 4.375 m/s.
  SectorMap map = row_of_rooms({{0, 128}, {0, 128, 7}, {0, 128}}, {{}, {}});
  map.lines[2].special = 252, map.lines[2].tag = 7;
  MovingWorld w(map, rate);
  REQUIRE(w.mechanics.maps()[0].plan->conveyors().size() == 1);
  CHECK(w.mechanics.maps()[0].plan->unknown().empty());
  const std::size_t rider = w.add_player(w.at(240, 128, 0));
  const std::size_t aside = w.add_player(w.at(300, 128, 0));
  const std::size_t over = w.add_player(w.at(240, 60, 64));
  w.players.body[over].grounded = 0;
  const DVec3 stood = w.players.body[aside].position_m;
  w.step();
  CHECK(w.players.body[over].velocity_mps.x == 0);
  double fastest = 0;
  for (int i = 0; i < rate * 6 / 10; ++i) {
    w.step();
    fastest = std::max(fastest, -w.players.body[rider].velocity_mps.x);
    require_all_free(w);
  }
  CHECK(fastest == Approx(4.375).margin(1e-9));
  CHECK(w.players.body[rider].position_m.x < w.at(210, 128, 0).x);
  CHECK(w.players.body[aside].position_m == stood);
  // At the end it is off the conveyor and comes to rest.
  w.run(4);
  CHECK(w.players.body[rider].position_m.x < w.at(128, 128, 0).x);
  CHECK(length(w.players.body[rider].velocity_mps) == 0);
}

TEST_CASE("a slow conveyor starts who stands on it, and walkers go at their own pace over it",
          "[world][mover_bodies]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(10, 60, 128));
  // 0.27 m/s to 2.2 m/s: what friction brakes as if at 2 m/s is started by it, too.
  const double units = GENERATE(8.0, 16.0, 64.0);
  CAPTURE(rate, units);
  SectorMap map = row_of_rooms({{0, 128}, {0, 128, 7}, {0, 128}}, {{}, {}});
  // A part of the first room's south wall, to the west, carries the second room.
  MapLine rest = map.lines[2];
  map.vertices.push_back({128 - units, 0});
  map.lines[2].v2 = rest.v1 = static_cast<std::uint32_t>(map.vertices.size() - 1);
  map.lines[2].special = 252, map.lines[2].tag = 7;
  map.lines.push_back(rest);
  const double speed_mps = units * map_unit_m * 35 / 32;

  MovingWorld w(map, rate);
  w.monsters_stand = true;
  const std::size_t rider = w.add_player(w.at(250, 128, 0));
  const std::size_t walker = w.add_player(w.at(140, 200, 0));  // to the east
  const std::size_t monster = w.add_monster(MonsterKind::imp, w.at(225, 60, 0), Turn16{0});
  w.players.command[walker].forward = 1;
  w.run(0.5);
  CHECK(w.players.body[rider].velocity_mps.x == Approx(-speed_mps).margin(1e-9));
  CHECK(w.monsters.body[monster].velocity_mps.x == Approx(-speed_mps).margin(1e-9));
  CHECK(w.players.body[walker].velocity_mps.x == Approx(6 - speed_mps).margin(1e-9));
  const double was = w.players.body[rider].position_m.x;
  w.run(0.5);
  CHECK(w.players.body[rider].position_m.x == Approx(was - 0.5 * speed_mps).margin(1e-6));
  require_all_free(w);
}

TEST_CASE("bodies in crowds on, under and beside movers of every kind are never in solid",
          "[world][mover_bodies]") {
  // Seeded: rooms of random heights, every special that moves something, at its own speed and at random ones,
  // players that run and jump about, monsters that walk, at rates from 10 to 128 Hz.
  const std::uint16_t specials[] = {90, 86, 75, 76, 105, 88,  120, 87, 83, 82, 98,  128, 129, 91,  94,
                                    92, 72, 73, 77, 152, 151, 74,  89, 40, 9,  256, 257, 147, 220, 202};
  constexpr int runs = 20;
  std::uint64_t recoveries = 0, ticks = 0, moved = 0, rides = 0, met = 0;
  for (int run = 0; run < runs; ++run) {
    Rng rng = rng_for(0x5ec70, static_cast<std::uint64_t>(run));
    CAPTURE(run);
    std::vector<Room> rooms;
    std::vector<Divider> dividers;
    for (int i = 0; i < 6; ++i) {
      Room room;
      room.floor = 8.0 * rng.below(16);
      room.ceiling = room.floor + 64 + 8.0 * rng.below(20);
      room.tag = static_cast<std::uint16_t>(1 + i);
      room.sky = rng.below(8) == 0;
      rooms.push_back(room);
      if (i > 0) dividers.push_back({});
    }
    const auto rate = static_cast<std::uint16_t>(10 + rng.below(119));
    MovingWorld w(row_of_rooms(rooms, dividers), rate);
    w.rules.player_solver = Solver::sweep;
    if (run % 2 == 0) w.rules.crush_damage = 0;  // a crowd that stays whole under its crushers
    const std::uint32_t crowd = 1 + rng.below(10);
    for (std::uint32_t i = 0; i < crowd; ++i) {
      const std::uint32_t room = rng.below(6);
      const double x = room * room_units + rng.between(12, room_units - 12);
      const double y = rng.between(12, room_depth_units - 12);
      w.add_player(w.at(x, y, rooms[room].floor), Turn16{static_cast<std::uint16_t>(rng.next_u32())});
    }
    for (int i = 0; i < 3; ++i) {
      const std::uint32_t room = rng.below(6);
      const double x = room * room_units + rng.between(32, room_units - 32);
      const DVec3 base = w.at(x, rng.between(32, 224), rooms[room].floor);
      const auto yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
      w.add_monster(rng.below(2) == 0 ? MonsterKind::imp : MonsterKind::floater, base, yaw);
    }
    require_all_free(w);
    w.after_move = [&] { require_all_free(w); };
    for (int i = 0; i < 6 * rate; ++i) {
      const std::uint32_t chance = rng.below(rate);
      if (chance < 2) {
        const std::uint16_t special = specials[rng.below(std::size(specials))];
        const auto tag = static_cast<std::uint16_t>(1 + rng.below(6));
        start(w, special, tag);
        const double speed_mps = rng.between(0.1, 20);
        for (const Mover& m : w.movers().movers()) {
          if (m.sector + 1u != tag || run % 4 == 0) continue;
          Mover other = m;
          other.speed_mps = speed_mps;
          REQUIRE(const_cast<SectorMovers&>(w.movers()).put(other));
        }
      }
      for (std::uint32_t k = 0; k < crowd; ++k) {
        PlayerCommand& c = w.players.command[k];
        if (rng.below(rate) < 2) c.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
        c.forward = rng.below(4) == 0 ? 0 : 1;
        c.buttons = rng.below(rate) < 2 ? button::jump : 0;
      }
      for (Turn16& yaw : w.monsters.yaw)
        if (rng.below(rate) < 1) yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
      w.step();
      require_all_free(w);
      for (std::uint32_t k = 0; k < crowd; ++k) recoveries += w.players.report[k].recovered ? 1 : 0;
      ++ticks;
      moved += w.movers().movers().empty() ? 0 : 1;
      met += w.count(MoverEventKind::reversed) + w.count(MoverEventKind::crushed);
      for (std::size_t k = 0; k < crowd; ++k)
        for (const Mover& m : w.movers().movers())
          rides += m.plane == Plane::floor && m.moving() && w.players.body[k].grounded != 0 &&
                           w.players.body[k].position_m.z == w.sector(m.sector).floor_m
                       ? 1
                       : 0;
      for (const SectorHeights& s : w.heights[0]) REQUIRE(std::isfinite(s.floor_m + s.ceiling_m));
    }
  }
  CHECK(moved > ticks / 2);
  CHECK(rides > 1000);
  CHECK(met > 100);
  CHECK(recoveries == 0);
}

TEST_CASE("too many touches to list hold the planes of a map still for a tick", "[world][mover_bodies]") {
  MovingWorld w(row_of_rooms({{0, 128}, {0, 120, 5}, {0, 128}}, {{}, {}}), 60);
  std::vector<Body> bodies(600);
  std::vector<MoverBody> list;
  for (Body& b : bodies) {
    b.position_m = w.at(192, 128, 0);
    list.push_back({&b, w.rules.player, EntityId{1}});
  }
  BodiesBySector touching(3, 1);  // room for 272 touches
  touching.mark(1);
  CHECK_FALSE(touching.fill(*w.mechanics.maps()[0].plan, list));
  touching.clear();
  touching.mark(1);
  CHECK(touching.fill(*w.mechanics.maps()[0].plan, std::span(list).first(8)));
  std::size_t n = 0;
  for (std::uint32_t t = touching.first(1); t != BodiesBySector::none; t = touching.next(t))
    CHECK(touching.body(t) == n++);
  CHECK(n == 8);
}
