#include "world/voxel/confined_box.h"

#include "tests/catch.h"
#include "tests/world/voxel_worlds.h"
#include "world/collide/space.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

bool holds(const Aabb& box, DVec3 p) {
  return p.x >= box.min.x && p.x <= box.max.x && p.y >= box.min.y && p.y <= box.max.y && p.z >= box.min.z &&
         p.z <= box.max.z;
}

double volume_of(const Aabb& box) {
  const DVec3 side = box.max - box.min;
  return side.x * side.y * side.z;
}

}  // namespace

TEST_CASE("wherever somebody gets to within a box is in the part that walls leave",
          "[world][voxel][confined_box]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  const double density = GENERATE(0.1, 0.4);
  CAPTURE(seed, density);
  const VoxelVolume ground = make_volume({0, 0, 0}, {2, 2, 2}, [&](IVec3 b) {
    return random_block(seed, {b.x / 3, b.y / 3, b.z / 3}, density) || random_block(seed + 9, b, density / 4);
  });
  const Space space{&ground, {}, {}};
  const Cylinder shape{0.3, 1.8};
  Rng rng = rng_for(seed, 83);
  const auto between = [&rng](double low, double high) {
    DVec3 p;
    p.x = rng.between(low, high);
    p.y = rng.between(low, high);
    p.z = rng.between(low, high);
    return p;
  };
  int begun = 0, cut = 0;
  for (int n = 0; n < 3'000; ++n) {
    const DVec3 start = between(8, 56);
    if (space_overlaps(space, shape, start)) continue;
    ++begun;
    const Aabb now = bounds_of(shape, start);
    const Aabb box{now.min - between(0, 3), now.max + between(0, 3)};
    const Aabb part = confined_by_blocks(ground, now, box);
    const double all = volume_of(box), left = volume_of(part);
    REQUIRE(left <= all);
    cut += left < 0.8 * all ? 1 : 0;
    DVec3 at = start;
    for (int step = 0; step < 20; ++step) {
      const DVec3 way = between(-1, 1);
      at += way * space_sweep(space, shape, at, way).t;
      const Aabb body = bounds_of(shape, at);
      if (!holds(box, body.min) || !holds(box, body.max)) break;  // what follows need not stay within
      CAPTURE(n, step);
      REQUIRE(holds(part, (body.min + body.max) * 0.5));
    }
  }
  CHECK(begun > 100);
  CHECK(cut > 0);
}

TEST_CASE(
    "a wall ends where somebody may soon be, what is not solid throughout and what is not loaded do not",
    "[world][voxel][confined_box]") {
  VoxelVolume ground = make_volume({0, 0, 0}, {1, 1, 1}, [](IVec3 b) { return b.x == 20 || b.x == 24; });
  const Aabb now{{22, 10, 10}, {22.6, 10.6, 11.8}}, box{{18, 8, 8}, {30, 12, 14}};
  const Aabb part = confined_by_blocks(ground, now, box);
  CHECK(part.min.x == 21);
  CHECK(part.max.x == 24);
  CHECK(part.min.y == 8);
  CHECK(part.max.y == 12);
  CHECK(part.min.z == 8);
  CHECK(part.max.z == 14);
  ground.set_block({20, 9, 9}, BlockId::air);
  CHECK(confined_by_blocks(ground, now, box).min.x == 18);
  CHECK(confined_by_blocks(ground, now, box).max.x == 24);
  // In rock alone all is left, as it is of a box beyond every measure, and where nothing is loaded.
  CHECK(confined_by_blocks(ground, {{24.2, 10, 10}, {24.8, 10.6, 11.8}}, box).min.x == 18);
  CHECK(confined_by_blocks(ground, now, {{2, 8, 8}, {30, 12, 14}}).min.x == 2);
  CHECK(confined_by_blocks(VoxelVolume{}, now, box).max.x == 30);
}
