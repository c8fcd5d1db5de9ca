#include "world/collide/step.h"

#include "tests/catch.h"
#include "tests/walk_worlds.h"
#include "tests/world/bsp/maps.h"
#include "world/sim/player_move.h"

using namespace ashlar;

namespace {

/// A room with an alcove to the east, 64 units wide between y 96 and 160, its floor and ceiling as asked.
SectorMap room_with_alcove(double floor, double ceiling) {
  testing::MapWriter w;
  const auto room = w.sector(0, 128), alcove = w.sector(floor, ceiling);
  w.map.name = "ALCOVE";
  w.line({0, 256}, {256, 256}, room);
  w.line({256, 256}, {256, 160}, room);
  w.line({256, 160}, {256, 96}, room, alcove);
  w.line({256, 96}, {256, 0}, room);
  w.line({256, 0}, {0, 0}, room);
  w.line({0, 0}, {0, 256}, room);
  w.line({256, 160}, {320, 160}, alcove);
  w.line({320, 160}, {320, 96}, alcove);
  w.line({320, 96}, {256, 96}, alcove);
  return w.map;
}

/// Walks into the alcove from the room's middle, turned off the straight way by so much; where it ends, in
/// map units from the opening, and how high.
DVec2 walk_in(double floor, double ceiling, std::int16_t turn, Solver solver) {
  PlaceOptions options;
  options.doorway = false;
  test::WalkWorld world;
  test::make_map_world(world, testing::must_place(room_with_alcove(floor, ceiling), options), 1);
  const Space space = world.space();
  Rules rules;
  rules.player_solver = solver;
  Body body;
  const DVec2 start = world.map->to_world({200, 128});
  body.position_m = body.last_free_m = {start.x, start.y, world.map->z_to_world(0)};
  body.grounded = 1;
  PlayerCommand command;
  command.forward = 1;
  command.yaw = Turn16{static_cast<std::uint16_t>(turn)};
  for (int tick = 0; tick < 60; ++tick) player_move(space, rules, command, body);
  CHECK(!test::deeper_than(space, rules.player, body.position_m, test::tolerance_m(solver)));
  return {world.map->to_map(xy(body.position_m)).x - 256, world.map->z_to_map(body.position_m.z)};
}

}  // namespace

TEST_CASE("a step is taken into an opening that is lower than a whole step over the body", "[world][step]") {
  const auto solver = GENERATE(Solver::sweep, Solver::correct);
  const auto turn = static_cast<std::int16_t>(GENERATE(0, 2000, -2000, 5000, -5000));
  const double floor = GENERATE(1.0, 8.0, 16.0, 23.5, 24.0);
  const double room = GENERATE(56.0, 57.0, 64.0, 80.0);
  CAPTURE(static_cast<int>(solver), turn, floor, room);
  const DVec2 end = walk_in(floor, floor + room, turn, solver);
  CHECK(end.x > 40);
  CHECK(end.y == Approx(floor).margin(0.1));
}

TEST_CASE("no step leads into an opening that is lower than the body", "[world][step]") {
  const auto solver = GENERATE(Solver::sweep, Solver::correct);
  CAPTURE(static_cast<int>(solver));
  const DVec2 end = walk_in(8, 63.5, 0, solver);
  CHECK(end.x < 0);
  CHECK(end.y == Approx(0).margin(0.1));
}

TEST_CASE("no step leads up by more than the step height", "[world][step]") {
  // A correction's shortest way out of ground that is a little too high is up: it must not add to the step.
  const auto solver = GENERATE(Solver::sweep, Solver::correct);
  const auto turn = static_cast<std::int16_t>(GENERATE(0, 2000, -5000));
  const double floor = GENERATE(24.01, 24.5, 26.0, 27.0, 30.0);
  CAPTURE(static_cast<int>(solver), turn, floor);
  const DVec2 end = walk_in(floor, 120, turn, solver);
  CHECK(end.x < 0);
  CHECK(end.y == Approx(0).margin(0.1));
}
