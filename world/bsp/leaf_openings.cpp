#include <algorithm>
#include <cmath>

#include "world/bsp/visibility.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double shortest = 1e-4;  // map units
constexpr double pinch = 1e-2;     // half the width that an opening of no width is given

/// A piece of a partition line, by parameter along the node's direction, and the leaf beside it.
struct Piece {
  double from, to;
  std::uint32_t leaf;
};

struct Splitter {
  const BspTree& tree;
  const BspTree::Node& line;
  std::vector<Piece>& out;
  bool front;  ///< which side of the line is asked for

  DVec2 at(double t) const { return {line.x + line.dx * t, line.y + line.dy * t}; }

  /// Sends [from, to] of the line down a subtree. A piece that lies on another partition goes to its side
  /// that the wanted side of the line is on.
  void run(std::uint32_t node, double from, double to) {
    while ((node & BspTree::leaf_bit) == 0) {
      const BspTree::Node& n = tree.nodes[node];
      const double scale = std::sqrt(n.dx * n.dx + n.dy * n.dy);
      const double s0 = BspTree::side(n, at(from)) / scale, s1 = BspTree::side(n, at(to)) / scale;
      constexpr double on = 1e-5;
      if (std::fabs(s0) <= on && std::fabs(s1) <= on) {
        const bool along = n.dx * line.dx + n.dy * line.dy > 0;
        node = n.child[along == front ? 0 : 1];
      } else if (s0 >= -on && s1 >= -on) {
        node = n.child[0];
      } else if (s0 <= on && s1 <= on) {
        node = n.child[1];
      } else {
        const double t = from + (to - from) * (s0 / (s0 - s1));
        run(n.child[s0 > 0 ? 0 : 1], from, t);
        node = n.child[s0 > 0 ? 1 : 0];
        from = t;
      }
    }
    const std::uint32_t leaf = node & ~BspTree::leaf_bit;
    if (tree.leaves[leaf].sector != no_index) out.push_back({from, to, leaf});
  }
};

/// The part of a node's line inside its cell, kept while walking down.
struct Cell {
  std::uint32_t node;
  std::vector<BspTree::Node> walls;  ///< partitions above, turned so that the cell is in front
};

bool clip_to(const std::vector<BspTree::Node>& walls, const BspTree::Node& line, double& from, double& to) {
  for (const BspTree::Node& w : walls) {
    const double s = BspTree::side(w, {line.x, line.y});
    const double speed = line.dx * w.dy - line.dy * w.dx;
    if (speed == 0) {
      if (s < 0) return false;
      continue;
    }
    const double t = -s / speed;
    if (speed > 0)
      from = std::max(from, t);
    else
      to = std::min(to, t);
  }
  return from < to;
}

/// Do two pieces touch in a point with void on both other sides of it? A line of sight may pass even there,
/// straight through the corners of two walls. Elsewhere it passes over the neighbours' openings too.
bool pinched(const Piece& f, const Piece& b, const std::vector<Piece>& front, const std::vector<Piece>& back,
             double near) {
  const double at = f.to < b.to ? f.to : b.to;
  const auto goes_on = [&](const std::vector<Piece>& pieces, const Piece& but) {
    return std::any_of(pieces.begin(), pieces.end(), [&](const Piece& p) {
      return &p != &but && p.from <= at + near && p.to >= at - near;
    });
  };
  return !goes_on(front, f) && !goes_on(back, b);
}

}  // namespace

std::vector<LeafOpening> leaf_openings(const BspTree& tree) {
  std::vector<LeafOpening> out;
  if ((tree.root & BspTree::leaf_bit) != 0) return out;
  std::vector<Cell> open{{tree.root, {}}};
  std::vector<Piece> front, back;
  while (!open.empty()) {
    const Cell cell = std::move(open.back());
    open.pop_back();
    const BspTree::Node& n = tree.nodes[cell.node];
    const double line_length = std::sqrt(n.dx * n.dx + n.dy * n.dy);
    ASHLAR_ASSERT(line_length > 0);
    ASHLAR_ASSERT(cell.walls.size() < BspTree::depth_max);
    double from = -1e6 / line_length, to = 1e6 / line_length;
    if (clip_to(cell.walls, n, from, to)) {
      front.clear(), back.clear();
      Splitter{tree, n, front, true}.run(n.child[0], from, to);
      Splitter{tree, n, back, false}.run(n.child[1], from, to);
      for (const Piece& f : front) {
        for (const Piece& b : back) {
          double low = std::max(f.from, b.from), high = std::min(f.to, b.to);
          if ((high - low) * line_length < shortest) {
            if ((low - high) * line_length > shortest || !pinched(f, b, front, back, shortest / line_length))
              continue;
            const double middle = (low + high) / 2;
            low = middle - pinch / line_length, high = middle + pinch / line_length;
          }
          ASHLAR_ASSERT(f.leaf != b.leaf && low < high);
          out.push_back(
              {{n.x + n.dx * low, n.y + n.dy * low}, {n.x + n.dx * high, n.y + n.dy * high}, f.leaf, b.leaf});
        }
      }
    }
    for (const int side : {1, 0}) {
      if ((n.child[side] & BspTree::leaf_bit) != 0) continue;
      Cell child{n.child[side], cell.walls};
      BspTree::Node wall = n;
      if (side == 1) wall.dx = -n.dx, wall.dy = -n.dy;
      child.walls.push_back(wall);
      open.push_back(std::move(child));
    }
  }
  return out;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> sector_neighbours(const BspTree& tree) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  for (const LeafOpening& o : leaf_openings(tree)) {
    const std::uint32_t a = tree.leaves[o.front].sector, b = tree.leaves[o.back].sector;
    if (a != b) out.emplace_back(std::min(a, b), std::max(a, b));
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

}  // namespace ashlar
