#include <numeric>

#include "tests/slowness.h"
#include "tests/world/bsp/brute_force.h"
#include "tests/world/bsp/maps.h"
#include "world/bsp/trace.h"
#include "world/math/random.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

// Sanitizers and slow assertions cost a multiple: the same tests on fewer samples there.
constexpr int points_per_map = 100000 / test::slowness, segments_per_map = 10000 / test::slowness;

/// Source lines sorted into rows and columns, so that looking along an axis meets few of them.
class LineRows {
 public:
  explicit LineRows(const SectorMap& map) : map_(map), bounds_(bounds_of(map)) {
    for (std::uint32_t i = 0; i < map.lines.size(); ++i) {
      const DVec2 a = map.vertices[map.lines[i].v1], b = map.vertices[map.lines[i].v2];
      add(rows_, i, a.y - bounds_.min.y, b.y - bounds_.min.y);
      add(columns_, i, a.x - bounds_.min.x, b.x - bounds_.min.x);
    }
  }

  /// The sector at a point as the nearest line along each axis and both ways tells it; false where they
  /// contradict each other (unclosed sectors, or a line too near).
  bool sector(DVec2 p, std::uint32_t& out) const {
    std::uint32_t told[4];
    look(rows_, p.y - bounds_.min.y, p, {1, 0}, told);
    look(columns_, p.x - bounds_.min.x, p, {0, 1}, told + 2);
    out = told[0];
    return told[0] == told[1] && told[1] == told[2] && told[2] == told[3];
  }

  /// Distance to the nearest line.
  double clear(DVec2 p) const {
    double nearest = 1e300;
    for (const MapLine& line : map_.lines) {
      const DVec2 a = map_.vertices[line.v1], along = map_.vertices[line.v2] - a;
      if (dot(along, along) == 0) continue;
      const double at = std::clamp(dot(p - a, along) / dot(along, along), 0.0, 1.0);
      nearest = std::min(nearest, length(p - a - along * at));
    }
    return nearest;
  }

 private:
  static constexpr double row_height = 32;
  using Rows = std::vector<std::vector<std::uint32_t>>;

  static void add(Rows& rows, std::uint32_t line, double from, double to) {
    const auto low = static_cast<std::size_t>(std::min(from, to) / row_height);
    const auto high = static_cast<std::size_t>(std::max(from, to) / row_height);
    if (rows.size() <= high) rows.resize(high + 1);
    for (std::size_t r = low; r <= high; ++r) rows[r].push_back(line);
  }

  void look(const Rows& rows, double at, DVec2 p, DVec2 along_axis, std::uint32_t told[2]) const {
    told[0] = told[1] = no_index;
    double ahead = 1e300, behind = -1e300;
    const auto r = static_cast<std::size_t>(std::max(at, 0.0) / row_height);
    if (at < 0 || r >= rows.size()) return;
    const DVec2 across{along_axis.y, along_axis.x};
    for (const std::uint32_t i : rows[r]) {
      const MapLine& line = map_.lines[i];
      const DVec2 a = map_.vertices[line.v1], b = map_.vertices[line.v2];
      const double ca = dot(a - p, across), cb = dot(b - p, across);
      if ((ca > 0) == (cb > 0)) continue;
      const double t = dot(a - p, along_axis) + dot(b - a, along_axis) * (-ca / (cb - ca));
      const std::uint32_t seen = cross(b - a, p - a) < 0 ? map_.front_sector(line) : map_.back_sector(line);
      if (t >= 0 && t < ahead) ahead = t, told[0] = seen;
      if (t < 0 && t > behind) behind = t, told[1] = seen;
    }
  }

  const SectorMap& map_;
  MapBounds bounds_;
  Rows rows_, columns_;
};

/// A straight way through a map in map units, heights as drawn.
struct Way {
  DVec2 from, delta;
  double z = 0, dz = 0;
  double at(double t) const { return z + dz * t; }
};

double ceiling_of(const MapSector& s) { return s.sky() ? no_ceiling : s.ceiling; }

/// Where in (in, out) a way leaves a sector's open height, or 2.
double leaves_height(const SectorMap& map, std::uint32_t sector, const Way& way, double in, double out) {
  if (sector == no_index) return in;
  const double floor = map.sectors[sector].floor, ceiling = ceiling_of(map.sectors[sector]);
  if (way.at(in) < floor || way.at(in) > ceiling) return in;
  if (way.at(out) < floor) return (floor - way.z) / way.dz;
  if (way.at(out) > ceiling) return (ceiling - way.z) / way.dz;
  return 2;
}

double blocked_in_tree(const BspTree& tree, const SectorMap& map, const Way& way) {
  double blocked = 2;
  trace_leaves(tree, tree.root, way.from, way.delta, 0, 1,
               [&](std::uint32_t leaf, double in, double out, const LeafEntry&) {
                 blocked = leaves_height(map, tree.leaves[leaf].sector, way, in, out);
                 return blocked > 1;
               });
  return blocked;
}

/// The same by crossing all source lines in order.
double blocked_by_lines(const SectorMap& map, const Way& way, std::uint32_t start) {
  struct Crossing {
    double t;
    std::uint32_t near, far;
  };
  std::vector<Crossing> crossings;
  const DVec2 end = way.from + way.delta;
  const DVec2 low{std::min(way.from.x, end.x), std::min(way.from.y, end.y)};
  const DVec2 high{std::max(way.from.x, end.x), std::max(way.from.y, end.y)};
  for (const MapLine& line : map.lines) {
    const DVec2 a = map.vertices[line.v1], b = map.vertices[line.v2];
    if (std::max(a.x, b.x) < low.x || std::min(a.x, b.x) > high.x || std::max(a.y, b.y) < low.y ||
        std::min(a.y, b.y) > high.y)
      continue;
    const double sa = cross(way.delta, a - way.from), sb = cross(way.delta, b - way.from);
    if ((sa > 0) == (sb > 0)) continue;
    const DVec2 along = b - a;
    const double det = cross(way.delta, along);
    if (det == 0) continue;
    const double t = cross(a - way.from, along) / det;
    if (t < 0 || t > 1) continue;
    // det > 0: the line is crossed from its right hand, the front, to its left.
    const std::uint32_t front = map.front_sector(line), back = map.back_sector(line);
    crossings.push_back(det > 0 ? Crossing{t, back, front} : Crossing{t, front, back});
  }
  std::sort(crossings.begin(), crossings.end(),
            [](const Crossing& a, const Crossing& b) { return a.t < b.t; });
  double in = 0;
  std::uint32_t sector = start;
  for (const Crossing& c : crossings) {
    const double blocked = leaves_height(map, c.near, way, in, c.t);
    if (blocked <= 1) return blocked;
    in = c.t;
    sector = c.far;
  }
  return leaves_height(map, sector, way, in, 1);
}

/// What every map is asked; failures are counted so that a broken query gives one line a map.
struct Tally {
  int points = 0, segments = 0, contradicting = 0, doubtful = 0;
  int ours_wrong = 0, ways_wrong = 0;
};

void check_points(const LineRows& rows, const BspTree& ours, Rng& rng, Tally& tally) {
  for (int i = 0; i < points_per_map; ++i) {
    const double x = rng.between(ours.bounds.min.x, ours.bounds.max.x);
    const DVec2 p{x, rng.between(ours.bounds.min.y, ours.bounds.max.y)};
    ++tally.points;
    std::uint32_t truth = no_index;
    if (!rows.sector(p, truth)) {
      ++tally.contradicting;
      continue;
    }
    if (ours.sector_at(p) != truth && rows.clear(p) > 1e-6) ++tally.ours_wrong;
  }
}

void check_ways(const SectorMap& map, const LineRows& rows, const BspTree& ours, Rng& rng, Tally& tally) {
  for (int i = 0; i < segments_per_map;) {
    const double x = rng.between(ours.bounds.min.x, ours.bounds.max.x);
    const DVec2 p{x, rng.between(ours.bounds.min.y, ours.bounds.max.y)};
    std::uint32_t start = no_index;
    if (!rows.sector(p, start) || start == no_index) continue;
    const DVec2 bearing = heading(Turn16{static_cast<std::uint16_t>(rng.below(65536))});
    Way way;
    way.from = p;
    way.delta = bearing * rng.between(16, 2048);
    way.z = map.sectors[start].floor + rng.between(1, 60);
    way.dz = rng.between(-100, 100);
    ++i;
    ++tally.segments;
    const double truth = blocked_by_lines(map, way, start);
    const double mine = blocked_in_tree(ours, map, way);
    if (std::fabs(mine - truth) < 1e-9) continue;
    ++tally.doubtful;
    const double unit = 1 / length(way.delta);
    // A way that passes a corner closely may go either side of it: its neighbours tell how close it is.
    const DVec2 aside{-bearing.y, bearing.x};
    double low = truth, high = truth;
    for (const double part : {-1.0, 1.0, -0.5, 0.5}) {
      Way shifted = way;
      shifted.from = way.from + aside * part;
      const double t = blocked_by_lines(map, shifted, start);
      low = std::min(low, t), high = std::max(high, t);
    }
    if (mine < low - unit || mine > high + unit) ++tally.ways_wrong;
  }
}

}  // namespace

TEST_CASE("on every Freedoom map our tree and the lines themselves agree", "[world][bsp][freedoom]") {
  Tally all;
  const int maps = each_freedoom_map([&](const SectorMap& map, const std::string&, std::uint64_t number) {
    const BspTree ours = build_bsp(map);
    const LineRows rows(map);
    Rng rng = rng_for(20, number);
    Tally t;
    check_points(rows, ours, rng, t);
    check_ways(map, rows, ours, rng, t);
    CAPTURE(t.contradicting, t.ours_wrong, t.ways_wrong, t.doubtful);
    CHECK(t.ours_wrong == 0);
    // Where sectors are not closed there is no one truth to be right about.
    CHECK((t.ways_wrong == 0 || (t.contradicting > 0 && t.ways_wrong <= segments_per_map / 1000)));
    CHECK(t.contradicting < points_per_map / 100);
    CHECK(t.doubtful < segments_per_map / 100);
    all.contradicting += t.contradicting, all.ours_wrong += t.ours_wrong;
    all.ways_wrong += t.ways_wrong, all.doubtful += t.doubtful;
    all.points += t.points, all.segments += t.segments;
  });
  INFO(maps << " maps, " << all.points << " points (" << all.contradicting << " where lines contradict), "
            << all.segments << " segments; wrong " << all.ours_wrong << "/" << all.ways_wrong
            << ", not exactly the lines' " << all.doubtful);
  if (maps != 0) CHECK(maps == 68);
  CHECK(all.ways_wrong <= all.segments / 10000);
}

TEST_CASE("on every Freedoom map leaves are closed, convex and add up to the sectors",
          "[world][bsp][freedoom]") {
  int unclosed_maps = 0;
  const int maps = each_freedoom_map([&](const SectorMap& map, const std::string&, std::uint64_t) {
    const BspTree tree = build_bsp(map);
    std::vector<double> area(map.sectors.size(), 0), drawn(map.sectors.size(), 0);
    double total = 0;
    for (std::uint32_t i = 0; i < tree.leaves.size(); ++i) {
      const BspTree::Leaf& leaf = tree.leaves[i];
      const double a = leaf_area(tree, i);
      total += a;
      if (leaf.sector == no_index) continue;
      REQUIRE(leaf.corner_count >= 3);
      area[leaf.sector] += a;
      DVec2 middle{};
      for (std::uint32_t k = 0; k < leaf.corner_count; ++k) {
        const DVec2* c = &tree.corners[leaf.first_corner];
        const DVec2 p = c[k], q = c[(k + 1) % leaf.corner_count], r = c[(k + 2) % leaf.corner_count];
        middle = middle + p * (1.0 / leaf.corner_count);
        REQUIRE(cross(q - p, r - q) >= -1e-6 * length(q - p) * length(r - q) - 1e-6);
      }
      // A leaf's middle is in the leaf, slivers apart.
      if (a > 1e-3) REQUIRE(tree.leaf_at(middle) == i);
    }
    for (const MapLine& line : map.lines) {
      const double part = cross(map.vertices[line.v1], map.vertices[line.v2]) / 2;
      if (line.front != no_index) drawn[map.front_sector(line)] -= part;
      if (line.back != no_index) drawn[map.back_sector(line)] += part;
    }
    // All leaves together tile the bounds with their margin.
    const DVec2 size = tree.bounds.max - tree.bounds.min + DVec2{128, 128};
    REQUIRE(std::fabs(total - size.x * size.y) < 1e-6 * size.x * size.y);
    int wrong = 0;
    for (std::size_t s = 0; s < area.size(); ++s) wrong += std::fabs(area[s] - drawn[s]) > 0.01 ? 1 : 0;
    // An unclosed sector has no area of its own to add up to; its neighbour pays for it.
    unclosed_maps += wrong > 0 ? 1 : 0;
    CHECK(wrong <= 2);
  });
  CHECK(unclosed_maps * 30 <= maps);
}
