#include "world/bsp/column.h"
#include "world/math/assert.h"

// Standing and overlapping. A disc meets exactly the sector under its centre and those on both sides of the
// lines that cross it, so no query has to gather leaves.

namespace ashlar {
namespace {

/// The disc as queries see it: less by the slop, so that what only touches does not count.
double inner_radius(double radius_m) { return std::max(0.0, radius_m - contact_slop_m) * map_units_per_m; }

Column column_at(const PlacedMap& map, HeightsView heights, DVec2 p) {
  return column_of(map, heights, map.tree().leaves[map.grid().leaf_at(map.tree(), p)].sector);
}

}  // namespace

const BlockBox& map_box(const PlacedMap& map) { return map.box(); }

bool map_solid(const PlacedMap& map, HeightsView heights, DVec3 point) {
  if (!in_box(map, point)) return false;
  const Column c = column_at(map, heights, map.to_map(xy(point)));
  return point.z < c.floor_m || point.z > c.ceiling_m;
}

bool map_overlaps(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base) {
  ASHLAR_ASSERT_SLOW(heights.size() == map.initial_heights().size());
  const double bottom = static_cast<double>(map.box().min.z);
  if (base.z + shape.height_m <= bottom + contact_slop_m) return false;
  const double inner = shape.radius_m - contact_slop_m;
  if (!meets_box(map, xy(base), inner)) return false;
  const DVec2 p = map.to_map(xy(base));
  const auto blocked = [&](const Column& c) {
    return in_rock(map, c, base.z, shape.height_m, contact_slop_m);
  };
  if (over_box(map, xy(base)) && blocked(column_at(map, heights, p))) return true;
  return !lines_under_disc(map.grid(), p, inner_radius(shape.radius_m),
                           [&](const SolidLine& l) { return !blocked(column_of(map, heights, l)); });
}

std::optional<SectorHeights> map_floor_ceiling(const PlacedMap& map, HeightsView heights, DVec2 centre,
                                               double radius_m) {
  if (!over_box(map, centre)) return std::nullopt;
  const DVec2 p = map.to_map(centre);
  const std::uint32_t sector = map.tree().leaves[map.grid().leaf_at(map.tree(), p)].sector;
  if (sector == no_index) return std::nullopt;
  Column c = column_of(map, heights, sector);
  const bool inside = lines_under_disc(map.grid(), p, inner_radius(radius_m), [&](const SolidLine& l) {
    if (l.front == no_index || l.back == no_index) return false;
    for (const std::uint32_t side : {l.front, l.back}) {
      const Column s = column_of(map, heights, side);
      c.floor_m = std::max(c.floor_m, s.floor_m);
      c.ceiling_m = std::min(c.ceiling_m, s.ceiling_m);
    }
    return true;
  });
  if (!inside) return std::nullopt;
  return SectorHeights{c.floor_m, c.ceiling_m};
}

MapFootprint map_footprint(const PlacedMap& map, HeightsView heights, DVec2 centre, double radius_m) {
  MapFootprint out;
  out.blocked = true;
  if (!over_box(map, centre)) return out;
  const DVec2 p = map.to_map(centre);
  const std::uint32_t sector = map.tree().leaves[map.grid().leaf_at(map.tree(), p)].sector;
  if (sector == no_index) return out;
  const Column c = column_of(map, heights, sector);
  out.floor_m = out.lowest_floor_m = c.floor_m;
  out.ceiling_m = c.ceiling_m;
  out.blocked = !lines_under_disc(map.grid(), p, inner_radius(radius_m), [&](const SolidLine& l) {
    if (l.fence || l.front == no_index || l.back == no_index) return false;
    for (const std::uint32_t side : {l.front, l.back}) {
      const Column s = column_of(map, heights, side);
      out.floor_m = std::max(out.floor_m, s.floor_m);
      out.lowest_floor_m = std::min(out.lowest_floor_m, s.floor_m);
      out.ceiling_m = std::min(out.ceiling_m, s.ceiling_m);
    }
    return true;
  });
  return out;
}

std::optional<double> map_ground_below(const PlacedMap& map, HeightsView heights, DVec2 centre,
                                       double radius_m, double z) {
  if (!meets_box(map, centre, std::max(0.0, radius_m - contact_slop_m))) return std::nullopt;
  const DVec2 p = map.to_map(centre);
  const double roof = map.roof_m();
  double ground = -std::numeric_limits<double>::infinity();
  // A surface at or below z holds the disc up; rock at z itself means there is no answer.
  const auto take = [&](const Column& c) {
    if (c.ceiling_m < roof && z >= roof - contact_slop_m) {
      ground = std::max(ground, roof);
    } else if (c.ceiling_m < z - contact_slop_m || c.floor_m > z + contact_slop_m) {
      return false;
    }
    if (c.floor_m <= z + contact_slop_m) ground = std::max(ground, c.floor_m);
    return true;
  };
  if (over_box(map, centre) && !take(column_at(map, heights, p))) return std::nullopt;
  const bool free = lines_under_disc(map.grid(), p, inner_radius(radius_m),
                                     [&](const SolidLine& l) { return take(column_of(map, heights, l)); });
  if (!free || ground < map.box().min.z) return std::nullopt;
  return ground;
}

}  // namespace ashlar
