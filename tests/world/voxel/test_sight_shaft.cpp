#include "world/voxel/sight_shaft.h"

#include "tests/catch.h"
#include "tests/world/voxel_worlds.h"
#include "world/collide/space.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

DVec3 somewhere(Rng& rng, double low, double high) {
  DVec3 p;
  p.x = rng.between(low, high);
  p.y = rng.between(low, high);
  p.z = rng.between(low, high);
  return p;
}

/// A box of some metres with a point in it.
Aabb box_with(Rng& rng, DVec3 p) {
  const DVec3 low = somewhere(rng, 0, 2), high = somewhere(rng, 0, 2);
  return {p - low, p + high};
}

bool any_ray(const Space& space, Rng& rng, const Aabb& from, const Aabb& to) {
  const auto in = [&rng](const Aabb& box) {
    DVec3 p;
    p.x = rng.between(box.min.x, box.max.x);
    p.y = rng.between(box.min.y, box.max.y);
    p.z = rng.between(box.min.z, box.max.z);
    return p;
  };
  for (int i = 0; i < 60; ++i) {
    const DVec3 a = in(from);
    if (space_sees(space, a, in(to))) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("no ray between blocks joins boxes that are said to be parted", "[world][voxel][sight_shaft]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  const double density = GENERATE(0.05, 0.3, 0.5);
  CAPTURE(seed, density);
  const VoxelVolume volume = make_volume({0, 0, 0}, {2, 2, 2}, [&](IVec3 b) {
    // Caves: cubes of four blocks, and single blocks in their air.
    return random_block(seed, {b.x / 4, b.y / 4, b.z / 4}, density) || random_block(seed + 9, b, density / 4);
  });
  const Space space{&volume, {}, {}};
  Rng rng = rng_for(seed, 77);
  int seen = 0, parted = 0, unseen = 0;
  for (int i = 0; i < 6'000; ++i) {
    const DVec3 a = somewhere(rng, 2, 62), b = i % 2 == 0 ? somewhere(rng, 2, 62) : a + somewhere(rng, -8, 8);
    const Aabb from = box_with(rng, a), to = box_with(rng, b);
    const bool sees = space_sees(space, a, b);
    seen += sees ? 1 : 0;
    const bool may = blocks_let_see(volume, from, to);
    CHECK(may == blocks_let_see(volume, to, from));
    if (sees) REQUIRE(may);
    if (i % 20 != 0) continue;
    if (any_ray(space, rng, from, to))
      REQUIRE(may);
    else
      ++unseen, parted += may ? 0 : 1;
  }
  CHECK(seen > 50);
  // And it is worth asking: most pairs that no ray joins are known to be parted.
  if (density >= 0.5) CHECK(2 * parted > unseen);
}

TEST_CASE("a wall parts two boxes, a hole in it, glass or a slab do not", "[world][voxel][sight_shaft]") {
  VoxelVolume volume = make_volume({0, 0, 0}, {2, 2, 2}, [](IVec3 b) { return b.x == 20; });
  const Aabb from{{5, 30, 30}, {7, 32, 32}};
  const Aabb behind{{40, 30, 30}, {42, 32, 32}}, beside{{10, 50, 30}, {12, 52, 32}},
      near{{21.2, 30, 30}, {22, 32, 32}};
  CHECK(!blocks_let_see(volume, from, behind));
  CHECK(blocks_let_see(volume, from, beside));
  CHECK(!blocks_let_see(volume, from, near));
  CHECK(blocks_let_see(volume, {{18.5, 30, 30}, {19.9, 32, 32}}, near));  // less than 2 m apart
  const BlockId id = GENERATE(BlockId::air, BlockId::glass, BlockId::water);
  volume.set_block({20, 31, 31}, id);
  CHECK(blocks_let_see(volume, from, behind));
  CHECK(blocks_let_see(volume, from, near));
  volume.set_block({20, 31, 31}, BlockId::stone);
  volume.set_block({20, 60, 60}, id);  // far aside
  CHECK(!blocks_let_see(volume, from, behind));
}

TEST_CASE("what is not loaded hides nobody, as it may turn out to be air", "[world][voxel][sight_shaft]") {
  const VoxelVolume volume;
  CHECK(blocks_let_see(volume, {{5, 30, 30}, {7, 32, 32}}, {{40, 30, 30}, {42, 32, 32}}));
}

TEST_CASE("ground parts who is above each other", "[world][voxel][sight_shaft]") {
  const VoxelVolume volume = make_volume({0, 0, 0}, {1, 1, 2}, [](IVec3 b) { return b.z >= 20 && b.z < 24; });
  CHECK(!blocks_let_see(volume, {{10, 10, 30}, {12, 12, 32}}, {{11, 11, 5}, {13, 13, 7}}));
  CHECK(blocks_let_see(volume, {{10, 10, 30}, {12, 12, 32}}, {{11, 11, 44}, {13, 13, 46}}));
}
