#include <algorithm>
#include <cmath>

#include "world/bsp/column.h"

// The shortest way out of rock, for the correct solver and for recovery: sideways to a line grown by the
// radius, upright to the floors, ceilings and the roof there, or both at once.

namespace ashlar {
namespace {

/// The heights at which a body may stand or hang in one column.
void add_levels(const PlacedMap& map, const Column& c, const Cylinder& shape, double z, NearestPlace& out) {
  out.add_level(c.floor_m - z);
  if (c.ceiling_m == no_ceiling) return;
  out.add_level(c.ceiling_m - shape.height_m - z);
  out.add_level(map.roof_m() - z);
}

}  // namespace

void map_borders(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base,
                 NearestPlace& out) {
  const double reach_m = out.reach_m();
  const DVec2 p = map.to_map(xy(base));
  const double radius = shape.radius_m * map_units_per_m;
  if (over_box(map, xy(base))) {
    const std::uint32_t sector = map.tree().leaves[map.grid().leaf_at(map.tree(), p)].sector;
    add_levels(map, column_of(map, heights, sector), shape, base.z, out);
  }
  const double bottom = static_cast<double>(map.box().min.z);
  out.add_level(bottom - shape.height_m - base.z);
  lines_under_disc(map.grid(), p, radius + reach_m * map_units_per_m, [&](const SolidLine& l) {
    // At no height within reach does it hold anything up.
    if (!in_rock(map, column_of(map, heights, l), base.z - reach_m, shape.height_m + 2 * reach_m, 0))
      return true;
    for (const std::uint32_t side : {l.front, l.back})
      add_levels(map, column_of(map, heights, side), shape, base.z, out);
    if (l.fence) out.add_level(map.roof_m() - base.z);
    const DVec2 a = (l.a - p) * (1 / map_units_per_m), b = (l.a + l.along - p) * (1 / map_units_per_m);
    const DVec2 unit = l.along * std::sqrt(l.inverse_length2);
    const DVec2 beside = DVec2{unit.y, -unit.x} * shape.radius_m;
    out.add_line(a + beside, unit);
    out.add_line(a - beside, unit);
    out.add_circle(a, shape.radius_m);
    out.add_circle(b, shape.radius_m);
    return true;
  });
}

std::optional<DVec3> map_correct(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base,
                                 double reach_m) {
  if (!map_overlaps(map, heights, shape, base)) return DVec3{};
  NearestPlace search(reach_m);
  map_borders(map, heights, shape, base, search);
  return search.find([&](DVec3 way) { return !map_overlaps(map, heights, shape, base + way); });
}

}  // namespace ashlar
