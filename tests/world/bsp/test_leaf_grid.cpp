#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "world/bsp/leaf_grid.h"
#include "world/math/random.h"
#include "world/math/turn.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Corners of many leaves are where cells have the largest trees; the lines between them end in ties.
std::vector<DVec2> awkward_points(const SectorMap& map, const MapBounds& around) {
  std::vector<DVec2> out = map.vertices;
  for (const MapLine& l : map.lines) out.push_back((map.vertices[l.v1] + map.vertices[l.v2]) * 0.5);
  const std::size_t exact = out.size();
  for (const double off : {1e-9, 1e-3, 1.0})
    for (std::size_t i = 0; i < exact; ++i)
      for (const DVec2 way : {DVec2{off, 0}, DVec2{-off, 0}, DVec2{0, off}, DVec2{0, -off}})
        out.push_back(out[i] + way);
  Rng rng{40};
  for (int i = 0; i < 20000; ++i) {
    const double x = rng.between(around.min.x, around.max.x);
    out.push_back({x, rng.between(around.min.y, around.max.y)});
  }
  return out;
}

std::size_t other_leaves(const SectorMap& map, const BspTree& tree) {
  const MapBounds around{tree.bounds.min - DVec2{40, 40}, tree.bounds.max + DVec2{24, 24}};
  const LeafGrid grid = build_leaf_grid(tree, around);
  const MapBounds beyond{around.min - DVec2{50, 50}, around.max + DVec2{50, 50}};
  std::size_t other = 0;
  for (const DVec2 p : awkward_points(map, beyond)) other += grid.leaf_at(tree, p) != tree.leaf_at(p) ? 1 : 0;
  return other;
}

/// A star of lines through one place: one cell with many leaves, around it cells with few.
SectorMap fan_map() {
  MapWriter w;
  w.map.name = "FAN";
  constexpr int spokes = 24;
  std::vector<DVec2> rim;
  for (int i = 0; i < spokes; ++i) {
    const DVec2 out = heading(Turn16{static_cast<std::uint16_t>(-i * 65536 / spokes)});
    rim.push_back({std::round(out.x * 500), std::round(out.y * 500)});
  }
  std::vector<std::uint32_t> slices;
  for (int i = 0; i < spokes; ++i) slices.push_back(w.sector(i, 128));
  for (std::size_t i = 0; i < rim.size(); ++i) {
    const std::size_t next = (i + 1) % rim.size();
    w.line(rim[i], rim[next], slices[i]);
    w.line(rim[next], {0, 0}, slices[i], slices[next]);
  }
  return w.map;
}

}  // namespace

TEST_CASE("the grid of leaves answers as the tree does, on lines and corners too", "[world][leaf_grid]") {
  for (const SectorMap& map : {obstacle_map(), fan_map()}) {
    CAPTURE(map.name);
    CHECK(other_leaves(map, build_bsp(map)) == 0);
  }
}

TEST_CASE("the grid of leaves answers as the trees of real maps do", "[world][leaf_grid]") {
  each_freedoom_map([](const SectorMap& map, const std::string&,
                       std::uint64_t) { CHECK(other_leaves(map, build_bsp(map)) == 0); },
                    17);
}

TEST_CASE("cells that are cut alike share their tree", "[world][leaf_grid]") {
  const SectorMap map = obstacle_map();
  const BspTree tree = build_bsp(map);
  const LeafGrid grid = build_leaf_grid(tree, tree.bounds);
  const auto cut = std::count_if(grid.cells.begin(), grid.cells.end(),
                                 [](std::uint32_t at) { return (at & BspTree::leaf_bit) == 0; });
  CHECK(cut > 0);
  CHECK(grid.nodes.size() * 2 < static_cast<std::size_t>(cut));
}
