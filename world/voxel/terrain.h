#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "world/math/block_box.h"
#include "world/voxel/block.h"

namespace ashlar {

struct Chunk;

/// What terrain is a function of. The same terrain gives the same blocks on every build, in any order.
struct Terrain {
  std::uint64_t seed = 1;
  /// Boxes of placed maps: no voxel lies inside one, and the ground around is level with its roof.
  std::vector<BlockBox> footprints;
};

/// Heights of natural ground lie in [terrain_low_m, terrain_high_m]; footprints may go beyond.
inline constexpr std::int32_t terrain_low_m = 4;
inline constexpr std::int32_t terrain_high_m = 36;
/// Level ground around a footprint; beyond it the ground rises or falls at most 1 m in 2 towards the hills.
inline constexpr std::int32_t terrain_apron_m = 6;

/// z of the ground's surface in the column of blocks (x, y): block surface - 1 is ground, block surface is
/// above it. Inside a footprint: its roof. Caves may open below it, trees stand on it. Cost: about 100 ns and
/// the footprints.
std::int32_t surface_height(const Terrain& terrain, std::int32_t x, std::int32_t y);

/// The blocks of one chunk: hills of grass, dirt and stone, sand in the lowlands, caves, trees. Everything
/// below the surface is ground without end, so nobody falls out of the world. Integer noise only.
/// Any thread. Cost: about 1 ms for a chunk with surface or caves in it.
std::unique_ptr<Chunk> generate_chunk(const Terrain& terrain, ChunkCoord at);

}  // namespace ashlar
