#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "world/bsp/sector_map.h"

namespace ashlar {

/// A compiled map: the plane cut by lines into convex leaves, each a part of one sector or of the void.
/// Coordinates are map units. Built by build_bsp(), whatever nodes came with the map; immutable afterwards.
struct BspTree {
  static constexpr std::uint32_t leaf_bit = 0x80000000u;
  /// Depth of any tree that is handed out; searches keep a stack of this size.
  static constexpr std::uint32_t depth_max = 512;

  /// A partition through (x, y) along (dx, dy). Child 0 is its front, on the right hand, the line included.
  struct Node {
    double x = 0, y = 0, dx = 0, dy = 0;
    std::uint32_t child[2] = {leaf_bit, leaf_bit};  ///< node index, or leaf index with leaf_bit
    std::uint32_t line = no_index;                  ///< the source line it lies on, if any
  };
  struct Leaf {
    std::uint32_t sector = no_index;  ///< no_index: void
    std::uint32_t first_corner = 0, corner_count = 0;
  };

  std::vector<Node> nodes;
  std::vector<Leaf> leaves;
  std::vector<DVec2> corners;  ///< of the leaves' convex polygons, counter-clockwise; void ends at the bounds
  std::uint32_t root = leaf_bit;
  std::uint32_t depth = 0;
  MapBounds bounds;

  /// Signed: >= 0 in front. Exact for coordinates of up to 16 integer and 16 fractional bits.
  static double side(const Node& n, DVec2 p) { return (p.x - n.x) * n.dy - (p.y - n.y) * n.dx; }

  /// The leaf that holds a point; on a partition line the front side. Cost: the tree's depth.
  std::uint32_t leaf_at(DVec2 p) const { return leaf_below(nodes, root, p); }
  /// The leaf that holds a point, by `at`, one of these nodes or a leaf with leaf_bit, and what is below it.
  static std::uint32_t leaf_below(std::span<const Node> nodes, std::uint32_t at, DVec2 p) {
    while ((at & leaf_bit) == 0) {
      const Node& n = nodes[at];
      at = n.child[side(n, p) >= 0 ? 0 : 1];
    }
    return at & ~leaf_bit;
  }
  /// Sector at a point; no_index: void.
  std::uint32_t sector_at(DVec2 p) const { return leaves[leaf_at(p)].sector; }
};

/// Compiles a map. Deterministic; copes with overlapping, zero-length, unclosed and self-referencing lines:
/// every point still gets one leaf, and where the lines contradict each other the longer wall decides.
BspTree build_bsp(const SectorMap& map);

/// Area of a leaf's polygon in square map units.
double leaf_area(const BspTree& tree, std::uint32_t leaf);

}  // namespace ashlar
