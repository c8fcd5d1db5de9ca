#include "server/host/replicator.h"

#include <algorithm>

#include "server/host/packed_world.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::server;
using ashlar::testing::find_wad;
using ashlar::testing::must_place;
using ashlar::testing::must_read;

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
