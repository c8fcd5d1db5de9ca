#include <algorithm>
#include <cmath>
#include <optional>

#include "world/bsp/polygon.h"
#include "world/bsp/tree.h"
#include "world/bsp/tree_parts.h"
#include "world/math/assert.h"

// Our node builder. Each side of each line is a seg that faces its sector. A set of segs is split along the
// line of one of them, chosen for few cuts and balance, until every seg of a set has all others in front:
// that cell belongs to one sector, and what lies behind its one-sided segs is cut off as void. Partitions are
// always whole source lines (exact coordinates), never pieces, so that rounding does not add up.

namespace ashlar {
namespace {

/// A point is on a partition when it is nearer than this; whole-numbered vertices never are by accident.
constexpr double on_line = 1e-6;
/// Partitions tried per cell. More gives a few per cent fewer splits for a multiple of the time.
constexpr std::size_t partition_candidates_max = 40;
/// A convex cell with more void to cut off than this is halved first, to keep the tree flat.
constexpr std::size_t void_chain_max = 12;
/// From here on only balance counts, and from depth_give_up on a cell becomes a leaf as it is.
constexpr std::uint32_t depth_for_balance = 96;
constexpr std::uint32_t depth_give_up = BspTree::depth_max - 64;
static_assert(void_chain_max < BspTree::depth_max - depth_give_up);  // room for void behind the deepest cell
static_assert(depth_for_balance < depth_give_up);

struct Seg {
  DVec2 a, b;
  std::uint32_t line = 0;
  std::uint32_t sector = 0;
  bool one_sided = false;
  bool self_referencing = false;
  bool back = false;
};

struct Counts {
  std::size_t front = 0, back = 0, splits = 0;
};

class Builder {
 public:
  explicit Builder(const SectorMap& map) : map_(map) {}

  BspTree run() {
    tree_.bounds = bounds_of(map_);
    std::vector<Seg> segs;
    for (std::uint32_t i = 0; i < map_.lines.size(); ++i) add_segs(i, segs);
    Polygon all = rectangle(tree_.bounds, bsp_bounds_margin);
    tree_.root = segs.empty() ? add_leaf(tree_, no_index, all) : split(std::move(segs), std::move(all), 1);
    check();
    return std::move(tree_);
  }

 private:
  /// What searches rely on: a stack of depth_max holds every way down, and every way down ends in a leaf.
  void check() const {
    ASHLAR_ASSERT(tree_.depth <= BspTree::depth_max);
    ASHLAR_ASSERT(tree_.leaves.size() == tree_.nodes.size() + 1);  // each node parts one region into two
    for (const BspTree::Node& n : tree_.nodes) {
      ASHLAR_ASSERT(n.dx != 0 || n.dy != 0);
      for (const std::uint32_t child : n.child) {
        const std::size_t known = (child & BspTree::leaf_bit) != 0 ? tree_.leaves.size() : tree_.nodes.size();
        ASHLAR_ASSERT((child & ~BspTree::leaf_bit) < known);
      }
    }
    for (const BspTree::Leaf& l : tree_.leaves) {
      ASHLAR_ASSERT(l.sector == no_index || l.sector < map_.sectors.size());
      ASHLAR_ASSERT(l.first_corner + l.corner_count <= tree_.corners.size());
    }
  }

  void add_segs(std::uint32_t index, std::vector<Seg>& segs) const {
    const MapLine& line = map_.lines[index];
    const DVec2 a = map_.vertices[line.v1], b = map_.vertices[line.v2];
    if (length(b - a) < on_line) return;  // zero-length lines bound nothing
    const std::uint32_t front = map_.front_sector(line), back = map_.back_sector(line);
    const bool self = front == back;
    if (front != no_index) segs.push_back({a, b, index, front, back == no_index, self, false});
    if (back != no_index) segs.push_back({b, a, index, back, front == no_index, self, true});
  }

  BspTree::Node partition_of(const Seg& seg) const { return partition_along(map_, seg.line, seg.back); }

  static Counts count(const BspTree::Node& node, const std::vector<Seg>& segs) {
    Counts c;
    const double tolerance = on_line * std::sqrt(node.dx * node.dx + node.dy * node.dy);
    for (const Seg& s : segs) {
      const double sa = BspTree::side(node, s.a), sb = BspTree::side(node, s.b);
      const bool front = sa > tolerance || sb > tolerance;
      const bool back = sa < -tolerance || sb < -tolerance;
      if (front && back)
        ++c.splits;
      else if (front || (!back && faces_along(node, s)))
        ++c.front;
      else
        ++c.back;
    }
    return c;
  }

  /// For segs on the partition: those that run with it face its front.
  static bool faces_along(const BspTree::Node& node, const Seg& s) {
    return dot(s.b - s.a, DVec2{node.dx, node.dy}) > 0;
  }

  /// The best partition among the segs' lines, or false when the set is convex.
  bool choose(const std::vector<Seg>& segs, std::uint32_t depth, BspTree::Node& best) const {
    double best_cost = 0;
    bool found = false;
    const auto consider = [&](const Seg& s) {
      const BspTree::Node node = partition_of(s);
      const Counts c = count(node, segs);
      if (c.back + c.splits == 0) return;
      const double uneven = std::fabs(static_cast<double>(c.front) - static_cast<double>(c.back));
      const double split_price = depth < depth_for_balance ? 9.0 : 1.0;
      // Upright partitions cut fewer things later and are cheaper to stand on.
      const double slanted = node.dx != 0 && node.dy != 0 ? 1.0 : 0.0;
      const double cost = static_cast<double>(c.splits) * split_price + uneven + slanted;
      if (found && cost >= best_cost) return;
      found = true;
      best_cost = cost;
      best = node;
    };
    const std::size_t stride = std::max<std::size_t>(1, segs.size() / partition_candidates_max);
    std::uint32_t last_line = no_index;
    for (std::size_t i = 0; i < segs.size(); i += stride) {
      if (segs[i].line == last_line) continue;
      last_line = segs[i].line;
      consider(segs[i]);
    }
    // The two sides of a line are neighbours; in a set of few lines the skipped side may be the one that
    // cuts.
    if (!found)
      for (std::size_t i = 0; i < segs.size() && !found; ++i) consider(segs[i]);
    return found;
  }

  static void distribute(const BspTree::Node& node, const std::vector<Seg>& segs, std::vector<Seg>& front,
                         std::vector<Seg>& back) {
    const double tolerance = on_line * std::sqrt(node.dx * node.dx + node.dy * node.dy);
    for (const Seg& s : segs) {
      const double sa = BspTree::side(node, s.a), sb = BspTree::side(node, s.b);
      const bool in_front = sa > tolerance || sb > tolerance;
      const bool behind = sa < -tolerance || sb < -tolerance;
      if (in_front && behind) {
        const DVec2 middle = s.a + (s.b - s.a) * (sa / (sa - sb));
        Seg first = s, second = s;
        first.b = middle;
        second.a = middle;
        (sa > 0 ? front : back).push_back(first);
        (sa > 0 ? back : front).push_back(second);
      } else if (in_front || (!behind && faces_along(node, s))) {
        front.push_back(s);
      } else {
        back.push_back(s);
      }
    }
  }

  std::uint32_t split(std::vector<Seg> segs, Polygon polygon, std::uint32_t depth) {
    tree_.depth = std::max(tree_.depth, depth);
    BspTree::Node node;
    if (depth >= depth_give_up) return add_leaf(tree_, sector_of(segs), polygon);
    if (!choose(segs, depth, node)) return convex(std::move(segs), std::move(polygon), depth);
    return fork(node, std::move(segs), std::move(polygon), depth);
  }

  std::uint32_t fork(const BspTree::Node& node, std::vector<Seg> segs, Polygon polygon, std::uint32_t depth) {
    std::vector<Seg> front, back;
    distribute(node, segs, front, back);
    segs = {};
    CutPolygon parts = cut(polygon, node);
    polygon = {};
    ASHLAR_ASSERT(depth < BspTree::depth_max);
    const auto index = static_cast<std::uint32_t>(tree_.nodes.size());
    tree_.nodes.push_back(node);
    const std::uint32_t f = split(std::move(front), std::move(parts.front), depth + 1);
    const std::uint32_t b = split(std::move(back), std::move(parts.back), depth + 1);
    tree_.nodes[index].child[0] = f;
    tree_.nodes[index].child[1] = b;
    return index;
  }

  /// A convex cell: what is behind its one-sided segs is void.
  std::uint32_t convex(std::vector<Seg> segs, Polygon polygon, std::uint32_t depth) {
    std::vector<Seg> walls;
    for (const Seg& s : segs)
      if (s.one_sided && reaches_behind(polygon, partition_of(s))) walls.push_back(s);
    if (walls.size() > void_chain_max)
      if (const auto node = chord(walls, segs))
        return fork(*node, std::move(segs), std::move(polygon), depth);
    // Longest first: it cuts off most.
    std::sort(walls.begin(), walls.end(), [](const Seg& a, const Seg& b) {
      const double la = dot(a.b - a.a, a.b - a.a), lb = dot(b.b - b.a, b.b - b.a);
      if (la != lb) return la > lb;
      return a.line != b.line ? a.line < b.line : a.back < b.back;
    });
    std::vector<BspTree::Node> partitions;
    partitions.reserve(walls.size());
    for (const Seg& s : walls) partitions.push_back(partition_of(s));
    return add_cell(tree_, sector_of(segs), std::move(polygon), partitions, on_line, depth);
  }

  /// A partition between two corners of a convex cell that leaves segs on both sides.
  static std::optional<BspTree::Node> chord(const std::vector<Seg>& walls, const std::vector<Seg>& segs) {
    const DVec2 a = walls.front().a;
    std::optional<BspTree::Node> best;
    std::size_t best_smaller = 0;
    for (const Seg& s : walls) {
      BspTree::Node node;
      node.x = a.x, node.y = a.y, node.dx = s.a.x - a.x, node.dy = s.a.y - a.y;
      if (node.dx * node.dx + node.dy * node.dy < 1) continue;
      const Counts c = count(node, segs);
      const std::size_t smaller = std::min(c.front, c.back);
      if (c.splits > 0 || smaller <= best_smaller) continue;
      best_smaller = smaller;
      best = node;
    }
    return best;
  }

  /// The sector that a convex set of segs faces: the one with the longest walls; lines with the same sector
  /// on both sides count only where there is nothing else.
  std::uint32_t sector_of(const std::vector<Seg>& segs) {
    bool mixed = false;
    for (const Seg& s : segs) mixed = mixed || s.sector != segs[0].sector;
    if (!mixed) return segs[0].sector;
    std::vector<std::pair<std::uint32_t, double>> lengths;
    for (const Seg& s : segs) {
      const double l = length(s.b - s.a) * (s.self_referencing ? 1e-9 : 1.0);
      auto it =
          std::find_if(lengths.begin(), lengths.end(), [&](const auto& e) { return e.first == s.sector; });
      if (it == lengths.end())
        lengths.emplace_back(s.sector, l);
      else
        it->second += l;
    }
    const auto best = std::max_element(lengths.begin(), lengths.end(), [](const auto& a, const auto& b) {
      return a.second != b.second ? a.second < b.second : a.first > b.first;
    });
    return best->first;
  }

  const SectorMap& map_;
  BspTree tree_;
};

}  // namespace

BspTree build_bsp(const SectorMap& map) { return Builder(map).run(); }

}  // namespace ashlar
