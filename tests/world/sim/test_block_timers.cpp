// Blocks that become others by themselves: growth, explosions, and what of it outlives a world's end.
#include "world/sim/block_timers.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/catch.h"
#include "world/sim/dropped_items.h"
#include "world/sim/ground_generator.h"
#include "world/sim/kept_state.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

using namespace ashlar;

namespace {

constexpr std::int32_t floor_z = flat_surface_m;
constexpr BlockId sprout{block_id_count + 8}, crop{block_id_count + 9}, ice{block_id_count + 10};

/// Beside the built-in kinds: a sprout that is a crop after 2 s, which is stone after 1 s; ice that melts in
/// 1 s.
std::shared_ptr<const BlockRegistry> timed_blocks() {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  BlockType type;
  type.name = "sprout", type.shape = *find_shape("none"), type.opaque = false;
  type.timer_s = 2, type.becomes = crop;
  types.push_back(type);
  type.name = "crop", type.timer_s = 1, type.becomes = BlockId::stone;
  types.push_back(type);
  type = {};
  type.name = "ice", type.drops = BlockId::clay, type.timer_s = 1;
  types.push_back(type);
  REQUIRE_FALSE(BlockRegistry::check(types).has_value());
  return std::make_shared<const BlockRegistry>(std::move(types));
}

WorldSetup timed_world() {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.monsters = 0;
  setup.players_max = setup.monsters_max = 4;
  setup.blocks = timed_blocks();
  return setup;
}

BlockId charge() { return *BlockRegistry::builtin().find("charge"); }
BlockId sapling() { return *BlockRegistry::builtin().find("sapling"); }

AdminCommand fill_with(IVec3 min, IVec3 max, BlockId id, EntityId who = {}) {
  AdminCommand command;
  command.action = AdminAction::fill_box;
  command.player = who;
  command.box = {min, max};
  command.id = id;
  return command;
}

AdminCommand put(IVec3 at, BlockId id, EntityId who = {}) {
  return fill_with(at, at + IVec3{1, 1, 1}, id, who);
}

void step(World& world, int ticks = 1) {
  for (int i = 0; i < ticks; ++i) world.step({});
}

void step_with(World& world, std::vector<AdminCommand> admin) {
  TickInput input;
  input.admin = admin;
  world.step(input);
}

BlockId block_in(const World& world, IVec3 block) { return world.space().voxels->block(block); }

std::size_t lying(const World& world) {
  const auto& ids = world.items().table().id;
  return static_cast<std::size_t>(std::ranges::count_if(ids, [](EntityId id) { return id != EntityId{0}; }));
}

EntityId join(World& world, DVec3 at) {
  const std::uint32_t token = 1;
  TickInput input;
  input.joins = {&token, 1};
  world.step(input);
  const EntityId id = world.joined()[0].id;
  step_with(world, {{AdminAction::teleport, id, at}});
  return id;
}

}  // namespace

TEST_CASE("a block with a timer becomes another in its tick, and that one the next",
          "[world][sim][block_timers]") {
  World world(timed_world());
  const IVec3 at{3, 4, floor_z};
  step_with(world, {put(at, sprout)});
  REQUIRE(world.contents().find(at) != nullptr);
  CHECK(world.contents().find(at)->due == 120);
  step(world, 119);
  CHECK(block_in(world, at) == sprout);
  step(world);
  CHECK(block_in(world, at) == crop);
  REQUIRE(world.applied_edits().size() == 1);
  CHECK(world.applied_edits()[0].who == EntityId{0});
  step(world, 59);
  CHECK(block_in(world, at) == crop);
  step(world);
  CHECK(block_in(world, at) == BlockId::stone);
  CHECK(world.contents().size() == 0);
}

TEST_CASE("a timer ends with its block, and begins anew with the next", "[world][sim][block_timers]") {
  World world(timed_world());
  const IVec3 at{3, 4, floor_z};
  step_with(world, {put(at, sprout)});
  step(world, 60);
  step_with(world, {put(at, BlockId::air), put(at, BlockId::glass)});
  step(world, 120);
  CHECK(block_in(world, at) == BlockId::glass);
  step_with(world, {put(at, BlockId::air), put(at, sprout)});
  const std::uint64_t due = world.contents().find(at)->due;
  step(world, 119);
  CHECK(block_in(world, at) == sprout);
  CHECK(due == world.life_tick());
  // What an operator puts into it is not its timer.
  AdminCommand fill;
  fill.action = AdminAction::fill_block;
  fill.box.min = at;
  fill.data.due = 1;
  step_with(world, {fill});
  CHECK(block_in(world, at) == crop);
}

TEST_CASE("what is generated has no timer", "[world][sim][block_timers]") {
  WorldSetup setup = timed_world();
  const IVec3 at{3, 4, floor_z};
  setup.make_chunk = [at](const Terrain& terrain, ChunkCoord where) {
    auto chunk = generate_chunk(terrain, where);
    if (where == chunk_of(at)) chunk->set_block(local_in_chunk(at), sprout);
    return chunk;
  };
  World world(setup);
  step(world, 300);
  CHECK(block_in(world, at) == sprout);
}

TEST_CASE("a charge takes what can be dug around it, but no protected ground, and leaves nothing lying",
          "[world][sim][block_timers]") {
  WorldSetup setup = timed_world();
  setup.rules.free_blocks = FreeBlocks::no;
  setup.zones = {{{{0, -2, floor_z - 4}, {2, -1, floor_z + 4}}, "shrine"}};
  World world(setup);
  const EntityId who = join(world, {9, 9, floor_z});
  const IVec3 at{0, 0, floor_z};
  step_with(world, {put(at, charge(), who)});
  step(world, 239);
  CHECK(block_in(world, at) == charge());
  step(world);
  std::size_t taken = 0;
  for (std::int32_t x = -5; x <= 5; ++x)
    for (std::int32_t y = -5; y <= 5; ++y)
      for (std::int32_t z = -5; z < 0; ++z) {
        const IVec3 block{x, y, floor_z + z};
        const bool near = x * x + y * y + z * z <= 9;
        const bool kept = y == -2 && x >= 0 && x < 2 && z >= -4;
        CHECK((block_in(world, block) == BlockId::air) == (near && !kept));
        taken += near && !kept ? 1 : 0;
      }
  CHECK(world.applied_edits().size() == taken + 1);
  for (const AppliedEdit& edit : world.applied_edits()) CHECK(edit.who == who);
  CHECK(lying(world) == 0);
}

TEST_CASE("so many explode a tick, and those that others took with them do not",
          "[world][sim][block_timers]") {
  World world(timed_world());
  std::vector<AdminCommand> all;
  for (std::int32_t i = 0; i < 9; ++i) all.push_back(put({-40 + 10 * i, 0, floor_z}, charge()));
  all.push_back(put({-40, 1, floor_z}, charge()));  // beside the first
  step_with(world, all);
  step(world, 239);
  std::vector<int> exploded;
  for (int i = 0; i < 4; ++i) {
    step(world);
    exploded.push_back(static_cast<int>(std::ranges::count_if(
        world.applied_edits(), [](const AppliedEdit& e) { return e.before == charge(); })));
  }
  CHECK(exploded == std::vector<int>{5, 4, 1, 0});  // with the first the one beside it
  CHECK(world.contents().size() == 0);
}

TEST_CASE("a tick looks at no more timers than its bound, and all run out in the end",
          "[world][sim][block_timers]") {
  World world(timed_world());
  step_with(world, {fill_with({0, 0, floor_z}, {16, 16, floor_z + 1}, sprout)});
  step(world, 119);
  std::size_t most = 0, sum = 0;
  for (int i = 0; i < 5; ++i) {
    step(world);
    most = std::max(most, world.applied_edits().size());
    sum += world.applied_edits().size();
  }
  CHECK(most == BlockTimers::fires_per_tick_max);
  CHECK(sum == 256);
}

TEST_CASE("what a body stands in does not grow into it", "[world][sim][block_timers]") {
  World world(timed_world());
  const IVec3 at{3, 4, floor_z};
  step_with(world, {put(at, crop)});
  const EntityId who = join(world, {3.5, 4.5, floor_z});
  step(world, 300);
  CHECK(block_in(world, at) == crop);
  step_with(world, {{AdminAction::teleport, who, {9.5, 9.5, floor_z}}});
  step(world, 61);
  CHECK(block_in(world, at) == BlockId::stone);
}

TEST_CASE("what melts leaves behind what digging it would, in survival", "[world][sim][block_timers]") {
  WorldSetup setup = timed_world();
  setup.rules.free_blocks = GENERATE(FreeBlocks::no, FreeBlocks::yes);
  World world(setup);
  step_with(world, {put({3, 4, floor_z}, ice)});
  step(world, 60);
  CHECK(block_in(world, {3, 4, floor_z}) == BlockId::air);
  CHECK(lying(world) == (setup.rules.free_blocks == FreeBlocks::no ? 1 : 0));
}

TEST_CASE("a timer goes on where it was when its world goes on", "[world][sim][block_timers]") {
  WorldSetup setup = timed_world();
  const IVec3 at{3, 4, floor_z};
  World first(setup);
  step(first, 7);
  step_with(first, {put(at, sapling())});
  step(first, 100);
  setup.age_ticks = first.life_tick();
  first.contents().each([&](IVec3 block, const BlockData& data) { setup.contents.push_back({block, data}); });
  REQUIRE(setup.contents.size() == 1);
  setup.make_chunk = [at](const Terrain& terrain, ChunkCoord where) {
    auto chunk = generate_chunk(terrain, where);
    if (where == chunk_of(at)) chunk->set_block(local_in_chunk(at), sapling());
    return chunk;
  };
  World second(setup);
  CHECK(second.life_tick() == 108);
  step(second, 300 * 60 - 101);
  CHECK(block_in(second, at) == sapling());
  step(second);
  CHECK(block_in(second, at) == BlockId::wood);
}

TEST_CASE("where the ground is not loaded nothing runs out, and all of it as soon as it is there",
          "[world][sim][block_timers]") {
  World world(timed_world());
  const ChunkCoord where{40, 40, 0};
  const auto load = [&](const World& from) {
    auto chunk = from.ground()->make_chunk(where);
    chunk->set_block({1, 2, 9}, sprout);
    std::vector<ReadyChunk> ready;
    ready.push_back({where, std::move(chunk)});
    TickInput input;
    input.chunks_ready = ready;
    world.step(input);
  };
  load(world);
  const IVec3 at{40 * chunk_size + 1, 40 * chunk_size + 2, 9};
  step_with(world, {put(at, BlockId::air), put(at, sprout)});
  TickInput drop;
  drop.chunks_dropped = {&where, 1};
  world.step(drop);
  step(world, 200);
  REQUIRE(world.contents().find(at) != nullptr);
  load(world);
  CHECK(block_in(world, at) == crop);
}
