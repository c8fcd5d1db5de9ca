#include "tests/catch.h"

#include <functional>
#include "tests/world/part_worlds.h"
#include "world/sim/player_move.h"

using namespace ashlar;
using namespace ashlar::test;

// Slabs, stairs and posts under the feet of players.

namespace {

VoxelVolume stair_world(const std::function<BlockId(IVec3)>& block) {
  return make_part_volume(BlockRegistry::builtin_ptr(), {-1, -1, -1}, {2, 2, 2}, block);
}

Body resting_at(DVec3 at) {
  Body body;
  body.position_m = body.last_free_m = at;
  body.grounded = 1;
  return body;
}

PlayerCommand running_east() {
  PlayerCommand command;
  command.forward = 1;
  return command;
}

}  // namespace

TEST_CASE("stairs are climbed without stopping and come down on the ground", "[world][sim][part_steps]") {
  const auto solver = GENERATE(Solver::sweep, Solver::correct);
  CAPTURE(static_cast<int>(solver));
  // Six blocks of stairs, a landing of four, and as many down.
  const VoxelVolume volume = stair_world([](IVec3 b) {
    const std::int32_t up = b.x < 6 ? b.x : b.x < 10 ? 6 : 15 - b.x;
    if (b.z < 0 || (b.x >= 0 && b.x < 16 && b.z < up)) return BlockId::stone;
    if (b.x >= 0 && b.x < 16 && b.z == up && b.x < 6) return BlockId::stone_stairs_east;
    if (b.x >= 10 && b.x < 16 && b.z == up) return BlockId::stone_stairs_west;
    return BlockId::air;
  });
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = solver;
  Body body = resting_at({-3, 0.5, 0});
  double slowest = 10, highest = 0;
  unsigned in_air = 0;
  for (int i = 0; i < 60 * 4; ++i) {
    player_move(space, rules, running_east(), body);
    if (i > 10) slowest = std::min(slowest, length(xy(body.velocity_mps)));
    highest = std::max(highest, body.position_m.z);
    in_air += body.grounded == 0;
  }
  CHECK(slowest > 5.9);
  CHECK(highest == Approx(6));
  CHECK(in_air == 0);
  CHECK(body.position_m.z == Approx(0).margin(1e-9));
  CHECK(body.position_m.x > 19);
}

TEST_CASE("a floor of slabs is as level as one of blocks, and so is one of both",
          "[world][sim][part_steps]") {
  const auto solver = GENERATE(Solver::sweep, Solver::correct);
  const bool mixed = GENERATE(false, true);
  CAPTURE(static_cast<int>(solver), mixed);
  const VoxelVolume volume = stair_world([mixed](IVec3 b) {
    if (b.z < -1) return BlockId::stone;
    if (b.z > -1) return BlockId::air;
    return mixed && ((b.x ^ b.y) & 1) != 0 ? BlockId::stone : BlockId::stone_slab;
  });
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = solver;
  Body body = resting_at({-20, 0.3, mixed ? 0 : -0.5});
  for (int i = 0; i < 60 * 5; ++i) player_move(space, rules, running_east(), body);
  CHECK(body.position_m.y == Approx(0.3).margin(1e-6));
  CHECK(body.position_m.x == Approx(-20 + 30 - 0.3).margin(mixed ? 1.5 : 0.4));
  CHECK(body.grounded == 1);
}

TEST_CASE("a post stops who runs into it, and one at its side is passed", "[world][sim][part_steps]") {
  const auto solver = GENERATE(Solver::sweep, Solver::correct);
  CAPTURE(static_cast<int>(solver));
  const VoxelVolume volume = stair_world([](IVec3 b) {
    if (b.z < 0) return BlockId::stone;
    return b.x == 3 && b.y == 0 && b.z < 2 ? BlockId::wood_post : BlockId::air;
  });
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = solver;
  const auto run = [&](double y) {
    Body body = resting_at({0, y, 0});
    for (int i = 0; i < 120; ++i) player_move(space, rules, running_east(), body);
    return body.position_m;
  };
  CHECK(run(0.5).x == Approx(3.375 - 0.3).margin(0.01));
  CHECK(run(0.5 + 0.125 + 0.3 + 0.01).x > 10);
  CHECK(run(0.5 - 0.125 - 0.3 - 0.01).x > 10);
  const DVec3 beside = run(0.5 + 0.3);  // around its edge
  CHECK(beside.x > 5);
  CHECK(beside.y > 0.92);
}

TEST_CASE("a body that is caught in part of a block gets out and never through it",
          "[world][sim][part_steps]") {
  const BlockId kind = GENERATE(BlockId::stone_slab, BlockId::stone_stairs_north, BlockId::wood_post);
  CAPTURE(static_cast<int>(kind));
  VoxelVolume volume = stair_world([](IVec3 b) { return b.z < 0 ? BlockId::stone : BlockId::air; });
  const Space space{&volume, {}};
  const Rules rules;
  Body body = resting_at({0.5, 0.5, 0});
  player_move(space, rules, {}, body);
  REQUIRE(volume.set_block({0, 0, 0}, kind));
  REQUIRE(space_overlaps(space, rules.player, body.position_m));
  int ticks = 0;
  while (space_overlaps(space, rules.player, body.position_m) && ticks < 60) {
    player_move(space, rules, {}, body);
    ++ticks;
  }
  CHECK(ticks <= 30);
  for (int i = 0; i < 60; ++i) player_move(space, rules, {}, body);
  CHECK(body.grounded == 1);
  CHECK(body.velocity_mps == DVec3{});
  CHECK(body.position_m.z >= 0);
}
