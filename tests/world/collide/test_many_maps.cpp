#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/cases.h"
#include "tests/world/voxel_worlds.h"
#include "world/bsp/placed_map.h"
#include "world/collide/surroundings.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::testing;
using ashlar::test::cases;

namespace {

/// Nine maps of one court each, wall to wall, under open air: more than a body's surroundings list.
struct ManyMaps {
  ManyMaps() {
    for (std::int32_t i = 0; i < 9; ++i) {
      MapWriter w;
      w.ring({{0, 0}, {0, 64}, {64, 64}, {64, 0}}, w.sector(-8 * i, 128, i % 2 == 0));
      PlaceOptions options;
      options.origin_block = {4 * (i % 3), 4 * (i / 3)};
      options.doorway = false;
      maps.push_back(must_place(w.map, options));
      placed.push_back({maps.back().get(), maps.back()->initial_heights()});
    }
  }
  Space space() const { return {&volume, placed}; }

  VoxelVolume volume = test::make_volume({-1, -1, -1}, {2, 2, 2}, [](IVec3) { return false; });
  std::vector<std::shared_ptr<const PlacedMap>> maps;
  std::vector<MapInSpace> placed;
};

}  // namespace

TEST_CASE("where many maps meet every query is the union's, in a body's surroundings too",
          "[world][space][property]") {
  const ManyMaps w;
  const Space space = w.space();
  Rng rng = rng_for(1, 90);
  int wrong = 0, wrong_near = 0, solid = 0, met = 0;
  for (int i = 0; i < cases(4000); ++i) {
    Cylinder body;
    body.radius_m = rng.between(0.1, 2.5), body.height_m = rng.between(0.2, 3);
    DVec3 at, way;
    at.x = rng.between(-2, 14), at.y = rng.between(-2, 14), at.z = rng.between(-6, 2);
    way.x = rng.between(-3, 3), way.y = rng.between(-3, 3), way.z = rng.between(-2, 2);
    bool in = false;
    SweepHit first;
    for (const MapInSpace& m : w.placed) {
      in = in || map_overlaps(*m.map, m.heights, body, at);
      first = earlier_hit(first, map_sweep(*m.map, m.heights, body, at, way));
    }
    const SweepHit hit = space_sweep(space, body, at, way);
    wrong += space_overlaps(space, body, at) != in || hit.t != first.t || hit.kind != first.kind;
    solid += in ? 1 : 0;
    met += hit.kind != ContactKind::none ? 1 : 0;

    const Surroundings near(space, body, swept(bounds_of(body, at), way));
    const SweepHit again = near.sweep(at, way);
    wrong_near += near.overlaps(at) != in || again.t != hit.t || again.kind != hit.kind;
    wrong_near += near.ground_below(at, 1) != space_ground_below(space, xy(at), body.radius_m, at.z, 1);
  }
  CHECK(wrong == 0);
  CHECK(wrong_near == 0);
  CHECK(solid > 300);
  CHECK(met > 300);
}
