#pragma once
// Worlds for the walk test: a placed map in air under a closed sky, and dense random voxels.
#include <string>

#include "tests/wads.h"
#include "tests/walk.h"
#include "world/bsp/placement.h"
#include "world/content/wad.h"
#include "world/voxel/volume.h"

namespace ashlar::test {

struct WalkWorld {
  std::string name;
  VoxelVolume volume;
  std::shared_ptr<const PlacedMap> map;
  std::vector<SectorHeights> heights;
  std::vector<MapInSpace> maps;  ///< points into this world: fill it when the world stays where it is
  std::vector<DVec3> starts;
  Aabb bounds;

  Space space() {
    maps.clear();
    if (map) maps.push_back({map.get(), heights});
    return {&volume, maps};
  }
};

/// Random blocks of a density in a box of chunks; what is outside is not loaded and so solid.
inline void make_random_voxels(WalkWorld& world, std::uint64_t seed, double density, int chunks,
                               DVec3 offset) {
  const ChunkCoord low = chunk_of(block_at(offset));
  std::vector<BlockId> blocks(chunk_blocks);
  Rng rng = rng_for(seed, 77);
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < chunks; ++y)
      for (int x = 0; x < chunks; ++x) {
        for (BlockId& b : blocks) b = rng.unit() < density ? BlockId::stone : BlockId::air;
        world.volume.insert_chunk({low.x + x, low.y + y, low.z + z},
                                  std::make_unique<Chunk>(std::span<const BlockId>(blocks)));
      }
  const DVec3 corner{low.x * 32.0, low.y * 32.0, low.z * 32.0};
  world.bounds = {corner, corner + DVec3{32.0 * chunks, 32.0 * chunks, 64}};
  world.name = "voxels " + std::to_string(static_cast<int>(density * 100)) + " %";
  const Space space = world.space();
  for (int i = 0; i < 200000 && world.starts.size() < 500; ++i) {
    DVec3 p = world.bounds.min;
    p.x += rng.between(1, 32.0 * chunks - 1);
    p.y += rng.between(1, 32.0 * chunks - 1);
    p.z += std::floor(rng.between(0, 62));
    if (!space_overlaps(space, Cylinder{}, p)) world.starts.push_back(p);
  }
}

/// A map with its doors open, in air, closed all around by what is not loaded.
inline void make_map_world(WalkWorld& world, std::shared_ptr<const PlacedMap> map, std::uint64_t seed) {
  world.map = std::move(map);
  const auto initial = world.map->initial_heights();
  world.heights.assign(initial.begin(), initial.end());
  world.name = world.map->name();
  const BlockBox& box = world.map->box();
  const ChunkCoord low = chunk_of(box.min + IVec3{-8, -8, 0}), high = chunk_of(box.max + IVec3{8, 8, 8});
  for (int z = low.z; z <= high.z; ++z)
    for (int y = low.y; y <= high.y; ++y)
      for (int x = low.x; x <= high.x; ++x) {
        auto chunk = std::make_unique<Chunk>();
        world.volume.insert_chunk({x, y, z}, std::move(chunk));
      }
  // Ground around the box, so that nobody falls beside the rock.
  for (int y = low.y * 32; y < high.y * 32 + 32; ++y)
    for (int x = low.x * 32; x < high.x * 32 + 32; ++x) {
      const bool inside = x >= box.min.x && x < box.max.x && y >= box.min.y && y < box.max.y;
      world.volume.set_block({x, y, inside ? box.min.z - 1 : box.max.z - 1}, BlockId::stone);
    }
  world.bounds = {to_dvec3({low.x * 32, low.y * 32, box.min.z}),
                  to_dvec3({high.x * 32 + 32, high.y * 32 + 32, high.z * 32 + 32})};
  const Space space = world.space();
  Rng rng = rng_for(seed, 78);
  for (int i = 0; i < 200000 && world.starts.size() < 500; ++i) {
    const double x = rng.between(box.min.x, box.max.x);
    const double y = rng.between(box.min.y, box.max.y);
    const auto fc = map_floor_ceiling(*world.map, world.heights, {x, y}, 0.3);
    if (!fc || fc->ceiling_m - fc->floor_m < 1.75) continue;
    const DVec3 p{x, y, fc->floor_m};
    if (!space_overlaps(space, Cylinder{}, p)) world.starts.push_back(p);
  }
}

using testing::read_bytes;

}  // namespace ashlar::test
