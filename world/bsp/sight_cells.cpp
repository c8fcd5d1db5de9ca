#include "world/bsp/sight_cells.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "world/bsp/polygon.h"
#include "world/bsp/visibility.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

/// Map units: corners that are as near are one, and what bends by less is straight. Small, as lines of sight
/// that pass an opening near their start are off by thousands of times as much where they end.
constexpr double bulge = 1e-7;

bool same(DVec2 a, DVec2 b) { return std::fabs(a.x - b.x) < bulge && std::fabs(a.y - b.y) < bulge; }

/// How far b lies on the right of a -> c.
double right_of(DVec2 a, DVec2 b, DVec2 c) {
  const DVec2 way = c - a;
  const double units = length(way);
  return units < bulge ? 1 : cross(b - a, way) / units;
}

/// Both polygons as one along an edge of each that is the other's turned round, or nothing where there is no
/// such edge or the outcome is not convex.
std::optional<Polygon> joined(const Polygon& p, const Polygon& q) {
  const std::size_t np = p.size(), nq = q.size();
  for (std::size_t i = 0; i < np; ++i) {
    for (std::size_t j = 0; j < nq; ++j) {
      if (!same(p[i], q[(j + 1) % nq]) || !same(p[(i + 1) % np], q[j])) continue;
      Polygon out;
      out.reserve(np + nq - 2);
      for (std::size_t k = 1; k <= np; ++k) out.push_back(p[(i + k) % np]);  // from i + 1 round to i
      for (std::size_t k = 2; k < nq; ++k) out.push_back(q[(j + k) % nq]);   // and q's own corners
      const std::size_t n = out.size(), first = 0, second = np - 1;
      const double at_first = right_of(out[n - 1], out[first], out[first + 1]),
                   at_second = right_of(out[second - 1], out[second], out[(second + 1) % n]);
      if (at_first < -bulge || at_second < -bulge) return std::nullopt;
      // Straight corners go: the edge beyond is one with the neighbour's then. The later one first.
      if (at_second < bulge && out.size() > 3) out.erase(out.begin() + static_cast<std::ptrdiff_t>(second));
      if (at_first < bulge && out.size() > 3) out.erase(out.begin());
      return out;
    }
  }
  return std::nullopt;
}

/// Do two openings lie on one line?
bool straight(const SightCells::Opening& one, const SightCells::Opening& other) {
  return std::fabs(right_of(one.a, other.a, one.b)) < bulge &&
         std::fabs(right_of(one.a, other.b, one.b)) < bulge;
}

/// By the cells that they join, those of two cells that lie on one line as one opening.
std::vector<SightCells::Opening> joined_on_one_line(const std::vector<SightCells::Opening>& openings) {
  std::vector<std::uint32_t> order(openings.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::sort(order, {},
                    [&](std::uint32_t i) { return std::tuple(openings[i].front, openings[i].back, i); });
  std::vector<SightCells::Opening> out;
  out.reserve(order.size());
  for (const std::uint32_t i : order) {
    const SightCells::Opening& o = openings[i];
    ASHLAR_ASSERT(o.front < o.back);
    const bool more = !out.empty() && out.back().front == o.front && out.back().back == o.back;
    if (!more || !straight(out.back(), o)) {
      out.push_back(o);
      continue;
    }
    SightCells::Opening& whole = out.back();
    const DVec2 way = whole.b - whole.a;
    if (dot(o.a - whole.a, way) < 0) whole.a = o.a;
    if (dot(o.b - whole.b, way) > 0) whole.b = o.b;
  }
  return out;
}

}  // namespace

SightCells sight_cells(const BspTree& tree) {
  const std::vector<LeafOpening> openings = leaf_openings(tree);
  std::vector<Polygon> polygon(tree.leaves.size());
  std::vector<std::uint32_t> into(tree.leaves.size());
  for (std::uint32_t i = 0; i < tree.leaves.size(); ++i) {
    const BspTree::Leaf& leaf = tree.leaves[i];
    into[i] = i;
    if (leaf.sector == no_index) continue;
    for (std::uint32_t k = 0; k < leaf.corner_count; ++k)
      polygon[i].push_back(tree.corners[leaf.first_corner + k]);
  }
  const auto cell_of = [&](std::uint32_t leaf) {
    while (into[leaf] != leaf) leaf = into[leaf] = into[into[leaf]];
    return leaf;
  };
  // The cuts made last first: their edges are whole. What an earlier cut leaves may fit then, once more.
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = openings.size(); i-- > 0;) {
      const std::uint32_t a = cell_of(openings[i].front), b = cell_of(openings[i].back);
      if (a == b || tree.leaves[a].sector != tree.leaves[b].sector) continue;
      auto both = joined(polygon[a], polygon[b]);
      if (!both) continue;
      const std::uint32_t kept = std::min(a, b), gone = std::max(a, b);
      ASHLAR_ASSERT(both->size() >= 3);
      polygon[kept] = std::move(*both);
      polygon[gone].clear();
      into[gone] = kept;
      any = true;
    }
  }

  SightCells out;
  std::vector<std::uint32_t> number(tree.leaves.size(), no_index);
  for (std::uint32_t i = 0; i < tree.leaves.size(); ++i) {
    if (tree.leaves[i].sector == no_index || cell_of(i) != i) continue;
    number[i] = static_cast<std::uint32_t>(out.sector.size());
    out.sector.push_back(tree.leaves[i].sector);
  }
  for (const LeafOpening& o : openings) {
    const std::uint32_t front = number[cell_of(o.front)], back = number[cell_of(o.back)];
    ASHLAR_ASSERT(front != no_index && back != no_index);  // openings join rooms, never void
    if (front < back)
      out.openings.push_back({o.a, o.b, front, back});
    else if (back < front)
      out.openings.push_back({o.b, o.a, back, front});
  }
  out.openings = joined_on_one_line(out.openings);
  return out;
}

}  // namespace ashlar
