#include "world/sim/world.h"

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/ground_generator.h"
#include "world/voxel/terrain.h"

using namespace ashlar;

namespace {

std::shared_ptr<const PlacedMap> builtin_placed(IVec2 origin = {0, 0}) {
  Terrain bare;
  bare.seed = 1;
  PlaceOptions options;
  options.origin_block = origin;
  options.surface_z = surface_height(bare, origin.x, origin.y);
  return testing::must_place(testing::builtin_map(), options);
}

WorldSetup small_setup() {
  WorldSetup setup;
  setup.players_max = 8;
  setup.monsters_max = 64;
  setup.monsters = 40;
  setup.maps.push_back(builtin_placed());
  return setup;
}

EntityId join(World& world, std::uint32_t token = 7) {
  TickInput input;
  input.joins = std::span(&token, 1);
  world.step(input);
  REQUIRE(world.joined().size() == 1);
  REQUIRE(world.joined()[0].token == token);
  return world.joined()[0].id;
}

DVec3 position(const World& world, EntityId id) {
  const int row = world.player_row(id);
  REQUIRE(row >= 0);
  return world.players().body[static_cast<std::size_t>(row)].position_m;
}

/// Walks straight towards a point in the plane, jumping when held up. @return true once within 0.4 m.
bool walk_to(World& world, EntityId id, DVec2 target, int ticks_max) {
  DVec2 before = xy(position(world, id));
  for (int t = 0; t < ticks_max; ++t) {
    const DVec2 to = target - xy(position(world, id));
    if (length(to) < 0.4) return true;
    PlayerInput in{id, {}};
    in.command.forward = 1;
    in.command.yaw = turn_towards(to);
    if (t > 10 && length(xy(position(world, id)) - before) < 0.02) in.command.buttons = button::jump;
    before = xy(position(world, id));
    TickInput input;
    input.commands = std::span(&in, 1);
    world.step(input);
    const Space space = world.space();
    REQUIRE_FALSE(space_overlaps(space, world.setup().rules.player, position(world, id)));
  }
  return false;
}

void teleport(World& world, EntityId id, DVec3 to) {
  const AdminCommand command{AdminAction::teleport, id, to};
  TickInput input;
  input.admin = std::span(&command, 1);
  world.step(input);
}

}  // namespace

namespace {

/// From the hills onto the roof, down the doorway's stairs into the rooms, and back the same way.
void walk_in_and_out(const std::shared_ptr<const PlacedMap>& placed) {
  WorldSetup setup;
  setup.players_max = 8;
  setup.monsters = 0;
  setup.maps.push_back(placed);
  World world(setup);
  const PlacedMap& map = *placed;
  REQUIRE_FALSE(map.doorways().empty());
  const Doorway& door = map.doorways()[0];
  const EntityId id = join(world);

  const BlockBox box = map.box();
  const std::int32_t x = box.min.x - 12, y = floor_to_int(door.top_m.y);
  teleport(world, id, {x + 0.5, y + 0.5, surface_height(world.ground()->terrain(), x, y) + 3.0});
  REQUIRE(position(world, id).x < box.min.x - 8);

  CHECK(walk_to(world, id, {box.min.x + 0.5, y + 0.5}, 1200));  // the edge of the roof
  // Around what is open to the sky: a straight way over the roof may lead into a court.
  teleport(world, id, door.top_m + DVec3{0, 0, 0.5});
  for (int t = 0; t < 60; ++t) world.step({});
  CHECK(position(world, id).z == Approx(map.roof_m()).margin(0.1));
  CHECK(walk_to(world, id, xy(door.foot_m), 1200));
  CHECK(position(world, id).z == Approx(door.foot_m.z).margin(0.1));
  CHECK(position(world, id).z < map.roof_m() - 1);
  CHECK(walk_to(world, id, xy(door.top_m), 1200));
  CHECK(position(world, id).z == Approx(map.roof_m()).margin(0.1));
}

}  // namespace

TEST_CASE("a player walks from the terrain onto the roof, down into the rooms and out again",
          "[world][sim][world]") {
  SECTION("of the map that is built in") { walk_in_and_out(builtin_placed()); }
  SECTION("of Freedoom's first map") {
    const auto wads = testing::find_wad("freedoom2.wad");
    if (!wads) return;  // the package freedoom is not installed
    Terrain bare;
    PlaceOptions options;
    options.surface_z = surface_height(bare, 0, 0);
    walk_in_and_out(testing::must_place(testing::must_read(*wads, "MAP01"), options));
  }
}

TEST_CASE("the same setup and inputs give the same hash after every tick", "[world][sim][world]") {
  const WorldSetup setup = small_setup();
  World a(setup), b(setup);
  CHECK(a.hash() == b.hash());
  const EntityId ida = join(a), idb = join(b);
  CHECK(ida == idb);
  Rng rng{5};
  for (int t = 0; t < 600; ++t) {
    PlayerInput in{ida, {}};
    in.command.forward = rng.between(-1, 1);
    in.command.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    in.command.buttons = static_cast<std::uint16_t>(rng.below(2));
    TickInput input;
    input.commands = std::span(&in, 1);
    a.step(input);
    b.step(input);
    REQUIRE(a.hash() == b.hash());
  }
  WorldSetup other = setup;
  other.seed = 2;
  CHECK(World(other).hash() != World(setup).hash());
}

TEST_CASE("a player opens a door of the world, and its height is state", "[world][sim][world]") {
  // Two rooms with a door between them; the door's front looks west.
  const SectorMap map = testing::row_of_rooms({{0, 128}, {0, 0}, {0, 128}}, {{1}, {1, 0, true}},
                                              {testing::thing_at(90, 128, 1)});
  PlaceOptions options;
  options.surface_z = 20;
  options.doors_open = false;
  options.doorway = false;
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = 0;
  setup.maps.push_back(*place_map(map, options));
  World world(setup);
  const EntityId id = join(world);
  const DVec2 before = setup.maps[0]->to_world({100, 128});
  AdminCommand to{AdminAction::teleport, id, {before.x, before.y, setup.maps[0]->z_to_world(0)}};
  TickInput input;
  input.admin = std::span(&to, 1);
  world.step(input);
  const double shut = world.maps()[0].heights[1].ceiling_m;
  PlayerInput in{id, {}};
  in.command.buttons = button::use;
  input = {};
  input.commands = std::span(&in, 1);
  const std::uint64_t hash = world.hash();
  world.step(input);
  CHECK(world.hash() != hash);
  REQUIRE(world.mechanics().maps()[0].movers.movers().size() == 1);
  // It opens, the player walks through, and it closes behind.
  in.command.buttons = 0;
  for (int i = 0; i < 60 * 2; ++i) world.step(input);
  CHECK(world.maps()[0].heights[1].ceiling_m > shut + 3);
  in.command.forward = 1;
  for (int i = 0; i < 60 * 3; ++i) world.step(input);
  CHECK(position(world, id).x > setup.maps[0]->to_world({256, 128}).x);
  for (int i = 0; i < 60 * 6; ++i) world.step(input);
  CHECK(world.maps()[0].heights[1].ceiling_m == shut);
  CHECK(world.counters().recoveries == 0);
}

TEST_CASE("monsters live in the map and on the terrain, move about and stay out of solids",
          "[world][sim][world]") {
  World world(small_setup());
  CHECK(world.monster_count() == 40);
  join(world);
  std::vector<DVec3> start;
  for (const Body& body : world.monsters().body) start.push_back(body.position_m);
  for (int t = 0; t < 600; ++t) world.step({});
  const Space space = world.space();
  int moved = 0, in_map = 0;
  const BlockBox box = world.setup().maps[0]->box();
  for (std::size_t i = 0; i < world.monsters().rows(); ++i) {
    if (world.monsters().id[i] == EntityId{0}) continue;
    const Body& body = world.monsters().body[i];
    CAPTURE(i, body.position_m.x, body.position_m.y, body.position_m.z);
    const bool recovering = body.stuck_ticks != 0;
    CHECK((recovering || !space_overlaps(space, traits(world.monsters().kind[i]).shape, body.position_m)));
    moved += length(xy(body.position_m) - xy(start[i])) > 1.0;
    in_map += body.position_m.x > box.min.x && body.position_m.x < box.max.x && body.position_m.z < box.max.z;
  }
  CHECK(moved >= 10);  // the maps' own stand until they see or hear somebody
  CHECK(in_map >= 5);
}

TEST_CASE("monsters stand where they are while nobody is in the world, and go on when somebody joins",
          "[world][sim][world]") {
  World world(small_setup());
  const auto moved_since = [&world](const std::vector<Body>& before) {
    int moved = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      moved += world.monsters().body[i].position_m != before[i].position_m;
    return moved;
  };
  const std::vector<Body> placed = world.monsters().body;
  for (int t = 0; t < 120; ++t) {
    const std::uint64_t hash = world.hash();
    world.step({});
    REQUIRE(world.hash() != hash);  // the tick is part of it
  }
  CHECK(moved_since(placed) == 0);
  const EntityId id = join(world);
  for (int t = 0; t < 60; ++t) world.step({});
  CHECK(moved_since(placed) >= 20);
  TickInput leave;
  leave.leaves = std::span(&id, 1);
  world.step(leave);
  const std::vector<Body> left = world.monsters().body;
  for (int t = 0; t < 60; ++t) world.step({});
  CHECK(moved_since(left) == 0);
  CHECK(world.monster_count() == 40);
}

TEST_CASE("a lift goes on while nobody is in the world, and carries the monster that sleeps on it",
          "[world][sim][world]") {
  // The line between the first two rooms starts the lift, two rooms on, for ever.
  const SectorMap map =
      testing::row_of_rooms({{0, 128}, {0, 128}, {32, 160, 5}, {0, 128}}, {{53, 5}, {}, {}},
                            {testing::thing_at(60, 128, 1), testing::thing_at(320, 128, 3004)});
  PlaceOptions options;
  options.surface_z = 20;
  options.doors_open = options.doorway = false;
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = 4;
  setup.monsters = 1;
  setup.maps.push_back(*place_map(map, options));
  World world(setup), twin(setup);
  REQUIRE(world.monster_count() == 1);
  for (World* w : {&world, &twin}) {
    const EntityId id = join(*w);
    const DVec2 before = setup.maps[0]->to_world({120, 128});
    teleport(*w, id, {before.x, before.y, setup.maps[0]->z_to_world(0)});
    PlayerInput in{id, {}};
    in.command.forward = 1;
    TickInput input;
    input.commands = std::span(&in, 1);
    for (int i = 0; i < 60 && w->mechanics().maps()[0].movers.movers().empty(); ++i) w->step(input);
    REQUIRE(w->mechanics().maps()[0].movers.movers().size() == 1);
    TickInput leave;
    leave.leaves = std::span(&id, 1);
    w->step(leave);
  }
  CHECK(world.hash() == twin.hash());
  const DVec3 asleep = world.monsters().body[0].position_m;
  double low_m = asleep.z, high_m = asleep.z;
  for (int i = 0; i < 60 * 8; ++i) {
    world.step({});
    const DVec3 now = world.monsters().body[0].position_m;
    REQUIRE(xy(now) == xy(asleep));
    REQUIRE(now.z == Approx(world.maps()[0].heights[2].floor_m).margin(1e-5));
    low_m = std::min(low_m, now.z), high_m = std::max(high_m, now.z);
    twin.step({});
    REQUIRE(world.hash() == twin.hash());  // where it is carried is state, also while it sleeps
  }
  CHECK(high_m - low_m > 0.9);
}

TEST_CASE("monsters look, turn and forget in seconds, whatever the tick rate", "[world][sim][world]") {
  const std::uint16_t rate = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  CAPTURE(rate);
  WorldSetup setup = small_setup();
  setup.rules.tick_rate_hz = rate;
  World world(setup);
  join(world);
  std::vector<Turn16> yaw = world.monsters().yaw;
  int turns = 0;
  for (int t = 0; t < 10 * rate; ++t) {
    world.step({});
    for (std::size_t i = 0; i < yaw.size(); ++i) {
      if (world.monsters().mood[i] != MonsterMood::wander) continue;
      turns += world.monsters().yaw[i] != yaw[i];
      yaw[i] = world.monsters().yaw[i];
    }
  }
  // A heading lasts 1 to 4 seconds, less where something is in the way: those of 40 monsters that wander, in
  // 10 seconds.
  CHECK(turns >= 20);
  CHECK(turns <= 600);
}

TEST_CASE("a monster that sees a player comes near", "[world][sim][world]") {
  WorldSetup setup;
  setup.players_max = 1;
  setup.monsters_max = 64;
  setup.monsters = 64;
  World world(setup);
  const EntityId id = join(world);
  const auto near_count = [&] {
    int n = 0;
    for (std::size_t i = 0; i < world.monsters().rows(); ++i)
      n += length(world.monsters().body[i].position_m - position(world, id)) < 6;
    return n;
  };
  int chasing = 0, nearest = near_count();
  for (int t = 0; t < 1200; ++t) {
    world.step({});
    for (std::size_t i = 0; i < world.monsters().rows(); ++i)
      chasing += world.monsters().mood[i] == MonsterMood::chase;
    nearest = std::max(nearest, near_count());
  }
  CHECK(chasing > 0);
  CHECK(nearest >= 1);
}

TEST_CASE("ids of players who left are not given out again at once", "[world][sim][world]") {
  WorldSetup setup;
  setup.players_max = 2;
  setup.monsters = 0;
  World world(setup);
  const EntityId first = join(world);
  TickInput input;
  input.leaves = std::span(&first, 1);
  world.step(input);
  CHECK(world.player_row(first) == -1);
  CHECK(world.player_count() == 0);
  const EntityId second = join(world);
  CHECK(second != first);
  CHECK(slot_of(second) == slot_of(first));
  CHECK(join(world) != EntityId{0});
  CHECK(join(world) == EntityId{0});  // full
}

TEST_CASE("players start within the circle that is set, and on the ground", "[world][sim][world]") {
  WorldSetup setup = small_setup();
  setup.players_max = 40;
  setup.monsters = 0;
  setup.spawn = {{70, -40}, 12};
  World world(setup);
  for (std::uint32_t token = 0; token < 40; ++token) {
    const EntityId id = join(world, token);
    const DVec2 off = xy(position(world, id)) - setup.spawn.centre_m;
    CHECK(length(off) < 12 + 1.5);  // to the middle of the block, and what bodies push each other
  }
  for (int tick = 0; tick < 60; ++tick) world.step({});
  for (std::size_t row = 0; row < world.players().rows(); ++row)
    CHECK(world.players().body[row].grounded == 1);
}

TEST_CASE("a player without a command stands still and faces where it faced, and that is state",
          "[world][sim][world]") {
  WorldSetup setup = small_setup();
  setup.monsters = 0;
  World world(setup), other(setup);
  const EntityId id = join(world);
  REQUIRE(join(other) == id);
  const auto row = static_cast<std::size_t>(world.player_row(id));
  const PlayerTable& players = world.players();
  const auto step = [id](World& w, Turn16 yaw, Turn16 pitch) {
    PlayerInput in{id, {}};
    in.command.yaw = yaw, in.command.pitch = pitch;
    TickInput input;
    input.commands = std::span(&in, 1);
    w.step(input);
  };
  const Turn16 yaw{12345}, pitch{static_cast<std::uint16_t>(-300)};
  step(world, yaw, pitch), step(other, yaw, pitch);
  CHECK(players.yaw[row] == yaw);
  CHECK(players.pitch[row] == pitch);
  CHECK(world.hash() == other.hash());
  world.step({}), other.step({});
  CHECK(players.command[row] == PlayerCommand{});
  CHECK(players.yaw[row] == yaw);
  CHECK(players.pitch[row] == pitch);
  CHECK(world.hash() == other.hash());
  SECTION("who turns changes the world") { step(world, Turn16{12346}, pitch), step(other, yaw, pitch); }
  SECTION("who looks up changes the world") { step(world, yaw, Turn16{0}), step(other, yaw, pitch); }
  CHECK(world.hash() != other.hash());
  CHECK(players.body[row].position_m == other.players().body[row].position_m);
}

TEST_CASE("what a command may claim to have seen lies within a second of the state that it changes",
          "[world][sim][world]") {
  CHECK(seen_within(TickId{0}, TickId{500}, 60) == TickId{0});  // not known stays not known
  CHECK(seen_within(TickId{499}, TickId{500}, 60) == TickId{499});
  CHECK(seen_within(TickId{500}, TickId{500}, 60) == TickId{500});
  CHECK(seen_within(TickId{501}, TickId{500}, 60) == TickId{500});
  CHECK(seen_within(TickId{0xffffffff}, TickId{500}, 60) == TickId{500});
  CHECK(seen_within(TickId{440}, TickId{500}, 60) == TickId{440});
  CHECK(seen_within(TickId{439}, TickId{500}, 60) == TickId{440});
  CHECK(seen_within(TickId{1}, TickId{30}, 60) == TickId{1});
}
