// What a world takes up again where it ended.
#include "world/sim/kept_state.h"

#include "tests/catch.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Rooms with a lift that goes up and down, and monsters of a map.
WorldSetup rooms() {
  PlaceOptions options;
  options.surface_z = 32;
  // Two barons and a sleeping imp; a perpetual lift in the third room, set off by walking over line 0.
  const std::vector<MapThing> things{thing_at(40, 128, 1), thing_at(200, 60, 3003), thing_at(200, 200, 3001)};
  auto placed = place_map(row_of_rooms({{0, 128}, {0, 128}, {64, 192, 7}}, {{87, 7}, {}}, things), options);
  if (!placed) FAIL(placed.error().line());
  WorldSetup setup;
  setup.maps = {*placed};
  setup.players_max = 2;
  setup.monsters_max = 8;
  setup.monsters = 2;
  setup.rules.monsters_fight = Switch::off;
  return setup;
}

void step(World& world, std::vector<AdminCommand> admin = {}) {
  TickInput input;
  input.admin = admin;
  world.step(input);
}

/// A player walks over the line, so that the lift goes.
void set_off(World& world, const PlacedMap& map) {
  const std::uint32_t token = 1;
  TickInput input;
  input.joins = {&token, 1};
  world.step(input);
  const EntityId id = world.joined()[0].id;
  const DVec2 at = map.to_world({110, 128});
  step(world, {{AdminAction::teleport, id, {at.x, at.y, map.z_to_world(0)}}});
  PlayerInput run{id, {}};
  run.command.forward = 1;
  run.command.yaw = turn_towards({1, 0});
  for (int i = 0; i < 60 && !world.mechanics().in_motion(); ++i) {
    TickInput input2;
    input2.commands = {&run, 1};
    world.step(input2);
  }
}

std::unique_ptr<World> again(WorldSetup setup, const KeptState& state) {
  setup.kept = std::make_shared<const KeptState>(state);
  return std::make_unique<World>(setup);
}

}  // namespace

TEST_CASE("a lift under way, spent lines and hurt monsters are where they were in the next world",
          "[world][sim][kept_state]") {
  const WorldSetup setup = rooms();
  World first(setup);
  REQUIRE(first.monster_count() == 2);
  set_off(first, *setup.maps[0]);
  REQUIRE(first.mechanics().in_motion());
  for (int i = 0; i < 25; ++i) step(first);
  KeptState state;
  first.keep_state(state);
  REQUIRE(state.maps.size() == 1);
  REQUIRE(state.maps[0].movers.size() == 1);
  REQUIRE(state.monsters.size() == 2);
  state.monsters[0].health = 17;  // as fights would have it
  state.monsters[0].position_m.y += 0.5;
  state.monsters.pop_back();  // the other one is dead

  const auto second = again(setup, state);
  CHECK(second->monster_count() == 1);
  CHECK(second->monsters().health[0] == 17);
  CHECK(second->monsters().body[0].position_m == state.monsters[0].position_m);
  CHECK(second->monsters().id[1] == EntityId{0});
  KeptState there;
  second->keep_state(there);
  CHECK(there == state);
  // Without players the lift goes on alike in both.
  const World& other = *second;
  for (int i = 0; i < 120; ++i) {
    step(*second);
    CHECK(other.mechanics().in_motion());
    const double floor_m = other.maps()[0].heights[2].floor_m;
    CHECK(
        (floor_m >= setup.maps[0]->z_to_world(0) - 1e-9 && floor_m <= setup.maps[0]->z_to_world(64) + 1e-9));
  }
  second->keep_state(there);
  CHECK_FALSE(there.maps == state.maps);
}

TEST_CASE("sand that was falling falls on in the next world", "[world][sim][kept_state]") {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.monsters = 0;
  setup.players_max = setup.monsters_max = 4;
  KeptState state;
  World first(setup);
  const IVec3 sand{3, 4, flat_surface_m + 9};
  step(first, {{.action = AdminAction::fill_box, .box = {sand, sand + IVec3{1, 1, 1}}, .id = BlockId::sand}});
  first.keep_state(state);
  REQUIRE(state.falling == std::vector<IVec3>{sand});
  // The store brings the block, here an operator does; that the block is new would let it fall as well.
  setup.make_chunk = [sand](const Terrain& terrain, ChunkCoord at) {
    auto chunk = generate_chunk(terrain, at);
    if (at == chunk_of(sand)) chunk->set_block(local_in_chunk(sand), BlockId::sand);
    return chunk;
  };
  World hangs(setup);
  for (int i = 0; i < 60; ++i) step(hangs);
  CHECK(hangs.space().voxels->block(sand) == BlockId::sand);
  const auto falls = again(setup, state);
  for (int i = 0; i < 60; ++i) step(*falls);
  CHECK(falls->space().voxels->block(sand) == BlockId::air);
  CHECK(falls->space().voxels->block({3, 4, flat_surface_m}) == BlockId::sand);
}

TEST_CASE("what cannot be of this world begins anew, and nothing breaks", "[world][sim][kept_state]") {
  const WorldSetup setup = rooms();
  World first(setup);
  KeptState fresh, state;
  first.keep_state(fresh);
  set_off(first, *setup.maps[0]);
  for (int i = 0; i < 25; ++i) step(first);
  first.keep_state(state);
  const auto comes_out = [&](const KeptState& given) {
    const auto world = again(setup, given);
    KeptState out;
    world->keep_state(out);
    for (int i = 0; i < 10; ++i) step(*world);
    return out;
  };
  REQUIRE(comes_out(state) == state);
  SECTION("another map") {
    ++state.maps[0].map_hash;
    CHECK(comes_out(state).maps == fresh.maps);
  }
  SECTION("heights out of the sector's reach") {
    state.maps[0].heights[2].floor_m += 300;
    CHECK(comes_out(state).maps == fresh.maps);
  }
  SECTION("heights below what the sector ever has") {
    state.maps[0].heights[0].floor_m -= 0.5;
    CHECK(comes_out(state).maps == fresh.maps);
  }
  SECTION("a way that leads out of it") {
    state.maps[0].movers[0].high_m += 50;
    CHECK(comes_out(state).maps == fresh.maps);
  }
  SECTION("a sector that is not there") {
    state.maps[0].movers[0].sector = 77;
    CHECK(comes_out(state).maps == fresh.maps);
  }
  SECTION("lines that are not there") {
    state.maps[0].spent.push_back(0);
    CHECK(comes_out(state).maps == fresh.maps);
  }
  SECTION("monsters of other rows") {
    state.monsters[1].row = 4000;
    CHECK(comes_out(state).monsters == fresh.monsters);
  }
  SECTION("more health than its kind has") {
    state.monsters[0].health = 60000;
    CHECK(comes_out(state).monsters == fresh.monsters);
  }
  SECTION("a kind that is not there") {
    state.monsters[0].kind = MonsterKind{250};
    CHECK(comes_out(state).monsters == fresh.monsters);
  }
  SECTION("twice the same row") {
    state.monsters[1].row = state.monsters[0].row;
    CHECK(comes_out(state).monsters == fresh.monsters);
  }
  SECTION("of a world with other monsters") {
    ++state.monsters_of;
    CHECK(comes_out(state).monsters == fresh.monsters);
  }
}
