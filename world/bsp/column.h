#pragma once
#include <algorithm>
#include <limits>

#include "world/bsp/line_grid.h"
#include "world/bsp/placement.h"

// What is solid above one point of the plane: rock from the box's bottom to the floor, and from the ceiling
// to the roof. Heights are world metres.

namespace ashlar {

inline constexpr double no_ceiling = std::numeric_limits<double>::infinity();

/// What is free over one point, between rock and rock; in a void column it begins at the roof.
struct Column {
  double floor_m = 0;             ///< rock in (bottom, floor)
  double ceiling_m = no_ceiling;  ///< rock in (ceiling, roof); no_ceiling: open
};

/// no_index is void: rock up to the roof.
inline Column column_of(const PlacedMap& map, HeightsView heights, std::uint32_t sector) {
  if (sector == no_index) return {map.roof_m(), no_ceiling};
  const SectorHeights& h = heights[sector];
  return {h.floor_m, map.open_to_sky(sector, h) ? no_ceiling : h.ceiling_m};
}

/// What stands on a line: the higher floor and the lower ceiling of its two sides.
inline Column column_of(const PlacedMap& map, HeightsView heights, const SolidLine& line) {
  if (line.fence || line.front == no_index || line.back == no_index) return {map.roof_m(), no_ceiling};
  const Column a = column_of(map, heights, line.front), b = column_of(map, heights, line.back);
  return {std::max(a.floor_m, b.floor_m), std::min(a.ceiling_m, b.ceiling_m)};
}

/// Is a body from z to z + height in a column's rock by more than `slop`?
inline bool in_rock(const PlacedMap& map, const Column& c, double z, double height, double slop) {
  const double bottom = static_cast<double>(map.box().min.z);
  if (z < c.floor_m - slop && z + height > bottom + slop) return true;
  return z + height > c.ceiling_m + slop && z < map.roof_m() - slop;
}

/// Does the disc meet the footprint of the box, touching left out?
inline bool meets_box(const PlacedMap& map, DVec2 centre, double radius_m) {
  const BlockBox& b = map.box();
  const double x = std::clamp(centre.x, static_cast<double>(b.min.x), static_cast<double>(b.max.x));
  const double y = std::clamp(centre.y, static_cast<double>(b.min.y), static_cast<double>(b.max.y));
  const DVec2 off = centre - DVec2{x, y};
  return dot(off, off) < radius_m * radius_m || dot(off, off) == 0;
}

/// Is the centre itself over the box (its lower sides included)?
inline bool over_box(const PlacedMap& map, DVec2 p) {
  const BlockBox& b = map.box();
  return p.x >= b.min.x && p.x < b.max.x && p.y >= b.min.y && p.y < b.max.y;
}

/// Is a place in the map's box: over it, from its bottom (included) to below its roof?
inline bool in_box(const PlacedMap& map, DVec3 p) {
  return over_box(map, xy(p)) && p.z >= map.box().min.z && p.z < map.roof_m();
}

/// Calls visit(const SolidLine&) for each line that the open disc meets (map units). Some come twice.
template <typename Visit>
bool lines_under_disc(const LineGrid& grid, DVec2 centre, double radius, Visit&& visit) {
  const double radius2 = radius * radius;
  return grid.visit({centre.x - radius, centre.y - radius}, {centre.x + radius, centre.y + radius},
                    [&](const SolidLine& l) { return distance2(l, centre) >= radius2 || visit(l); });
}

}  // namespace ashlar
