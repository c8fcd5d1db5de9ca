// Blocks where a map's moving parts come over them: what falls or has a timer there does neither, and nothing
// of it is lost or doubled.
#include <cmath>
#include <memory>
#include <vector>

#include "tests/catch.h"
#include "tests/world/compass.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr BlockId bud{block_id_count + 8};

/// The built-in kinds, and a bud without a shape that is stone after half a second.
std::shared_ptr<const BlockRegistry> with_buds() {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  BlockType type;
  type.name = "bud", type.shape = *find_shape("none"), type.opaque = false;
  type.timer_s = 0.5, type.becomes = BlockId::stone;
  types.push_back(type);
  REQUIRE_FALSE(BlockRegistry::check(types).has_value());
  return std::make_shared<const BlockRegistry>(std::move(types));
}

/// A room whose ceiling goes up and down, set off by a player who then stands before it.
struct CrusherWorld {
  CrusherWorld() {
    PlaceOptions options;
    options.surface_z = 32;
    options.doors_open = options.doorway = false;
    map = *place_map(row_of_rooms({{0, 128}, {0, 120, 5}, {0, 128}}, {{77, 5}, {}}, {thing_at(40, 128, 1)}),
                     options);
    setup.maps.push_back(map);
    setup.players_max = 1;
    setup.monsters = setup.monsters_max = 0;
    setup.blocks = with_buds();
    world = std::make_unique<World>(setup);
    const std::uint32_t token = 1;
    TickInput join;
    join.joins = {&token, 1};
    world->step(join);
    PlayerInput walk{world->joined()[0].id, {}};
    teleport(walk.player, 110);
    walk.command.forward = 1, walk.command.yaw = east;
    for (int i = 0; i < 120 && !world->mechanics().in_motion(); ++i) {
      TickInput input;
      input.commands = {&walk, 1};
      world->step(input);
    }
    REQUIRE(world->mechanics().in_motion());
    teleport(walk.player, 40);
  }
  void teleport(EntityId player, double map_x) {
    const DVec2 at = map->to_world({map_x, 128});
    step({{AdminAction::teleport, player, {at.x, at.y, map->z_to_world(0)}}});
  }
  void step(const std::vector<AdminCommand>& admin = {}) {
    TickInput input;
    input.admin = admin;
    world->step(input);
  }
  /// The block in the middle of the crusher's floor, and above it.
  IVec3 under(std::int32_t up = 0) const {
    const DVec2 at = map->to_world({192, 128});
    return {static_cast<std::int32_t>(std::floor(at.x)), static_cast<std::int32_t>(std::floor(at.y)),
            static_cast<std::int32_t>(std::floor(map->z_to_world(0))) + up};
  }
  AdminCommand put(IVec3 at, BlockId id) const {
    AdminCommand command;
    command.action = AdminAction::fill_box;
    command.box = {at, at + IVec3{1, 1, 1}};
    command.id = id;
    return command;
  }
  BlockId block(IVec3 at) const { return world->space().voxels->block(at); }

  WorldSetup setup;
  std::shared_ptr<const PlacedMap> map;
  std::unique_ptr<World> world;
};

}  // namespace

TEST_CASE("sand under a ceiling that comes down falls or stays, whole", "[world][sim][loose_blocks]") {
  CrusherWorld crusher;
  const auto sand = [&] {
    int blocks = 0;
    for (std::int32_t up = -2; up < 6; ++up) blocks += crusher.block(crusher.under(up)) == BlockId::sand;
    return blocks;
  };
  int fell = 0, stayed = 0;
  for (int round = 0; round < 60; ++round) {
    // A column of it on one brick, which goes at another height of the ceiling each time.
    crusher.step({crusher.put(crusher.under(0), BlockId::brick)});
    for (std::int32_t up = 1; up < 4; ++up) crusher.step({crusher.put(crusher.under(up), BlockId::sand)});
    for (int i = 0; i < round % 37 * 5; ++i) crusher.step();
    const int before = sand();
    crusher.step({crusher.put(crusher.under(0), BlockId::air)});
    for (int i = 0; i < 40; ++i) {
      crusher.step();
      REQUIRE(sand() == before);
    }
    (crusher.block(crusher.under(0)) == BlockId::sand ? fell : stayed) += 1;
    for (std::int32_t up = 0; up < 4; ++up)
      for (int i = 0; i < 400 && crusher.block(crusher.under(up)) != BlockId::air; ++i)
        crusher.step({crusher.put(crusher.under(up), BlockId::air)});
  }
  CHECK(fell > 0);
  CHECK(stayed > 0);
}

TEST_CASE("a timer that runs out under a ceiling that came down is over", "[world][sim][block_timers]") {
  CrusherWorld crusher;
  int grew = 0, over = 0;
  for (int round = 0; round < 60; ++round) {
    const IVec3 at = crusher.under(round % 4);
    for (int i = 0; i < 400 && crusher.block(at) != bud; ++i) crusher.step({crusher.put(at, bud)});
    REQUIRE(crusher.block(at) == bud);
    REQUIRE(crusher.world->contents().find(at) != nullptr);
    for (int i = 0; i < 32 + round % 7; ++i) crusher.step();
    CHECK(crusher.world->contents().find(at) == nullptr);
    (crusher.block(at) == BlockId::stone ? grew : over) += 1;
    for (int i = 0; i < 400 && crusher.block(at) != BlockId::air; ++i)
      crusher.step({crusher.put(at, BlockId::air)});
  }
  CHECK(grew > 0);
  CHECK(over > 0);
}

TEST_CASE("a timer of a world that goes on with a map over it is over", "[world][sim][block_timers]") {
  CrusherWorld crusher;
  WorldSetup setup = crusher.setup;
  const IVec3 at = crusher.under(-1);  // the map's floor
  BlockData data;
  data.due = 30;
  setup.contents.push_back({at, data});
  setup.make_chunk = [at](const Terrain& terrain, ChunkCoord where) {
    auto chunk = generate_chunk(terrain, where);
    if (where == chunk_of(at)) chunk->set_block(local_in_chunk(at), bud);
    return chunk;
  };
  World world(setup);
  REQUIRE(world.contents().find(at) != nullptr);
  for (int i = 0; i < 40; ++i) world.step({});
  CHECK(world.contents().find(at) == nullptr);
  CHECK(world.space().voxels->block(at) == bud);
}
