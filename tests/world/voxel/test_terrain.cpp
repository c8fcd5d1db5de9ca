#include "world/voxel/terrain.h"

#include <algorithm>
#include <cstdlib>

#include "tests/catch.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

using namespace ashlar;

TEST_CASE("terrain is a function of seed and chunk", "[world][voxel][terrain]") {
  const Terrain terrain{42, {}};
  const auto a = generate_chunk(terrain, {3, -2, 0});
  generate_chunk(terrain, {0, 0, 0});
  const auto b = generate_chunk(terrain, {3, -2, 0});
  CHECK(a->content_hash() == b->content_hash());
  CHECK(a->content_hash() != generate_chunk({43, {}}, {3, -2, 0})->content_hash());
  // The same on every build: a change here breaks every stored world.
  CHECK(a->content_hash() == 0x9d5113cc21767du);
}

TEST_CASE("the surface is where surface_height says, trees aside", "[world][voxel][terrain]") {
  const Terrain terrain{9, {}};
  VoxelVolume volume;
  for (int z = -1; z < 3; ++z) volume.insert_chunk({-1, 0, z}, generate_chunk(terrain, {-1, 0, z}));
  unsigned wrong = 0, dug = 0, low = 1000, high = 0;
  for (int y = 0; y < 32; ++y)
    for (int x = -32; x < 0; ++x) {
      const std::int32_t top = surface_height(terrain, x, y);
      low = std::min(low, static_cast<unsigned>(top));
      high = std::max(high, static_cast<unsigned>(top));
      const BlockId above = volume.block({x, y, top});
      wrong += above != BlockId::air && above != BlockId::wood && above != BlockId::leaves;
      dug += volume.block({x, y, top - 1}) == BlockId::air;
    }
  CHECK(wrong == 0);
  CHECK(dug < 200);
  CHECK(low >= static_cast<unsigned>(terrain_low_m));
  CHECK(high <= static_cast<unsigned>(terrain_high_m));
}

TEST_CASE("no voxel lies in a footprint's box and the ground around is level with its roof",
          "[world][voxel][terrain]") {
  const int roof = GENERATE(5, 20, 40);
  CAPTURE(roof);
  Terrain terrain{1, {{{-20, -10, roof - 30}, {25, 14, roof}}}};
  unsigned inside = 0, uneven = 0, steep = 0;
  const auto box = terrain.footprints[0];
  for (int cz = -2; cz < 3; ++cz)
    for (int cy = -2; cy < 2; ++cy)
      for (int cx = -2; cx < 2; ++cx) {
        const auto chunk = generate_chunk(terrain, {cx, cy, cz});
        for (int y = 0; y < 32; ++y)
          for (int x = 0; x < 32; ++x)
            for (int z = 0; z < 32; ++z) {
              const IVec3 at{cx * 32 + x, cy * 32 + y, cz * 32 + z};
              const bool over =
                  at.x >= box.min.x && at.x < box.max.x && at.y >= box.min.y && at.y < box.max.y;
              if (over && at.z >= box.min.z) inside += chunk->block({x, y, z}) != BlockId::air;
              const bool beside = at.x >= box.min.x - 3 && at.x < box.max.x + 3 && at.y >= box.min.y - 3 &&
                                  at.y < box.max.y + 3 && !over;
              if (beside && (at.z == roof - 1 || at.z == roof))
                uneven += (chunk->block({x, y, z}) != BlockId::air) != (at.z < roof);
            }
      }
  for (int y = -60; y < 60; ++y)
    for (int x = -60; x < 60; ++x)
      steep += std::abs(surface_height(terrain, x, y) - surface_height(terrain, x + 1, y)) > 1;
  CHECK(inside == 0);
  CHECK(uneven == 0);
  CHECK(steep == 0);
}
