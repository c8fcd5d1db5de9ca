#include "world/bsp/polygon.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double thin = 1e-6;  // map units

}  // namespace

Polygon rectangle(const MapBounds& bounds, double margin) {
  const double x0 = bounds.min.x - margin, y0 = bounds.min.y - margin;
  const double x1 = bounds.max.x + margin, y1 = bounds.max.y + margin;
  return {{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}};
}

CutPolygon cut(const Polygon& polygon, const BspTree::Node& along) {
  CutPolygon out;
  ASHLAR_ASSERT(along.dx != 0 || along.dy != 0);
  const double tolerance = thin * length(DVec2{along.dx, along.dy});
  double most_front = 0, most_back = 0;
  for (const DVec2 p : polygon) {
    const double s = BspTree::side(along, p);
    most_front = std::max(most_front, s);
    most_back = std::min(most_back, s);
  }
  if (most_back >= -tolerance) {
    out.front = polygon;
    return out;
  }
  if (most_front <= tolerance) {
    out.back = polygon;
    return out;
  }
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const DVec2 a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    const double sa = BspTree::side(along, a), sb = BspTree::side(along, b);
    if (sa >= 0) out.front.push_back(a);
    if (sa <= 0) out.back.push_back(a);
    if ((sa > 0 && sb < 0) || (sa < 0 && sb > 0)) {
      const DVec2 p = a + (b - a) * (sa / (sa - sb));
      out.front.push_back(p);
      out.back.push_back(p);
    }
  }
  // Convex, so the partition crosses two of its edges: each part has a corner at both.
  ASHLAR_ASSERT(!out.front.empty() && !out.back.empty());
  return out;
}

bool reaches_behind(const Polygon& polygon, const BspTree::Node& along, double by) {
  const double tolerance = by * length(DVec2{along.dx, along.dy});
  return std::any_of(polygon.begin(), polygon.end(),
                     [&](DVec2 p) { return BspTree::side(along, p) < -tolerance; });
}

double area(const Polygon& polygon) {
  double twice = 0;
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i)
    twice += cross(polygon[i] - polygon[0], polygon[i + 1] - polygon[0]);
  return twice / 2;
}

double leaf_area(const BspTree& tree, std::uint32_t leaf) {
  const BspTree::Leaf& l = tree.leaves[leaf];
  double twice = 0;
  for (std::uint32_t i = 1; i + 1 < l.corner_count; ++i) {
    const DVec2* c = &tree.corners[l.first_corner];
    twice += cross(c[i] - c[0], c[i + 1] - c[0]);
  }
  return twice / 2;
}

}  // namespace ashlar
