#include <cmath>
#include <memory>
#include <vector>

#include "tests/catch.h"
#include "tests/world/part_worlds.h"
#include "world/sim/block_touch.h"
#include "world/sim/player_move.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::test;

// Water, ladders, and what else blocks do to who is in them.

namespace {

/// A basin of water 10 m deep up to z = 0, its bank to the east from x = 8 on, level with it.
VoxelVolume basin(std::shared_ptr<const BlockRegistry> kinds = BlockRegistry::builtin_ptr()) {
  return make_part_volume(std::move(kinds), {-1, -1, -1}, {2, 2, 3}, [](IVec3 b) {
    if (b.z >= 0) return BlockId::air;
    return b.x >= 8 || b.z < -10 ? BlockId::stone : BlockId::water;
  });
}

Body body_at(DVec3 at) {
  Body body;
  body.position_m = body.last_free_m = at;
  return body;
}

void pass(const Space& space, const Rules& rules, const PlayerCommand& command, double seconds, Body& body) {
  for (int i = 0; i < seconds * rules.tick_rate_hz; ++i) player_move(space, rules, command, body);
}

PlayerCommand pressing(std::uint16_t buttons, double forward = 0) {
  PlayerCommand command;
  command.buttons = buttons;
  command.forward = forward;
  return command;
}

}  // namespace

TEST_CASE("who does nothing floats, with the head out of the water", "[world][sim][liquids]") {
  const VoxelVolume volume = basin();
  const Space space{&volume, {}};
  Rules rules;
  rules.tick_rate_hz = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  const double from = GENERATE(-9.0, -1.0, 1.0);
  Body body = body_at({0.5, 0.5, from});
  pass(space, rules, {}, 20, body);
  CHECK(-body.position_m.z / rules.player.height_m == Approx(0.85).margin(0.05));
  CHECK(length(body.velocity_mps) < 0.1);
}

TEST_CASE("a fall into water ends softly and hurts nobody", "[world][sim][liquids]") {
  const VoxelVolume volume = basin();
  const Space space{&volume, {}};
  const Rules rules;
  Body body = body_at({0.5, 0.5, 40});
  double speed_in = 0, landed = 0;
  for (int i = 0; i < 60 * 6; ++i) {
    if (body.position_m.z > 0) speed_in = -body.velocity_mps.z;
    const MoveReport report = player_move(space, rules, {}, body);
    if (report.landed) landed = std::max(landed, report.land_speed_mps);
  }
  CHECK(speed_in > 35);
  CHECK(landed < 10);  // less than after a jump from a roof
}

TEST_CASE("one swims where one looks, up and down, and dives to the ground", "[world][sim][liquids]") {
  const VoxelVolume volume = basin();
  const Space space{&volume, {}};
  const Rules rules;
  Body body = body_at({-20, 0.5, -5});
  pass(space, rules, pressing(0, 1), 3, body);
  CHECK(xy(body.velocity_mps).x == Approx(3).margin(0.2));
  PlayerCommand down = pressing(0, 1);
  down.pitch = Turn16{static_cast<std::uint16_t>(-16000)};
  body = body_at({0.5, 0.5, -3});
  pass(space, rules, down, 1, body);
  CHECK(body.position_m.z < -3.5);
  pass(space, rules, pressing(button::down), 6, body);
  CHECK(body.position_m.z == Approx(-10).margin(0.2));
  pass(space, rules, pressing(button::jump), 6, body);
  CHECK(body.position_m.z > -1.75);
  CHECK(body.position_m.z < 0.5);  // and out of it by swimming nobody flies
}

TEST_CASE("one gets out of the water at a bank", "[world][sim][liquids]") {
  const auto solver = GENERATE(Solver::sweep, Solver::correct);
  const VoxelVolume volume = basin();
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = solver;
  Body body = body_at({4, 0.5, -1.5});
  pass(space, rules, pressing(button::jump, 1), 6, body);
  CHECK(body.position_m.x > 8.5);
  CHECK(body.position_m.z >= 0);
}

TEST_CASE("water stands up to its cell, and only what is in it counts", "[world][sim][liquids]") {
  const VoxelVolume volume = basin();
  const Cylinder shape;
  CHECK(touch_of(volume, shape, {0.5, 0.5, 0}).immersed == 0);
  CHECK(touch_of(volume, shape, {0.5, 0.5, -5}).immersed == 1);
  CHECK(touch_of(volume, shape, {0.5, 0.5, -0.875}).immersed == Approx(0.5));
  CHECK(touch_of(volume, shape, {9, 0.5, 0}).immersed == 0);
  CHECK(touch_of(volume, shape, {5000, 0.5, 0}).immersed == 0);  // not loaded
}

TEST_CASE(
    "what touches a body is found in either of the chunks that it is in, whichever world was asked before",
    "[world][sim][liquids]") {
  const Cylinder shape;
  const std::int32_t wet_z = GENERATE(chunk_size - 1, chunk_size);
  CAPTURE(wet_z);
  const VoxelVolume wet =
      make_part_volume(BlockRegistry::builtin_ptr(), {-1, -1, -1}, {2, 2, 3}, [&](IVec3 b) {
        return b.z == wet_z ? BlockId::water : b.z < chunk_size - 1 ? BlockId::stone : BlockId::air;
      });
  const auto builtin = BlockRegistry::builtin().types();
  std::vector<BlockType> types(builtin.begin(), builtin.end());
  types[static_cast<std::size_t>(BlockId::stone)].friction = 0.25;
  const VoxelVolume slippery =
      make_part_volume(std::make_shared<const BlockRegistry>(types), {-1, -1, -1}, {2, 2, 3},
                       [](IVec3 b) { return b.z < chunk_size - 1 ? BlockId::stone : BlockId::air; });
  const DVec3 feet{0.5, 0.5, chunk_size - 1};
  for (int i = 0; i < 2; ++i) {
    CHECK(touch_of(wet, shape, feet).immersed > 0.3);
    CHECK(touch_of(wet, shape, feet).friction == 1);
    CHECK(touch_of(slippery, shape, feet).immersed == 0);
    CHECK(touch_of(slippery, shape, feet).friction == 0.25);
  }
}

TEST_CASE("a ladder is climbed up, held on to and climbed down", "[world][sim][liquids]") {
  const auto solver = GENERATE(Solver::sweep, Solver::correct);
  CAPTURE(static_cast<int>(solver));
  // A wall 6 m high from x = 4 on, with a ladder before it.
  const VoxelVolume volume =
      make_part_volume(BlockRegistry::builtin_ptr(), {-1, -1, -1}, {2, 2, 2}, [](IVec3 b) {
        if (b.z < 0 || (b.x >= 4 && b.z < 6)) return BlockId::stone;
        return b.x == 3 && b.y == 0 && b.z < 6 ? BlockId::ladder : BlockId::air;
      });
  const Space space{&volume, {}};
  Rules rules;
  rules.player_solver = solver;
  Body body = body_at({1, 0.5, 0});
  body.grounded = 1;
  pass(space, rules, pressing(0, 1), 1.5, body);
  CHECK(body.position_m.z > 1);
  const double height = body.position_m.z;
  pass(space, rules, {}, 3, body);
  CHECK(body.position_m.z == Approx(height).margin(0.1));
  pass(space, rules, pressing(button::down), 0.3, body);
  CHECK(body.position_m.z == Approx(height - 0.9).margin(0.2));
  pass(space, rules, pressing(0, 1), 4, body);
  CHECK(body.position_m.x > 5);  // over the edge
  CHECK(body.position_m.z == Approx(6).margin(1e-6));
  // Without the ladder there is no way up.
  body = body_at({1, 3.5, 0});
  body.grounded = 1;
  pass(space, rules, pressing(button::jump, 1), 4, body);
  CHECK(body.position_m.x < 4);
}

TEST_CASE("ice is slippery, and what one jumps from counts", "[world][sim][liquids]") {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  types[static_cast<std::size_t>(BlockId::glass)].friction = 0.1;
  types[static_cast<std::size_t>(BlockId::brick)].jump = 0;
  const auto kinds = std::make_shared<const BlockRegistry>(types);
  const BlockId floor = GENERATE(BlockId::glass, BlockId::brick, BlockId::stone);
  const VoxelVolume volume = make_part_volume(kinds, {-1, -1, -1}, {2, 2, 2},
                                              [&](IVec3 b) { return b.z < 0 ? floor : BlockId::air; });
  const Space space{&volume, {}};
  const Rules rules;
  Body body = body_at({-20, 0.5, 0});
  body.grounded = 1;
  pass(space, rules, pressing(0, 1), 2, body);
  pass(space, rules, {}, 0.5, body);
  CHECK((length(body.velocity_mps) > 3) == (floor == BlockId::glass));
  pass(space, rules, {}, 5, body);
  double highest = 0;
  for (int i = 0; i < 60; ++i) {
    player_move(space, rules, pressing(button::jump), body);
    highest = std::max(highest, body.position_m.z);
  }
  CHECK((highest > 1) == (floor != BlockId::brick));
}
