#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "world/bsp/column.h"
#include "world/bsp/placement.h"

// The queries of placed maps done the long way, from other data than the real ones: bodies against every
// leaf's polygon, points and rays against every source line.

namespace ashlar::testing {

/// The sector at a point from source lines alone: the line nearest along +x tells by the side it shows.
/// `clear` is set to the distance from the nearest line; on and near lines the answer means nothing.
inline std::uint32_t brute_sector(const SectorMap& map, DVec2 p, double& clear) {
  clear = std::numeric_limits<double>::infinity();
  double nearest = clear;
  std::uint32_t sector = no_index;
  for (const MapLine& line : map.lines) {
    const DVec2 a = map.vertices[line.v1], b = map.vertices[line.v2];
    const DVec2 along = b - a;
    if (dot(along, along) == 0) continue;
    const double at = std::clamp(dot(p - a, along) / dot(along, along), 0.0, 1.0);
    clear = std::min(clear, length(p - a - along * at));
    if ((a.y > p.y) == (b.y > p.y)) continue;
    const double x = a.x + along.x * ((p.y - a.y) / along.y);
    if (x < p.x || x >= nearest) continue;
    nearest = x;
    sector = cross(along, p - a) < 0 ? map.front_sector(line) : map.back_sector(line);
  }
  return sector;
}

inline double distance_to_polygon(const BspTree& tree, const BspTree::Leaf& leaf, DVec2 p) {
  bool inside = true;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < leaf.corner_count; ++i) {
    const DVec2 a = tree.corners[leaf.first_corner + i];
    const DVec2 along = tree.corners[leaf.first_corner + (i + 1) % leaf.corner_count] - a;
    inside = inside && cross(along, p - a) >= 0;
    const double length2 = dot(along, along);
    const double at = length2 > 0 ? std::clamp(dot(p - a, along) / length2, 0.0, 1.0) : 0;
    nearest = std::min(nearest, length(p - a - along * at));
  }
  return inside && leaf.corner_count > 2 ? 0 : nearest;
}

/// The sectors whose leaves come nearer than radius to a point, void as no_index.
inline std::vector<std::uint32_t> brute_sectors(const PlacedMap& map, DVec2 p, double radius) {
  std::vector<std::uint32_t> out;
  for (const BspTree::Leaf& leaf : map.tree().leaves)
    if (leaf.corner_count > 2 && distance_to_polygon(map.tree(), leaf, p) < radius)
      out.push_back(leaf.sector);
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

inline bool brute_overlaps(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base,
                           double slop = contact_slop_m) {
  const DVec2 p = map.to_map(xy(base));
  const double radius = (shape.radius_m - slop) * map_units_per_m;
  for (const std::uint32_t s : brute_sectors(map, p, radius))
    if (in_rock(map, column_of(map, heights, s), base.z, shape.height_m, slop)) return true;
  for (const MapLine& line : map.source().lines) {
    if ((line.flags & line_flag::blocking) == 0 || line.back == no_index) continue;
    const DVec2 a = map.source().vertices[line.v1], along = map.source().vertices[line.v2] - a;
    const double at = std::clamp(dot(p - a, along) / dot(along, along), 0.0, 1.0);
    if (length(p - a - along * at) < radius &&
        in_rock(map, {map.roof_m(), no_ceiling}, base.z, shape.height_m, slop))
      return true;
  }
  return false;
}

/// First solid on a ray inside the map's bounds, by crossing every source line and asking for the sector
/// between the crossings. Infinite when free up to t_max.
inline double brute_ray(const PlacedMap& map, HeightsView heights, DVec3 origin, DVec3 direction,
                        double t_max) {
  const SectorMap& source = map.source();
  const DVec2 p = map.to_map(xy(origin)), d = xy(direction) * map_units_per_m;
  std::vector<double> cuts{0, t_max};
  for (const MapLine& line : source.lines) {
    const DVec2 a = source.vertices[line.v1], along = source.vertices[line.v2] - a;
    const double det = cross(d, along);
    if (det == 0) continue;
    const double t = cross(a - p, along) / det, u = cross(a - p, d) / det;
    if (t > 0 && t < t_max && u >= 0 && u <= 1) cuts.push_back(t);
  }
  std::sort(cuts.begin(), cuts.end());
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i + 1] - cuts[i] < 1e-9) continue;
    double clear = 0;
    const std::uint32_t sector = brute_sector(source, p + d * ((cuts[i] + cuts[i + 1]) / 2), clear);
    const Column c = column_of(map, heights, sector);
    const double z0 = origin.z + direction.z * cuts[i], z1 = origin.z + direction.z * cuts[i + 1];
    const bool rock0 = z0 < c.floor_m || (z0 > c.ceiling_m && z0 < map.roof_m());
    if (rock0) return cuts[i];
    if (z1 < c.floor_m) return (c.floor_m - origin.z) / direction.z;
    if (z1 > c.ceiling_m && z0 <= c.ceiling_m) return (c.ceiling_m - origin.z) / direction.z;
    if (z1 < map.roof_m() && z0 >= map.roof_m() && c.ceiling_m < map.roof_m())
      return (map.roof_m() - origin.z) / direction.z;
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace ashlar::testing
