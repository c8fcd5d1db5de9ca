#include "server/host/replicator.h"

#include <algorithm>

#include "server/host/packed_snapshot.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/math/random.h"
#include "world/sim/mechanics.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;
using ashlar::testing::find_wad;
using ashlar::testing::must_place;
using ashlar::testing::must_read;
using ashlar::testing::row_of_rooms;

namespace {

constexpr double radius_m = 64;

std::unique_ptr<World> populated(const SectorMap& map, bool visibility, bool doors_open = true) {
  PlaceOptions options;
  options.surface_z = 20;
  options.visibility = visibility;
  options.doors_open = doors_open;
  WorldSetup setup;
  setup.seed = 3;
  setup.monsters = setup.monsters_max = 200;
  setup.maps.push_back(must_place(map, options));
  return std::make_unique<World>(setup);
}

struct Someone {
  EntityId id;
  DVec3 base;
  Cylinder shape;
};

std::vector<Someone> everyone(const World& world) {
  std::vector<Someone> out;
  const MonsterTable& m = world.monsters();
  for (std::size_t i = 0; i < m.rows(); ++i)
    if (m.id[i] != EntityId{0}) out.push_back({m.id[i], m.body[i].position_m, traits(m.kind[i]).shape});
  return out;
}

/// What is published of a tick, and to whom.
struct Published {
  explicit Published(const World& world) : packed(world.setup().rules.tick_rate_hz, 1) {}
  void gather(const World& world) {
    replicator.gather(world);
    packed.gather(world, replicator.placed());
  }
  /// Whom a viewer there is told of, by id.
  std::vector<EntityId> told(const World& world, DVec3 eye_m, double margin_m) {
    std::vector<EntityId> out;
    for (const PackedWorld::Near& near :
         packed.near(eye_m, radius_m, margin_m, world.maps(), replicator.rooms()))
      for (const MovingRecord& e : packed.frames().entities(packed.frames().blocks()[near.block]))
        out.push_back(e.record.id);
    std::ranges::sort(out);
    return out;
  }
  Replicator replicator;
  PackedWorld packed;
};

/// Looks from everyone's eyes, displaced by less than the margin, at points all over everyone's body.
struct Look {
  int seen = 0, lost = 0, near = 0, left_out = 0;
};
Look look_around(const World& world, Published& published, Rng& rng, double margin_m) {
  Look out;
  const std::vector<Someone> all = everyone(world);
  const Space space = world.space();
  for (const Someone& viewer : all) {
    const DVec3 told = viewer.base + DVec3{0, 0, 1.6};
    const std::vector<EntityId> known = published.told(world, told, margin_m);
    for (const Someone& other : all) {
      const DVec3 way = other.base - told;
      if (dot(way, way) > radius_m * radius_m) continue;
      ++out.near;
      const bool told_of = std::ranges::binary_search(known, other.id);
      out.left_out += told_of ? 0 : 1;
      for (int i = 0; i < 4; ++i) {
        DVec3 eye = told, at = other.base;
        if (i > 0) {
          // In a straight walk from where it was told to be, so never through a wall.
          const DVec2 step =
              heading(Turn16{static_cast<std::uint16_t>(rng.next_u32())}) * (rng.unit() * margin_m);
          eye = told + DVec3{step.x, step.y, 0};
          if (!space_sees(space, told, eye)) eye = told;
          const DVec2 rim = heading(Turn16{static_cast<std::uint16_t>(rng.next_u32())}) *
                            (other.shape.radius_m * rng.unit());
          at = other.base + DVec3{rim.x, rim.y, 0};
        }
        at.z += other.shape.height_m * (0.05 + 0.9 * rng.unit());
        if (!space_sees(space, eye, at)) continue;
        ++out.seen;
        out.lost += told_of ? 0 : 1;
      }
    }
  }
  return out;
}

Look publish_and_look(World& world, int rounds) {
  Published published(world);
  Rng rng = rng_for(61, 0);
  Look all;
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 60; ++i) world.step({});
    published.gather(world);
    const Look one = look_around(world, published, rng, 2);
    all.seen += one.seen, all.lost += one.lost, all.near += one.near, all.left_out += one.left_out;
  }
  return all;
}

}  // namespace

TEST_CASE("nobody whom a viewer can see is left out of its snapshots, and many whom it cannot are",
          "[server][replicator][freedoom]") {
  const auto wads = find_wad("freedoom2.wad");
  if (!wads) {
    WARN("freedoom2.wad is not there: nothing was tested (Debian package freedoom)");
    return;
  }
  const auto name = GENERATE(as<std::string>{}, "MAP01", "MAP15");
  const bool doors_open = GENERATE(true, false);
  if (ashlar::test::slowness > 1 && (doors_open || name == "MAP15")) return;
  const auto world = populated(must_read(*wads, name), true, doors_open);
  const Look look = publish_and_look(*world, ashlar::test::slowness == 1 ? 3 : 1);
  CAPTURE(name, doors_open, look.seen, look.lost, look.near, look.left_out);
  CHECK(look.seen > 1000);
  CHECK(look.lost == 0);
  // MAP01 is small and open; in MAP15 rooms lie behind rooms, and many of them behind doors.
  CHECK(look.left_out > 0);
  if (name == "MAP15") CHECK(look.left_out * 100 > look.near * (doors_open ? 5 : 30));
}

TEST_CASE("without a visibility set distance alone decides what is published", "[server][replicator]") {
  const auto world = populated(testing::builtin_map(), false);
  const Look look = publish_and_look(*world, 1);
  CHECK(look.near > 1000);
  CHECK(look.left_out == 0);
}

// Motions of floors and ceilings are told until they are acknowledged, and again when they go otherwise.

namespace {

/// A door between two rooms that a player opens, and clients that are told of it.
struct DoorScene {
  DoorScene() {
    PlaceOptions options;
    options.surface_z = 32;
    auto placed = place_map(row_of_rooms({{0, 128}, {0, 0}, {0, 128}}, {{1}, {1, 0, true}}), options);
    if (!placed) FAIL(placed.error().line());
    map = *placed;
    WorldSetup setup;
    setup.maps = {map};
    setup.players_max = 1;
    setup.monsters = 0, setup.monsters_max = 1;
    world = std::make_unique<World>(setup);
    const std::uint32_t token = 1;
    TickInput in;
    in.joins = {&token, 1};
    world->step(in);
    player = world->joined()[0].id;
    const DVec2 at = map->to_world({100, 128});
    const AdminCommand put{AdminAction::teleport, player, {at.x, at.y, map->z_to_world(0)}};
    TickInput moved;
    moved.admin = {&put, 1};
    world->step(moved);
  }
  void step(bool uses = false) {
    PlayerInput input{player, {}};
    if (uses) input.command.buttons = button::use;
    TickInput in;
    in.commands = {&input, 1};
    world->step(in);
    replicator.gather(*world);
    packed.gather(*world, replicator.placed());
  }
  /// @return how many motions its snapshot of the tick has
  std::size_t tell(ClientBlocks& client, bool arrives) {
    PackedRequest request;
    request.head.tick = number(world->tick());
    const OwnPlayer own;
    request.own = &own;
    request.motions = replicator.motions();
    request.parts_max = 4;
    const std::size_t parts = snapshot.lay_out(packed, request, client);
    std::size_t motions = 0;
    for (std::size_t part = 0; part < parts; ++part) {
      snapshot.note_sent(part, ++sequence, client);
      client.note_fate({sequence, arrives});
      auto reader = PackedPartReader::open(snapshot.part(part));
      REQUIRE(reader);
      while (const auto entry = reader->next()) motions += entry->item == PackedItem::motion ? 1 : 0;
    }
    return motions;
  }

  std::shared_ptr<const PlacedMap> map;
  std::unique_ptr<World> world;
  EntityId player{};
  Replicator replicator;
  PackedWorld packed{60, 1};
  PackedSnapshot snapshot;
  std::uint64_t sequence = 0;
};

}  // namespace

TEST_CASE("a motion is told until a packet with it is acknowledged, and to each who comes",
          "[server][movers]") {
  DoorScene scene;
  ClientBlocks lucky, unlucky, late;
  scene.step(true);
  scene.step();
  REQUIRE(scene.world->mechanics().in_motion());
  CHECK(scene.tell(lucky, true) == 1);
  CHECK(scene.tell(unlucky, false) == 1);
  for (int i = 0; i < 30; ++i) {
    scene.step();
    CHECK(scene.tell(lucky, true) == 0);
    CHECK(scene.tell(unlucky, false) == 1);
  }
  scene.step();
  CHECK(scene.tell(unlucky, true) == 1);
  CHECK(scene.tell(late, true) == 1);
  scene.step();
  for (ClientBlocks* client : {&lucky, &unlucky, &late}) CHECK(scene.tell(*client, true) == 0);
  // Who forgot everything is told anew.
  lucky.reset();
  CHECK(scene.tell(lucky, true) == 1);
}

TEST_CASE("a door that is made to turn back is told of again, and one that shuts as foreseen is not",
          "[server][movers]") {
  DoorScene scene;
  ClientBlocks client;
  scene.step(true);
  scene.step();
  CHECK(scene.tell(client, true) == 1);
  int told = 0, ticks = 0;
  const auto shuts = [&] {
    const auto movers = scene.world->mechanics().maps()[0].movers.movers();
    return !movers.empty() && movers[0].phase == MotionPhase::down;
  };
  // It opens, waits and shuts: a second's share of that may be told again, whatever.
  for (; !shuts() && ticks < 600; ++ticks) scene.step(), told += static_cast<int>(scene.tell(client, true));
  REQUIRE(shuts());
  CHECK(told <= 1 + ticks / 240);
  scene.step(), scene.tell(client, true);
  scene.step(true);  // pressed anew while it comes down: it turns
  CHECK_FALSE(shuts());
  CHECK(scene.tell(client, true) == 1);
  scene.step();
  CHECK(scene.tell(client, true) == 0);
}
