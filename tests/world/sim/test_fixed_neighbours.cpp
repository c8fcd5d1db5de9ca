// Who is pushed by neighbours that came to rest already ends where it would have ended among moving ones.
#include "tests/catch.h"
#include "world/math/random.h"
#include "world/math/turn.h"
#include "world/sim/crowd.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

using namespace ashlar;

namespace {

constexpr EntityId me = make_entity_id(0, 1), other = make_entity_id(1, 1);

Body standing(DVec3 at, DVec3 velocity = {}) {
  Body body;
  body.position_m = body.last_free_m = at;
  body.velocity_mps = velocity;
  return body;
}

}  // namespace

TEST_CASE("one whose neighbour is known behind the push comes out as where both were pushed",
          "[world][sim][crowd]") {
  VoxelVolume air;
  air.insert_chunk({0, 0, 0}, std::make_unique<Chunk>());
  const Space space{&air, {}, {}};
  const Rules rules;
  Crowd crowd;
  crowd.reserve(4);
  Rng rng = rng_for(3, 1);
  int met = 0;
  for (int i = 0; i < 500; ++i) {
    const DVec3 at{16 + rng.unit(), 16 + rng.unit(), 10 + rng.unit()};
    const DVec3 way{2 * rng.unit() - 1, 2 * rng.unit() - 1, 0};
    // No deeper than a push reaches in one tick.
    const DVec2 apart =
        heading(Turn16{static_cast<std::uint16_t>(rng.below(65536))}) * (0.5 + 0.12 * rng.unit());
    Body a = standing(at, way), b = standing(at + DVec3{apart.x, apart.y, 0.1});
    crowd.clear();
    crowd.add(rules.player, a, me);
    crowd.add(rules.player, b, other);
    crowd.push_apart(space, rules);
    met += crowd.pairs_met() > 0 ? 1 : 0;

    Body foreseen = standing(at, way);
    crowd.clear();
    crowd.add(rules.player, foreseen, me);
    crowd.add_fixed(rules.player, b.position_m, other);
    crowd.push_apart(space, rules);
    CAPTURE(i, length(apart));
    CHECK(length(foreseen.position_m - a.position_m) < 1e-6);
  }
  CHECK(met > 300);
}

TEST_CASE("neighbours that are fixed leave each other alone", "[world][sim][crowd]") {
  VoxelVolume air;
  air.insert_chunk({0, 0, 0}, std::make_unique<Chunk>());
  const Rules rules;
  Crowd crowd;
  crowd.reserve(4);
  crowd.add_fixed(rules.player, {16, 16, 10}, me);
  crowd.add_fixed(rules.player, {16.1, 16, 10}, other);
  crowd.push_apart({&air, {}, {}}, rules);
  CHECK(crowd.pairs_met() == 0);
}
