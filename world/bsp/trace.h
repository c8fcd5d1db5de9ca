#pragma once
#include <algorithm>

#include "world/bsp/tree.h"

namespace ashlar {

/// Where a path enters a leaf: over which partition, and from which side of it.
struct LeafEntry {
  std::uint32_t node = no_index;  ///< no_index: the path starts here
  bool from_front = false;
};

/// Visits the leaves on the path p + t d for t in [t0, t1] in order: visit(leaf, t_in, t_out, LeafEntry),
/// which returns false to stop. A path along a partition counts as in front of it, as leaf_at() does, so no
/// leaf on the way is skipped and none is visited that the path does not meet. Cost: leaves met times depth.
template <typename Visit>
void trace_leaves(const BspTree& tree, std::uint32_t start, DVec2 p, DVec2 d, double t0, double t1,
                  Visit&& visit) {
  struct Later {  // without defaults: the stack is not to be filled with them at every call
    std::uint32_t at, node;
    double t0, t1;
    bool from_front;
  };
  Later stack[BspTree::depth_max];
  std::uint32_t depth = 0;
  Later now{start, no_index, t0, t1, false};
  for (;;) {
    while ((now.at & BspTree::leaf_bit) == 0) {
      const BspTree::Node& n = tree.nodes[now.at];
      const double s = BspTree::side(n, p);
      const double ds = d.x * n.dy - d.y * n.dx;
      const bool front0 = s + ds * now.t0 >= 0;
      const bool front1 = s + ds * now.t1 >= 0;
      if (front0 == front1) {
        now.at = n.child[front0 ? 0 : 1];
        continue;
      }
      const double t = std::clamp(-s / ds, now.t0, now.t1);
      stack[depth++] = {n.child[front0 ? 1 : 0], now.at, t, now.t1, front0};
      now.t1 = t;
      now.at = n.child[front0 ? 0 : 1];
    }
    if (!visit(now.at & ~BspTree::leaf_bit, now.t0, now.t1, LeafEntry{now.node, now.from_front}) ||
        depth == 0)
      return;
    now = stack[--depth];
  }
}

/// Visits every leaf that the closed disc reaches: visit(leaf). Leaves count by their side of the partitions
/// above them, so some that end just short of the disc come too. Cost: leaves met times depth.
template <typename Visit>
void leaves_in_disc(const BspTree& tree, DVec2 centre, double radius, Visit&& visit) {
  std::uint32_t stack[BspTree::depth_max];
  std::uint32_t depth = 0;
  std::uint32_t at = tree.root;
  for (;;) {
    while ((at & BspTree::leaf_bit) == 0) {
      const BspTree::Node& n = tree.nodes[at];
      const double s = BspTree::side(n, centre);
      const double reach2 = radius * radius * (n.dx * n.dx + n.dy * n.dy);
      if (s * s <= reach2) {
        stack[depth++] = n.child[1];
        at = n.child[0];
      } else {
        at = n.child[s >= 0 ? 0 : 1];
      }
    }
    visit(at & ~BspTree::leaf_bit);
    if (depth == 0) return;
    at = stack[--depth];
  }
}

}  // namespace ashlar
