#include <algorithm>
#include <array>
#include <cmath>

#include "world/bsp/column.h"

// The shortest way out of rock, for the correct solver and for recovery. Straight up and straight down follow
// from the columns under the disc. Sideways, the nearest free place touches one grown line or lies where two
// of them meet, so those places are tried from near to far. No allocation; bounded by lines_max.

namespace ashlar {
namespace {

constexpr std::size_t lines_max = 10;
/// Four curves a line: its two offset sides and the circles around its ends.
constexpr std::size_t curves_max = 4 * lines_max;
constexpr std::size_t corner_candidates_max = 2 * curves_max + curves_max * (curves_max - 1);

struct Curve {
  bool circle = false;
  DVec2 a;            ///< centre, or a point of the line
  DVec2 unit;         ///< the line's direction
  double extent = 0;  ///< circle: radius; line: its length
};

struct Candidate {
  DVec2 offset;
  double distance2 = 0;
  std::uint32_t order = 0;
};

struct Candidates {
  std::array<Candidate, corner_candidates_max> list;
  std::uint32_t count = 0;
  double reach2 = 0;

  void add(DVec2 offset) {
    const double d2 = dot(offset, offset);
    if (!(d2 <= reach2) || count >= list.size()) return;
    list[count] = {offset, d2, count};
    ++count;
  }
};

/// Nearest point of a curve to the origin.
void add_nearest(const Curve& c, Candidates& out) {
  if (!c.circle) {
    out.add(c.a + c.unit * std::clamp(-dot(c.a, c.unit), 0.0, c.extent));
    return;
  }
  const double l = length(c.a);
  out.add(l > 0 ? c.a - c.a * (c.extent / l) : DVec2{c.extent, 0});
}

void add_crossings(const Curve& c, const Curve& d, Candidates& out) {
  if (!c.circle && !d.circle) {
    const double det = cross(c.unit, d.unit);
    if (std::fabs(det) < 1e-9) return;
    out.add(c.a + c.unit * (cross(d.a - c.a, d.unit) / det));
    return;
  }
  if (c.circle && d.circle) {
    const DVec2 between = d.a - c.a;
    const double l2 = dot(between, between);
    const double h2 = c.extent * c.extent - l2 / 4;  // all circles are of one radius
    if (l2 == 0 || h2 < 0) return;
    const DVec2 across = DVec2{-between.y, between.x} * std::sqrt(h2 / l2);
    out.add(c.a + between * 0.5 + across);
    out.add(c.a + between * 0.5 - across);
    return;
  }
  const Curve& circle = c.circle ? c : d;
  const Curve& line = c.circle ? d : c;
  const DVec2 to = circle.a - line.a;
  const double off = cross(line.unit, to);
  const double h2 = circle.extent * circle.extent - off * off;
  if (h2 < 0) return;
  const double at = dot(line.unit, to), h = std::sqrt(h2);
  out.add(line.a + line.unit * (at + h));
  out.add(line.a + line.unit * (at - h));
}

/// The lines near the centre that block at this height, nearest first, as curves around the centre.
std::size_t gather(const PlacedMap& map, HeightsView heights, const Cylinder& shape, double z, DVec2 p,
                   double radius, double reach, std::array<Curve, curves_max>& curves) {
  struct Near {
    const SolidLine* line;
    double d2;
  };
  std::array<Near, lines_max> near;
  std::size_t count = 0;
  lines_under_disc(map.grid(), p, radius + reach, [&](const SolidLine& l) {
    if (!in_rock(map, column_of(map, heights, l), z, shape.height_m, contact_slop_m)) return true;
    for (std::size_t i = 0; i < count; ++i)
      if (near[i].line == &l) return true;
    const Near n{&l, distance2(l, p)};
    const auto nearer = [](const Near& a, const Near& b) {
      return a.d2 != b.d2 ? a.d2 < b.d2 : a.line < b.line;
    };
    if (count == lines_max && !nearer(n, near[count - 1])) return true;
    if (count < lines_max) ++count;
    std::size_t i = count - 1;
    for (; i > 0 && nearer(n, near[i - 1]); --i) near[i] = near[i - 1];
    near[i] = n;
    return true;
  });
  std::size_t out = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const SolidLine& l = *near[i].line;
    const DVec2 a = l.a - p;
    const double line_length = length(l.along);
    const DVec2 unit = l.along * (1 / line_length);
    const DVec2 side = DVec2{unit.y, -unit.x} * radius;
    curves[out++] = {false, a + side, unit, line_length};
    curves[out++] = {false, a - side, unit, line_length};
    curves[out++] = {true, a, {}, radius};
    curves[out++] = {true, a + l.along, {}, radius};
  }
  return out;
}

/// Up or down by dz when that frees the body.
void push_upright(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base, double to_z,
                  double reach_m, std::optional<DVec3>& best) {
  const double dz = to_z - base.z;
  if (!(std::fabs(dz) <= reach_m)) return;
  if (best && std::fabs(dz) >= length(*best)) return;
  const DVec3 moved{base.x, base.y, to_z};
  if (!map_overlaps(map, heights, shape, moved)) best = DVec3{0, 0, dz};
}

}  // namespace

std::optional<DVec3> map_correct(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base,
                                 double reach_m) {
  if (!map_overlaps(map, heights, shape, base)) return DVec3{};

  std::optional<DVec3> best;
  if (const auto fc = map_floor_ceiling(map, heights, xy(base), shape.radius_m)) {
    push_upright(map, heights, shape, base, fc->floor_m, reach_m, best);
    if (fc->ceiling_m < no_ceiling)
      push_upright(map, heights, shape, base, fc->ceiling_m - shape.height_m, reach_m, best);
  }
  push_upright(map, heights, shape, base, map.roof_m(), reach_m, best);

  const double reach = std::min(reach_m, best ? length(*best) : reach_m) * map_units_per_m;
  const double radius = shape.radius_m * map_units_per_m;
  const DVec2 p = map.to_map(xy(base));
  std::array<Curve, curves_max> curves;
  const std::size_t count = gather(map, heights, shape, base.z, p, radius, reach, curves);
  Candidates candidates;
  candidates.reach2 = reach * reach;
  for (std::size_t i = 0; i < count; ++i) add_nearest(curves[i], candidates);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = i + 1; j < count; ++j) add_crossings(curves[i], curves[j], candidates);
  std::sort(candidates.list.begin(), candidates.list.begin() + candidates.count,
            [](const Candidate& a, const Candidate& b) {
              return a.distance2 != b.distance2 ? a.distance2 < b.distance2 : a.order < b.order;
            });
  for (std::uint32_t i = 0; i < candidates.count; ++i) {
    const DVec2 off = candidates.list[i].offset * (1 / map_units_per_m);
    // Ties go to up and down.
    if (best && length(off) >= length(*best)) break;
    if (!map_overlaps(map, heights, shape, base + DVec3{off.x, off.y, 0})) return DVec3{off.x, off.y, 0};
  }
  return best;
}

}  // namespace ashlar
