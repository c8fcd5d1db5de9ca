#include "world/bsp/leaf_grid.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "world/math/assert.h"
#include "world/math/hash.h"

// Cells are made by halving a square over and over: whatever lies in one leaf stays there when it is halved,
// so only squares that a partition crosses cost anything.

namespace ashlar {
namespace {

/// Measured on Freedoom's largest maps: cells of 8 take a quarter of the memory and cost half as much again a
/// point, and a sixth more for a line of sight.
constexpr double leaf_cell_smallest = 4;
constexpr double cells_max = 4194304;

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

/// The trees of the cells. They are made from below, so equal ones are met with equal children.
class CellTrees {
 public:
  CellTrees(const BspTree& tree, std::vector<BspTree::Node>& out) : tree_(tree), out_(out) {}

  /// What is left of the tree below `at` for points of one square.
  std::uint32_t within(std::uint32_t at, DVec2 low, double size) {
    at = deepest_with(tree_, at, low, size);
    if ((at & BspTree::leaf_bit) != 0) return at;
    BspTree::Node node = tree_.nodes[at];
    for (std::uint32_t& child : node.child) child = within(child, low, size);
    const auto [known, made] =
        known_.try_emplace({at, node.child[0], node.child[1]}, static_cast<std::uint32_t>(out_.size()));
    if (made) out_.push_back(node);
    return known->second;
  }

 private:
  struct Key {
    std::uint32_t node, front, back;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    std::size_t operator()(const Key& k) const {
      return mix64((std::uint64_t{k.front} << 32 | k.back) ^ mix64(k.node));
    }
  };

  const BspTree& tree_;
  std::vector<BspTree::Node>& out_;
  std::unordered_map<Key, std::uint32_t, KeyHash> known_;
};

struct Square {
  std::int32_t x, y, cells;  ///< lower corner and edge in cells
  std::uint32_t at;
};

}  // namespace

LeafGrid build_leaf_grid(const BspTree& tree, const MapBounds& footprint) {
  ASHLAR_ASSERT(footprint.min.x < footprint.max.x && footprint.min.y < footprint.max.y);
  LeafGrid grid;
  double cell = leaf_cell_smallest;
  const double width = footprint.max.x - footprint.min.x, depth = footprint.max.y - footprint.min.y;
  while ((width / cell + 1) * (depth / cell + 1) > cells_max) cell *= 2;
  grid.inverse_cell = 1 / cell;
  grid.origin = footprint.min;
  grid.nx = static_cast<std::int32_t>(width / cell) + 1;
  grid.ny = static_cast<std::int32_t>(depth / cell) + 1;
  grid.cells.resize(static_cast<std::size_t>(grid.nx) * static_cast<std::size_t>(grid.ny));

  CellTrees trees(tree, grid.nodes);
  std::int32_t edge = 1;
  while (edge < grid.nx || edge < grid.ny) edge *= 2;
  std::vector<Square> open{{0, 0, edge, tree.root}};
  while (!open.empty()) {
    Square s = open.back();
    open.pop_back();
    if (s.x >= grid.nx || s.y >= grid.ny) continue;
    const DVec2 low = grid.origin + DVec2{s.x * cell, s.y * cell};
    ASHLAR_ASSERT(s.x >= 0 && s.y >= 0 && s.cells >= 1);
    s.at = s.cells == 1 ? trees.within(s.at, low, cell) : deepest_with(tree, s.at, low, s.cells * cell);
    if (s.cells == 1 || (s.at & BspTree::leaf_bit) != 0) {
      const bool leaf = (s.at & BspTree::leaf_bit) != 0;
      ASHLAR_ASSERT((s.at & ~BspTree::leaf_bit) < (leaf ? tree.leaves.size() : grid.nodes.size()));
      for (std::int32_t y = s.y; y < std::min(s.y + s.cells, grid.ny); ++y)
        for (std::int32_t x = s.x; x < std::min(s.x + s.cells, grid.nx); ++x)
          grid.cells[static_cast<std::size_t>(y) * static_cast<std::size_t>(grid.nx) +
                     static_cast<std::size_t>(x)] = s.at;
      continue;
    }
    const std::int32_t half = s.cells / 2;
    for (const std::int32_t dy : {0, half})
      for (const std::int32_t dx : {0, half}) open.push_back({s.x + dx, s.y + dy, half, s.at});
  }
  grid.nodes.shrink_to_fit();
  return grid;
}

}  // namespace ashlar
