// What a world takes up again where it ended.
#include "world/sim/kept_state.h"

#include "tests/catch.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/game.h"
#include "world/sim/player_life.h"
#include "world/sim/projectiles.h"
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

void step_world(World& world, std::vector<AdminCommand> admin = {}) {
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
  step_world(world, {{AdminAction::teleport, id, {at.x, at.y, map.z_to_world(0)}}});
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
  for (int i = 0; i < 25; ++i) step_world(first);
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
    step_world(*second);
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
  step_world(first,
             {{.action = AdminAction::fill_box, .box = {sand, sand + IVec3{1, 1, 1}}, .id = BlockId::sand}});
  first.keep_state(state);
  REQUIRE(state.falling == std::vector<IVec3>{sand});
  // The store brings the block, here an operator does; that the block is new would let it fall as well.
  setup.make_chunk = [sand](const Terrain& terrain, ChunkCoord at) {
    auto chunk = generate_chunk(terrain, at);
    if (at == chunk_of(sand)) chunk->set_block(local_in_chunk(sand), BlockId::sand);
    return chunk;
  };
  World hangs(setup);
  for (int i = 0; i < 60; ++i) step_world(hangs);
  CHECK(hangs.space().voxels->block(sand) == BlockId::sand);
  const auto falls = again(setup, state);
  for (int i = 0; i < 60; ++i) step_world(*falls);
  CHECK(falls->space().voxels->block(sand) == BlockId::air);
  CHECK(falls->space().voxels->block({3, 4, flat_surface_m}) == BlockId::sand);
}

TEST_CASE("what cannot be of this world begins anew, and nothing breaks", "[world][sim][kept_state]") {
  const WorldSetup setup = rooms();
  World first(setup);
  KeptState fresh, state;
  first.keep_state(fresh);
  set_off(first, *setup.maps[0]);
  for (int i = 0; i < 25; ++i) step_world(first);
  first.keep_state(state);
  const auto comes_out = [&](const KeptState& given) {
    const auto world = again(setup, given);
    KeptState out;
    world->keep_state(out);
    for (int i = 0; i < 10; ++i) step_world(*world);
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

namespace {

/// Flat ground for a match of three players.
WorldSetup arena(GameMode mode) {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.monsters = 0;
  setup.players_max = 3;
  setup.monsters_max = 4;
  setup.rules.mode = mode;
  setup.rules.time_limit_s = 60;
  return setup;
}

/// A player joins. @param brings  what it had; null: it is new
EntityId join(World& world, const Returning* brings = nullptr) {
  const std::uint32_t token = brings != nullptr ? brings->token : 1;
  TickInput input;
  input.joins = {&token, 1};
  if (brings != nullptr) input.returning = {brings, 1};
  world.step(input);
  REQUIRE(world.joined().size() == 1);
  return world.joined()[0].id;
}

KeptState state_of(const World& world) {
  KeptState state;
  world.keep_state(state);
  return state;
}

std::size_t in_flight(const World& world) { return world.projectiles().count; }

}  // namespace

TEST_CASE("a match goes on where it was, with its time and scores", "[world][sim][kept_state]") {
  const WorldSetup setup = arena(GameMode::deathmatch);
  World first(setup);
  const EntityId player = join(first);
  for (int i = 0; i < 100; ++i) step_world(first);
  KeptState state = state_of(first);
  CHECK(state.match.phase == MatchPhase::playing);
  CHECK(state.match.left_ticks == 60u * setup.rules.tick_rate_hz - 101);
  state.match.number = 4;
  state.match.team_score = {3, -1, 0, 0};
  KeptScore score = keep_score(first.match(), slot_of(player));
  CHECK(score.match == 1);
  score = {4, 7, 9, 2, 0};

  const auto second = again(setup, state);
  const World& world = *second;
  CHECK(state_of(world) == state);
  const Returning known{5, {}, score, {}};
  const EntityId back = join(*second, &known);
  CHECK(keep_score(world.match(), slot_of(back)) == score);
  CHECK(world.match().left_ticks == state.match.left_ticks - 1);
  // Its score is of another match.
  Returning late{6, {}, score, {}};
  late.score.match = 3;
  const EntityId other = join(*second, &late);
  CHECK(keep_score(world.match(), slot_of(other)) == KeptScore{.match = 4});
}

TEST_CASE("a match by other rules, or of a game that keeps more, is the next one",
          "[world][sim][kept_state]") {
  World first(arena(GameMode::deathmatch));
  join(first);
  KeptState state = state_of(first);
  state.match.number = 4;
  const auto number_in = [&](const WorldSetup& setup) { return again(setup, state)->match().number; };
  CHECK(number_in(arena(GameMode::deathmatch)) == 4);
  CHECK(number_in(arena(GameMode::teams)) == 5);
  CHECK(number_in(arena(GameMode::sandbox)) == 5);
  WorldSetup own = arena(GameMode::deathmatch);
  own.game = [] { return std::make_unique<Game>(); };
  CHECK(number_in(own) == 5);
  // Without a length now an end would never come.
  state.match.phase = MatchPhase::warmup, state.match.left_ticks = 30;
  CHECK(number_in(arena(GameMode::deathmatch)) == 5);
  WorldSetup shorter = arena(GameMode::deathmatch);
  shorter.rules.time_limit_s = 10;
  state.match.phase = MatchPhase::playing, state.match.left_ticks = 50u * shorter.rules.tick_rate_hz;
  CHECK(again(shorter, state)->match().left_ticks == 10u * shorter.rules.tick_rate_hz);
}

TEST_CASE("who comes back in the same match is as well and armed as it was", "[world][sim][kept_state]") {
  World world(arena(GameMode::cooperative));
  const KindSet& kinds = default_kinds();
  Returning brings{5, {}, {.match = 1}, {}};
  PlayerLife& life = brings.life;
  life = {.health = 33,
          .armour = 150,
          .armour_half = 1,
          .arsenal = fresh_arsenal(kinds),
          .kinds_of = world.kinds_hash()};
  life.arsenal.weapons |= 1u << weapon::shotgun;
  life.arsenal.held = life.arsenal.wanted = weapon::shotgun;
  life.arsenal.ammo = {7, 11, 0, 60'000};
  PlayerLife wanted = life;
  wanted.arsenal.ammo[3] = ammo_room(kinds, life.arsenal, AmmoKind::cells);
  const PlayerLife fresh{.health = world.setup().rules.player_health,
                         .arsenal = fresh_arsenal(kinds),
                         .kinds_of = world.kinds_hash()};
  SECTION("all of it") {}
  SECTION("but not in another match") { brings.score.match = 2, wanted = fresh; }
  SECTION("and not from the dead") { life.health = 0, wanted = fresh; }
  SECTION("without weapons of other kinds") {
    ++life.kinds_of;
    wanted.arsenal = fresh.arsenal;
  }
  SECTION("without weapons that there are not") {
    life.arsenal.weapons |= 1u << 23;
    wanted.arsenal = fresh.arsenal;
  }
  SECTION("with what it carries in its hands") {
    life.arsenal.held = weapon::chaingun;
    wanted.arsenal = fresh.arsenal;
  }
  const EntityId player = join(world, &brings);
  CHECK(keep_life(world.players(), slot_of(player), world.kinds_hash()) == wanted);
}

TEST_CASE("projectiles fly on in the next world, nobody's where a player launched them",
          "[world][sim][kept_state]") {
  const WorldSetup setup = arena(GameMode::sandbox);
  KeptState state;
  {
    const World world(setup);
    state = state_of(world);
    REQUIRE(in_flight(world) == 0);
  }
  state.projectiles = {{0, 0, 500, KeptProjectile::nobody, {0, 0, 40}, {3, 0, 0}},
                       {1, 0, 400, KeptProjectile::nobody, {4, 0, 45}, {}}};
  const auto second = again(setup, state);
  REQUIRE(in_flight(*second) == 2);
  CHECK(state_of(*second) == state);
  join(*second);
  for (int i = 0; i < 20; ++i) step_world(*second);
  const KeptState later = state_of(*second);
  REQUIRE(later.projectiles.size() == 2);
  CHECK(later.projectiles[0].life_ticks < 500);
  CHECK(later.projectiles[0].position_m.x > 0.5);
  const auto none = [&](const KeptState& given) { return in_flight(*again(setup, given)) == 0; };
  SECTION("of other kinds") {
    ++state.kinds_of;
    CHECK(none(state));
  }
  SECTION("of a kind that is not there") {
    state.projectiles[1].kind = 200;
    CHECK(none(state));
  }
  SECTION("without a life") {
    state.projectiles[1].life_ticks = 0;
    CHECK(none(state));
  }
  SECTION("faster than anything") {
    state.projectiles[1].velocity_mps = {0, 1e9, 0};
    CHECK(none(state));
  }
  SECTION("with an owner that there cannot be") {
    state.projectiles[1].owner_row = 77;
    CHECK(none(state));
  }
}
