#include <cmath>
#include <map>
#include <utility>

#include "tests/world/bsp/maps.h"
#include "world/bsp/sight_cells.h"
#include "world/bsp/visibility.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

double off_line(DVec2 a, DVec2 b, DVec2 p) { return std::fabs(cross(b - a, p - a)) / length(b - a); }
double along(DVec2 a, DVec2 b, DVec2 p) { return dot(b - a, p - a) / length(b - a); }

}  // namespace

TEST_CASE("a room that its tree cuts for a neighbour's wall is one cell again", "[world][bsp][sight_cells]") {
  // Three rooms side by side above a long one: its northern wall is in three pieces, and the walls between
  // the upper rooms cut it when the tree goes on with them.
  MapWriter w;
  const auto hall = w.sector(0, 128);
  std::uint32_t upper[3];
  for (auto& u : upper) u = w.sector(0, 96);
  for (int i = 0; i < 3; ++i) {
    const double x = 128.0 * i;
    w.line({x, 128}, {x, 256}, upper[i], i > 0 ? upper[i - 1] : no_index);
    w.line({x, 256}, {x + 128, 256}, upper[i]);
    w.line({x + 128, 128}, {x, 128}, upper[i], hall);
  }
  w.line({384, 256}, {384, 128}, upper[2]);
  w.line({384, 128}, {384, 0}, hall);
  w.line({384, 0}, {0, 0}, hall);
  w.line({0, 0}, {0, 128}, hall);
  const SightCells cells = sight_cells(build_bsp(w.map));
  CHECK(cells.sector.size() == 4);
  CHECK(cells.openings.size() == 5);
}

TEST_CASE("cells of sight are fewer than leaves and leave no opening between sectors out",
          "[world][bsp][sight_cells][freedoom]") {
  std::size_t leaves = 0, cells_all = 0, missing = 0;
  each_freedoom_map([&](const SectorMap& map, const std::string&, std::uint64_t) {
    const BspTree tree = build_bsp(map);
    const SightCells cells = sight_cells(tree);
    for (const BspTree::Leaf& l : tree.leaves) leaves += l.sector != no_index ? 1 : 0;
    cells_all += cells.sector.size();
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<const SightCells::Opening*>> between;
    for (const SightCells::Opening& o : cells.openings) {
      const std::uint32_t a = cells.sector[o.front], b = cells.sector[o.back];
      between[{std::min(a, b), std::max(a, b)}].push_back(&o);
    }
    for (const LeafOpening& o : leaf_openings(tree)) {
      const std::uint32_t a = tree.leaves[o.front].sector, b = tree.leaves[o.back].sector;
      if (a == b) continue;
      const auto& there = between[{std::min(a, b), std::max(a, b)}];
      const bool held = std::any_of(there.begin(), there.end(), [&](const SightCells::Opening* c) {
        constexpr double off = 1e-6;
        const auto on = [&](DVec2 p) {
          const double t = along(c->a, c->b, p);
          return off_line(c->a, c->b, p) < off && t > -off && t < length(c->b - c->a) + off;
        };
        return on(o.a) && on(o.b);
      });
      missing += held ? 0 : 1;
    }
  });
  CHECK(missing == 0);
  CHECK(cells_all * 10 <= leaves * 9);
}
