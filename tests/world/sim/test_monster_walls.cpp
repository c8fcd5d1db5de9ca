#include <cmath>

#include "tests/catch.h"
#include "tests/world/sim/arena.h"
#include "tests/world/sim/moving_rooms.h"
#include "tests/world/voxel_worlds.h"
#include "world/collide/stepped.h"
#include "world/sim/monster_move.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

namespace {

Body walked(const Space& space, const Rules& rules, MonsterKind kind, int ticks) {
  Body body;
  body.position_m = body.last_free_m = {0.5, 0.5, 0};
  body.grounded = 1;
  MonsterWish wish;
  wish.direction = {1, 0};
  for (int tick = 0; tick < ticks; ++tick) monster_move(space, rules, traits(kind), wish, body);
  return body;
}

}  // namespace

TEST_CASE("a kind whose body counts stops before a narrow gap, another goes through as a point",
          "[world][sim][monster_move]") {
  // A wall with a slit one block wide at y in [0, 1): the shade is 1.9 m wide, the wisp 1 m.
  const VoxelVolume volume = make_volume(
      {-1, -1, -1}, {3, 2, 2}, [](IVec3 b) { return b.z < 0 || (b.x == 4 && b.y != 0) || b.x == 40; });
  const Space space{&volume, {}};
  Rules rules;
  rules.monster_solver = Solver::correct;
  REQUIRE(traits(MonsterKind::shade).body_meets_walls == 0);
  REQUIRE(traits(MonsterKind::brute).body_meets_walls == 1);
  REQUIRE(traits(MonsterKind::brute).shape.radius_m > 0.5);

  CHECK(wall_shape(rules, traits(MonsterKind::shade)).radius_m == point_body.radius_m);
  CHECK(walked(space, rules, MonsterKind::shade, 60).position_m.x > 5);
  CHECK(walked(space, rules, MonsterKind::brute, 60).position_m.x < 4);
  // Swept, the body always counts.
  rules.monster_solver = Solver::sweep;
  CHECK(walked(space, rules, MonsterKind::shade, 60).position_m.x < 4);
}

TEST_CASE("a point walks up to a wall, along it and off a ledge like any body",
          "[world][sim][monster_move]") {
  const double offset = GENERATE(0.0, 1000000.0);
  const auto at = static_cast<std::int32_t>(offset);
  const VoxelVolume volume = make_volume({at / 32 - 1, -1, -1}, {3, 2, 2}, [&](IVec3 b) {
    return b.z < -4 || (b.z < 0 && b.x < at + 8) || b.x >= at + 20;
  });
  const Space space{&volume, {}};
  Rules rules;
  rules.monster_solver = Solver::correct;
  const MonsterTraits& kind = traits(MonsterKind::shade);
  Body body;
  body.position_m = body.last_free_m = {offset + 0.5, 0.5, 0};
  body.grounded = 1;
  MonsterWish wish;
  wish.direction = {0.8, 0.6};
  double pace = 0;
  bool recovered = false;
  for (int tick = 0; tick < 400; ++tick) {
    const DVec3 before = body.position_m;
    recovered = monster_move(space, rules, kind, wish, body).recovered || recovered;
    // On the level until the ledge, and nowhere in a block.
    if (body.position_m.x < offset + 8) CHECK(body.position_m.z == 0);
    REQUIRE_FALSE(volume.solid(block_at(body.position_m + DVec3{0, 0, 1e-6})));
    pace = body.position_m.y - before.y;
  }
  CHECK_FALSE(recovered);
  CHECK(body.position_m.z == -4);
  CHECK(std::fabs(body.position_m.x - offset - 20) < 1e-4);
  CHECK(body.position_m.x < offset + 20);
  CHECK(body.velocity_mps.x == Approx(0).margin(1e-6));
  // Along the wall its speed is what the wall leaves of it.
  CHECK(pace == Approx(kind.speed_mps * 0.6 / 60).margin(1e-6));
}

TEST_CASE("a point climbs no wall that is higher than its step", "[world][sim][monster_move]") {
  // A block's edge is a quarter of a metre over the step: nearer than the way of a slow tick.
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {3, 2, 2}, [](IVec3 b) { return b.z < 0 || (b.x >= 4 && b.z < 1); });
  const Space space{&volume, {}};
  Rules rules;
  rules.monster_solver = Solver::correct;
  rules.tick_rate_hz = GENERATE(std::uint16_t{10}, std::uint16_t{15}, std::uint16_t{60});
  REQUIRE(traits(MonsterKind::shade).step_height_m_max == 0.75);
  const Body end = walked(space, rules, MonsterKind::shade, 2 * rules.tick_rate_hz);
  CHECK(end.position_m.z == 0);
  CHECK(end.position_m.x == Approx(4).margin(1e-4));
}

TEST_CASE("a line that holds up monsters alone holds up those who walk, fly and come aslant",
          "[world][sim][monster_move]") {
  SectorMap map = row_of_rooms({{0, 128}, {0, 128}, {0, 128}}, {{}, {}});
  map.lines[1].flags |= line_flag::block_monsters;
  const auto kind = GENERATE(MonsterKind::imp, MonsterKind::wisp, MonsterKind::brute);
  const Solver solver = GENERATE(Solver::sweep, Solver::correct);
  const std::uint16_t yaw = GENERATE(std::uint16_t{0}, std::uint16_t{6000}, std::uint16_t{60000});
  CAPTURE(kind, solver, yaw);
  MovingWorld w(map);
  w.rules.monster_solver = solver;
  const std::size_t m = w.add_monster(kind, w.at(60, 128, 0), Turn16{yaw});
  const std::size_t p = w.add_player(w.at(60, 60, 0), Turn16{0});
  w.players.command[p].forward = 1;
  double furthest = 0;
  for (int t = 0; t < 400; ++t) {
    w.step();
    furthest = std::max(furthest, w.map->to_map(xy(w.monsters.body[m].position_m)).x);
  }
  const double radius = traits(kind).shape.radius_m * map_units_per_m;
  CHECK(furthest <= 2 * room_units - radius + 1e-6);
  CHECK(furthest > 2 * room_units - radius - 12);
  CHECK(w.map->to_map(xy(w.players.body[p].position_m)).x > 2 * room_units + 60);
  if (yaw == 0) return;
  // Along the line it goes on.
  const double aside = w.map->to_map(xy(w.monsters.body[m].position_m)).y - 128;
  CHECK((yaw < 32768 ? aside : -aside) > 60);
}

TEST_CASE("a kind that goes down a block at a time goes down stairs of blocks",
          "[world][sim][monster_move]") {
  const VoxelVolume volume = make_volume(
      {-1, -1, -1}, {3, 2, 2}, [](IVec3 b) { return b.z < -8 || b.z < -std::clamp(b.x - 4, 0, 6); });
  const Space space{&volume, {}};
  Rules rules;
  rules.monster_solver = GENERATE(Solver::sweep, Solver::correct);
  MonsterTraits kind = traits(MonsterKind::imp);
  kind.drop_m = 1;
  kind.speed_mps = GENERATE(2.0, 6.0);
  Body body;
  body.position_m = body.last_free_m = {0.5, 0.5, 0};
  body.grounded = 1;
  MonsterWish wish;
  wish.direction = {1, 0};
  for (int tick = 0; tick < 600; ++tick) monster_move(space, rules, kind, wish, body);
  CHECK(body.position_m.z == -6);
}

TEST_CASE("a kind that goes down no deep edge stops before it, and others do not",
          "[world][sim][monster_move]") {
  // Two metres down at x = 8.
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {3, 2, 2}, [](IVec3 b) { return b.z < -2 || (b.z < 0 && b.x < 8); });
  const Space space{&volume, {}};
  Rules rules;
  rules.monster_solver = GENERATE(Solver::sweep, Solver::correct);
  MonsterTraits kind = traits(MonsterKind::imp);
  kind.speed_mps = GENERATE(2.0, 12.0);
  const auto goes_to = [&](double drop_m) {
    kind.drop_m = drop_m;
    Body body;
    body.position_m = body.last_free_m = {0.5, 0.5, 0};
    body.grounded = 1;
    MonsterWish wish;
    wish.direction = {1, 0};
    for (int tick = 0; tick < 400; ++tick) monster_move(space, rules, kind, wish, body);
    return body.position_m;
  };
  CAPTURE(rules.monster_solver, kind.speed_mps);
  CHECK(goes_to(1.9).z == 0);
  CHECK(goes_to(1.9).x < 8);
  CHECK(goes_to(1.9).x > 6.5);  // but up to it
  CHECK(goes_to(2).z == -2);
  CHECK(goes_to(monster_drop_any_m).z == -2);
}

TEST_CASE("a kind that leaps gets onto what is no higher than it leaps, if it wants up",
          "[world][sim][monster_move]") {
  const VoxelVolume volume =
      make_volume({-1, -1, -1}, {3, 2, 2}, [](IVec3 b) { return b.z < 0 || (b.z < 2 && b.x >= 4); });
  const Space space{&volume, {}};
  Rules rules;
  rules.monster_solver = GENERATE(Solver::sweep, Solver::correct);
  MonsterTraits kind = traits(MonsterKind::imp);
  const auto height = [&](double jump_m, double climb) {
    kind.jump_m = jump_m;
    Body body;
    body.position_m = body.last_free_m = {0.5, 0.5, 0};
    body.grounded = 1;
    MonsterWish wish;
    wish.direction = {1, 0};
    wish.climb = climb;
    for (int tick = 0; tick < 300; ++tick) monster_move(space, rules, kind, wish, body);
    return body.position_m.z;
  };
  CHECK(height(2, 1) == 2);
  CHECK(height(2, 0) == 0);
  CHECK(height(1, 1) == 0);
  CHECK(height(0, 1) == 0);
}

TEST_CASE("who wanders on a height does not fall off it, but goes down a block",
          "[world][sim][monster_walls][wander]") {
  // 24 m by 24 m, five metres high, with a terrace of one block less around a quarter of it.
  const auto high = [](IVec3 b) { return b.x >= -12 && b.x < 12 && b.y >= -12 && b.y < 12; };
  const auto terrace = [](IVec3 b) { return b.x >= 0 && b.y >= 0; };
  const std::uint16_t rate = GENERATE(std::uint16_t{60}, std::uint16_t{15});
  const MonsterKind kind = GENERATE(MonsterKind::imp, MonsterKind::brute, MonsterKind::crawler);
  CAPTURE(rate, kind);
  constexpr std::size_t count = 12;
  Arena arena(1, count, [&](IVec3 b) { return b.z == 36 || b.z < (high(b) ? terrace(b) ? -1 : 0 : -5); });
  arena.rules.tick_rate_hz = rate;
  arena.add_player({0.5, 0.5, 37});  // over a roof: near, and seen by nobody
  for (std::size_t i = 0; i < count; ++i)
    arena.add_monster(kind,
                      {-9.0 + 2.0 * static_cast<double>(i % 4), -9.0 + 3.0 * static_cast<double>(i / 4), 0});
  bool down = false;
  for (int t = 0; t < 120 * rate; ++t) {
    arena.step();
    for (std::size_t i = 0; i < count; ++i) {
      const Body& body = arena.monsters.body[i];
      REQUIRE(body.position_m.z > -1.01);
      down = down || body.position_m.z < -0.9;
    }
  }
  CHECK(down);
}
