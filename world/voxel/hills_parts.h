#pragma once
#include <cstdint>

#include "world/voxel/hills_shape.h"
#include "world/voxel/terrain_parts.h"

// The parts of a chunk of hills, in the order in which hills_chunk() calls them.

namespace ashlar::ground {

/// Where the ground is, crags and overhangs included. One chunk's, with the few blocks over it that tell how
/// deep a block lies.
class CragField {
 public:
  static constexpr std::int32_t above = 8;  ///< blocks over the chunk
  CragField(std::uint64_t seed, IVec3 chunk_min);
  /// -1 to 1 in the column (x, y) of the chunk at a height within it or `above` it.
  double at(std::int32_t x, std::int32_t y, std::int32_t z) const;

 private:
  static constexpr std::int32_t corners = chunk_size / hills_step + 1;
  static constexpr std::int32_t levels = (chunk_size + above) / hills_step + 1;
  IVec3 min_;
  std::array<double, corners * corners * levels> values_;
};

/// What a column is made of.
struct GroundSkin {
  BlockId top = BlockId::grass, under = BlockId::dirt;
  std::int32_t under_blocks = 3;
};
GroundSkin skin_of(const HillsPoint& point, double slope);

/// Takes caves out of the stone, fills their bottoms with water.
void carve_caves(ChunkDraft& draft, const Terrain& terrain, const HillsArea& area);
/// Puts ores into what is stone by then.
void strew_ores(ChunkDraft& draft, std::uint64_t secret);
/// Puts a treasure into the floor of a cave, if it finds one; none near the surface.
void hide_treasure(ChunkDraft& draft, const Terrain& terrain, const HillsArea& area);
/// Puts trees on what is not steep, wet or beside a footprint, also those that stand in neighbouring chunks.
void plant_forest(ChunkDraft& draft, const Terrain& terrain, const HillsArea& area);

inline constexpr std::int32_t forest_height_max = 17;
/// No cave lies below.
inline constexpr std::int32_t cave_floor_m = -90;

}  // namespace ashlar::ground
