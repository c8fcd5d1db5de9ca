#include "world/sim/player_move.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/world/voxel_worlds.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

Body standing(DVec3 at) {
  Body body;
  body.position_m = at;
  body.last_free_m = at;
  body.grounded = 1;
  return body;
}

PlayerCommand ahead(Turn16 yaw = Turn16{0}) {
  PlayerCommand command;
  command.forward = 1;
  command.yaw = yaw;
  return command;
}

VoxelVolume flat_floor() {
  return make_volume({-2, -1, -1}, {6, 2, 2}, [](IVec3 b) { return b.z < 0; });
}

}  // namespace

TEST_CASE("a runner over 43 blocks is not pushed sideways or slowed by seams", "[world][sim][player_move]") {
  const VoxelVolume volume = flat_floor();
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = GENERATE(Solver::sweep, Solver::correct);
  rules.walk_speed_mps_max = 4.3;
  Body body = standing({-20.37, 0.21, 0});
  body.velocity_mps = {4.3, 0, 0};
  const double start = body.position_m.x;
  for (int tick = 0; tick < 600; ++tick) {
    player_move(space, rules, ahead(), body);
    REQUIRE(body.grounded == 1);
    REQUIRE(body.position_m.z == 0.0);
  }
  CHECK(body.position_m.x - start == Approx(43).margin(1e-3));
  CHECK(body.position_m.y == Approx(0.21).margin(1e-9));
  CHECK(body.velocity_mps.x == Approx(4.3).margin(1e-9));
}

TEST_CASE("a body at rest does not move by a bit", "[world][sim][player_move]") {
  const VoxelVolume volume = flat_floor();
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = GENERATE(Solver::sweep, Solver::correct);
  Body body = standing({1.1, 2.3, 0});
  const DVec3 start = body.position_m;
  for (int tick = 0; tick < 10000; ++tick) player_move(space, rules, {}, body);
  CHECK(body.position_m == start);
  CHECK(body.grounded == 1);
}

TEST_CASE("a jump clears one block at every tick rate and not two", "[world][sim][player_move]") {
  const VoxelVolume volume = flat_floor();
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = GENERATE(Solver::sweep, Solver::correct);
  rules.tick_rate_hz = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  Body body = standing({0.5, 0.5, 0});
  PlayerCommand jump;
  jump.buttons = button::jump;
  const MoveReport first = player_move(space, rules, jump, body);
  CHECK(first.jumped);
  double top = 0;
  bool landed = false;
  for (int tick = 0; tick < rules.tick_rate_hz && !landed; ++tick) {
    landed = player_move(space, rules, {}, body).landed;
    top = std::max(top, body.position_m.z);
  }
  CHECK(landed);
  CHECK(body.position_m.z == 0.0);
  CHECK(top > 1.0);
  CHECK(top < 1.3);
}
