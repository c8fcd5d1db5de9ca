#include <cmath>

#include "world/bsp/column.h"
#include "world/bsp/trace.h"
#include "world/bsp/visibility.h"

namespace ashlar {
namespace {

/// Outdoors and beyond rock: the ray's own rules decide.
bool sees_by_ray(const PlacedMap& map, HeightsView heights, DVec3 from, DVec3 to) {
  const DVec3 way = to - from;
  const double distance = length(way);
  if (distance == 0) return !map_solid(map, heights, from);
  return !map_ray(map, heights, from, way * (1 / distance), distance).hit();
}

}  // namespace

bool map_sees(const PlacedMap& map, HeightsView heights, DVec3 from, DVec3 to) {
  if (!in_box(map, from) || !in_box(map, to)) return sees_by_ray(map, heights, from, to);
  const DVec2 a = map.to_map(xy(from)), b = map.to_map(xy(to));
  const std::uint32_t leaf_a = map.grid().leaf_at(map.tree(), a), leaf_b = map.grid().leaf_at(map.tree(), b);
  const std::uint32_t sector_a = map.tree().leaves[leaf_a].sector,
                      sector_b = map.tree().leaves[leaf_b].sector;
  if (sector_a == no_index || sector_b == no_index) return false;
  const SectorVisibility* set = map.visibility();
  if (set != nullptr && !set->sees(sector_a, sector_b)) return false;

  const double z = from.z, dz = to.z - from.z;
  // Below the roof a line stays below it, so only floors and ceilings can come into its way.
  const auto free = [&](std::uint32_t leaf, double in, double out) {
    const std::uint32_t sector = map.tree().leaves[leaf].sector;
    if (sector == no_index) return false;
    const SectorHeights& h = heights[sector];
    const double z0 = z + dz * in, z1 = z + dz * out;
    if (z0 < h.floor_m || z1 < h.floor_m) return false;
    return (z0 <= h.ceiling_m && z1 <= h.ceiling_m) || map.open_to_sky(sector, h);
  };
  if (leaf_a == leaf_b) return free(leaf_a, 0, 1);
  if (!free(leaf_b, 1, 1)) return false;
  bool seen = true;
  trace_leaves(map.tree(), map.tree().root, a, b - a, 0, 1,
               [&](std::uint32_t leaf, double in, double out, const LeafEntry&) {
                 seen = free(leaf, in, out);
                 return seen;
               });
  return seen;
}

}  // namespace ashlar
