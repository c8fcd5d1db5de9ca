#include <cmath>

#include "world/bsp/line_grid.h"

// Cells are made by halving a square over and over: whatever lies in one leaf stays there when it is halved,
// so only squares that a partition crosses cost anything.

namespace ashlar {
namespace {

constexpr double cell_smallest = 8;
/// Four mebibytes at most. Measured on the largest maps: a quarter of that costs a tenth to a third more a
/// point.
constexpr double cells_max = 1048576;

/// The deepest node below `at` whose region holds the closed square.
std::uint32_t deepest_with(const BspTree& tree, std::uint32_t at, DVec2 low, double size) {
  const DVec2 middle = low + DVec2{size / 2, size / 2};
  while ((at & BspTree::leaf_bit) == 0) {
    const BspTree::Node& n = tree.nodes[at];
    const double s = BspTree::side(n, middle);
    // Within the square the side differs from its middle's by at most this. A little more keeps clear of the
    // line, where rounding decides.
    const double reach = (size / 2 + 1e-5) * (std::fabs(n.dx) + std::fabs(n.dy));
    if (std::fabs(s) <= reach) break;
    at = n.child[s > 0 ? 0 : 1];
  }
  return at;
}

struct Square {
  std::int32_t x, y, cells;  ///< lower corner and edge in cells
  std::uint32_t at;
};

}  // namespace

StartGrid build_start_grid(const BspTree& tree, const MapBounds& footprint) {
  StartGrid grid;
  double cell = cell_smallest;
  const double width = footprint.max.x - footprint.min.x, depth = footprint.max.y - footprint.min.y;
  while ((width / cell + 1) * (depth / cell + 1) > cells_max) cell *= 2;
  grid.inverse_cell = 1 / cell;
  grid.origin = footprint.min;
  grid.nx = static_cast<std::int32_t>(width / cell) + 1;
  grid.ny = static_cast<std::int32_t>(depth / cell) + 1;
  grid.start.assign(static_cast<std::size_t>(grid.nx) * static_cast<std::size_t>(grid.ny), tree.root);

  std::int32_t edge = 1;
  while (edge < grid.nx || edge < grid.ny) edge *= 2;
  std::vector<Square> open{{0, 0, edge, tree.root}};
  while (!open.empty()) {
    Square s = open.back();
    open.pop_back();
    if (s.x >= grid.nx || s.y >= grid.ny) continue;
    s.at = deepest_with(tree, s.at, grid.origin + DVec2{s.x * cell, s.y * cell}, s.cells * cell);
    if (s.cells == 1 || (s.at & BspTree::leaf_bit) != 0) {
      for (std::int32_t y = s.y; y < std::min(s.y + s.cells, grid.ny); ++y)
        for (std::int32_t x = s.x; x < std::min(s.x + s.cells, grid.nx); ++x)
          grid.start[static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.nx) +
                     static_cast<std::size_t>(x)] = s.at;
      continue;
    }
    const std::int32_t half = s.cells / 2;
    for (const std::int32_t dy : {0, half})
      for (const std::int32_t dx : {0, half}) open.push_back({s.x + dx, s.y + dy, half, s.at});
  }
  return grid;
}

}  // namespace ashlar
