#include "world/sim/loose_blocks.h"

#include "tests/catch.h"
#include "world/sim/block_acts.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

using namespace ashlar;

namespace {

WorldSetup flat_world() {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.monsters = 0;
  setup.players_max = 4;
  setup.monsters_max = 4;
  return setup;
}

AdminCommand fill_command(IVec3 min, IVec3 max, BlockId id) {
  AdminCommand command;
  command.action = AdminAction::fill_box;
  command.box = {min, max};
  command.id = id;
  return command;
}

void step_once(World& world, std::vector<AdminCommand> admin = {}) {
  TickInput input;
  input.admin = admin;
  world.step(input);
}

BlockId block_kind_at(const World& world, IVec3 block) { return world.space().voxels->block(block); }

constexpr std::int32_t ground_z = flat_surface_m;

}  // namespace

TEST_CASE("sand comes down where its ground is taken away, a column at a time",
          "[world][sim][loose_blocks]") {
  World world(flat_world());
  const IVec3 foot{3, 4, ground_z + 5};
  step_once(world, {fill_command(foot, foot + IVec3{1, 1, 1}, BlockId::stone)});
  step_once(world, {fill_command(foot + IVec3{0, 0, 1}, foot + IVec3{1, 1, 4}, BlockId::sand)});
  for (int i = 0; i < 30; ++i) step_once(world);
  CHECK(block_kind_at(world, foot + IVec3{0, 0, 3}) == BlockId::sand);  // it stands on stone
  const std::uint64_t before = world.applied_edits().size();
  CHECK(before == 0);
  step_once(world, {fill_command(foot, foot + IVec3{1, 1, 1}, BlockId::air)});
  int moving_ticks = 0;
  for (int i = 0; i < 120; ++i) {
    step_once(world);
    moving_ticks += !world.applied_edits().empty();
  }
  for (std::int32_t z = 0; z < 3; ++z) CHECK(block_kind_at(world, {3, 4, ground_z + z}) == BlockId::sand);
  CHECK(block_kind_at(world, {3, 4, ground_z + 3}) == BlockId::air);
  CHECK(moving_ticks >= 6);
}

TEST_CASE("sand that is put into the air falls, stone does not", "[world][sim][loose_blocks]") {
  World world(flat_world());
  step_once(world, {fill_command({0, 0, ground_z + 9}, {1, 1, ground_z + 10}, BlockId::gravel),
                    fill_command({2, 0, ground_z + 9}, {3, 1, ground_z + 10}, BlockId::stone)});
  for (int i = 0; i < 60; ++i) step_once(world);
  CHECK(block_kind_at(world, {0, 0, ground_z}) == BlockId::gravel);
  CHECK(block_kind_at(world, {2, 0, ground_z + 9}) == BlockId::stone);
}

TEST_CASE("sand sinks in water, and no water is lost", "[world][sim][loose_blocks]") {
  World world(flat_world());
  step_once(world, {fill_command({0, 0, ground_z}, {1, 1, ground_z + 4}, BlockId::water)});
  step_once(world, {fill_command({0, 0, ground_z + 6}, {1, 1, ground_z + 7}, BlockId::sand)});
  for (int i = 0; i < 60; ++i) step_once(world);
  CHECK(block_kind_at(world, {0, 0, ground_z}) == BlockId::sand);
  for (std::int32_t z = 1; z <= 4; ++z) CHECK(block_kind_at(world, {0, 0, ground_z + z}) == BlockId::water);
}

TEST_CASE("a tick moves no more blocks than its bound, and all come down in the end",
          "[world][sim][loose_blocks]") {
  World world(flat_world());
  step_once(world, {fill_command({0, 0, ground_z + 8}, {16, 16, ground_z + 10}, BlockId::sand)});
  std::size_t most = 0;
  for (int i = 0; i < 60 * 20; ++i) {
    step_once(world);
    most = std::max(most, world.applied_edits().size());
  }
  CHECK(most <= 2 * LooseBlocks::falls_per_tick_max);
  unsigned down = 0;
  for (std::int32_t x = 0; x < 16; ++x)
    for (std::int32_t y = 0; y < 16; ++y)
      for (std::int32_t z = 0; z < 2; ++z)
        down += block_kind_at(world, {x, y, ground_z + z}) == BlockId::sand;
  CHECK(down == 512);
}

TEST_CASE("sand falls into nobody", "[world][sim][loose_blocks]") {
  World world(flat_world());
  const std::uint32_t token = 1;
  TickInput input;
  input.joins = {&token, 1};
  world.step(input);
  REQUIRE(world.joined().size() == 1);
  for (int i = 0; i < 60; ++i) step_once(world);
  const IVec3 head = block_at(world.players().body[0].position_m + DVec3{0, 0, 1.7});
  step_once(world, {fill_command(head + IVec3{0, 0, 2}, head + IVec3{1, 1, 3}, BlockId::sand)});
  for (int i = 0; i < 120; ++i) step_once(world);
  CHECK(block_kind_at(world, head + IVec3{0, 0, 1}) == BlockId::sand);
  CHECK(world.counters().recoveries == 0);
}

TEST_CASE("worlds in which sand falls hash alike, and one that waits otherwise",
          "[world][sim][loose_blocks]") {
  World a(flat_world()), b(flat_world());
  const auto sand = fill_command({0, 0, ground_z + 9}, {3, 3, ground_z + 12}, BlockId::sand);
  for (int i = 0; i < 90; ++i) {
    step_once(a, i == 3 ? std::vector{sand} : std::vector<AdminCommand>{});
    step_once(b, i == 3 ? std::vector{sand} : std::vector<AdminCommand>{});
    REQUIRE(a.hash() == b.hash());
  }
}

TEST_CASE("blocks that hurt take their points, and kill", "[world][sim][loose_blocks]") {
  WorldSetup setup = flat_world();
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  types[static_cast<std::size_t>(BlockId::water)].damage_per_s = 30;
  setup.blocks = std::make_shared<const BlockRegistry>(types);
  setup.rules.tick_rate_hz = GENERATE(std::uint16_t{20}, std::uint16_t{60});
  setup.rules.respawn_s = 60;
  World world(setup);
  const std::uint32_t token = 1;
  TickInput input;
  input.joins = {&token, 1};
  world.step(input);
  for (int i = 0; i < 60; ++i) step_once(world);
  REQUIRE(world.players().health[0] == 100);
  const IVec3 feet = block_at(world.players().body[0].position_m + DVec3{0, 0, 0.5});
  step_once(world, {fill_command(feet - IVec3{3, 3, 0}, feet + IVec3{4, 4, 3}, BlockId::water)});
  for (int i = 1; i < setup.rules.tick_rate_hz; ++i) step_once(world);
  CHECK(world.players().health[0] == Approx(70).margin(2));
  for (int i = 0; i < 3 * setup.rules.tick_rate_hz; ++i) step_once(world);
  CHECK(world.players().health[0] == 0);
}

TEST_CASE("nothing falls into a protected zone or out of one", "[world][sim][loose_blocks]") {
  WorldSetup setup = flat_world();
  setup.zones = {{{{0, 0, ground_z + 2}, {8, 8, ground_z + 6}}, "spawn"}};
  World world(setup);
  const IVec3 above{3, 3, ground_z + 8}, inside{5, 5, ground_z + 5}, beside{12, 3, ground_z + 8};
  for (const IVec3 block : {above, inside, beside})
    step_once(world, {fill_command(block, block + IVec3{1, 1, 1}, BlockId::sand)});
  for (int i = 0; i < 240; ++i) step_once(world);
  CHECK(block_kind_at(world, {3, 3, ground_z + 6}) == BlockId::sand);  // on the zone, as on a floor
  CHECK(block_kind_at(world, {3, 3, ground_z + 5}) == BlockId::air);
  CHECK(block_kind_at(world, {5, 5, ground_z + 2}) == BlockId::sand);  // within it down to its edge
  CHECK(block_kind_at(world, {12, 3, ground_z}) == BlockId::sand);
}
