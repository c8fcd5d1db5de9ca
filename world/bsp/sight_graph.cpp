#include "world/bsp/sight_graph.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "world/bsp/visibility.h"
#include "world/bsp/widest_heights.h"
#include "world/math/shaft.h"

namespace ashlar {
namespace {

/// Metres by which openings count as larger: coordinates are rounded on their way from the map.
constexpr double slack_m = 1e-6;
/// And by which leaves do: their corners are rounded where the tree cut them.
constexpr double corner_slack_m = 0.005;

/// The hull of two upright rectangles, counter-clockwise: at most eight corners.
class Hull {
 public:
  Hull(const Aabb& one, const Aabb& other) {
    std::array<DVec2, 8> points;
    std::size_t n = 0;
    for (const Aabb* box : {&one, &other})
      for (const double x : {box->min.x, box->max.x})
        for (const double y : {box->min.y, box->max.y}) points[n++] = {x, y};
    std::ranges::sort(points, [](DVec2 a, DVec2 b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
    // Andrew's monotone chain.
    const auto turns_right = [this](std::size_t least, DVec2 p) {
      return count_ >= least &&
             cross(corners_[count_ - 1] - corners_[count_ - 2], p - corners_[count_ - 1]) <= 0;
    };
    for (const DVec2 p : points) {
      while (turns_right(2, p)) --count_;
      corners_[count_++] = p;
    }
    const std::size_t lower = count_ + 1;
    for (std::size_t i = points.size() - 1; i-- > 0;) {
      while (turns_right(lower, points[i])) --count_;
      corners_[count_++] = points[i];
    }
    --count_;  // the first again
  }

  /// Does a segment touch it?
  bool touches(DVec2 a, DVec2 b) const {
    double from = 0, to = 1;
    for (std::size_t i = 0; i < count_; ++i) {
      const DVec2 corner = corners_[i], way = corners_[(i + 1) % count_] - corner;
      const double units = std::sqrt(way.x * way.x + way.y * way.y);
      const double at_a = cross(way, a - corner) + slack_m * units,
                   at_b = cross(way, b - corner) + slack_m * units;
      if (at_a < 0 && at_b < 0) return false;
      if (at_a < 0) from = std::max(from, at_a / (at_a - at_b));
      if (at_b < 0) to = std::min(to, at_a / (at_a - at_b));
    }
    return from <= to;
  }

 private:
  std::array<DVec2, 17> corners_;
  std::size_t count_ = 0;
};

/// How high lines from one box to the other are, by how far along they have come.
class Rise {
 public:
  Rise(const Aabb& from, const Aabb& to)
      : low_(std::min(from.min.z, to.min.z)), high_(std::max(from.max.z, to.max.z)) {
    const DVec2 a = middle(from), b = middle(to);
    const DVec2 way = b - a;
    const double units = std::sqrt(way.x * way.x + way.y * way.y);
    flat_ = units < 1e-3;
    if (flat_) return;
    along_ = way * (1 / units);
    const auto reach = [this](const Aabb& box) {
      return 0.5 *
             (std::fabs(along_.x) * (box.max.x - box.min.x) + std::fabs(along_.y) * (box.max.y - box.min.y));
    };
    const double at_a = dot(a, along_), at_b = dot(b, along_);
    side_ = {at_a - reach(from), at_a + reach(from), at_b - reach(to), at_b + reach(to),
             from.min.z,         from.max.z,         to.min.z,         to.max.z};
    flat_ = side_.from_end >= side_.to_begin;
  }
  double high(DVec2 at) const { return flat_ ? high_ : side_.high(dot(at, along_)); }
  double low(DVec2 at) const { return flat_ ? low_ : side_.low(dot(at, along_)); }
  /// May a line pass an opening at some height between?
  bool passes(DVec2 a, DVec2 b, double low_m, double high_m) const {
    return low_m <= std::max(high(a), high(b)) + slack_m && high_m >= std::min(low(a), low(b)) - slack_m;
  }

 private:
  static DVec2 middle(const Aabb& box) {
    return {0.5 * (box.min.x + box.max.x), 0.5 * (box.min.y + box.max.y)};
  }
  DVec2 along_{};
  ShaftSide side_{};
  double low_, high_;  // of both
  bool flat_ = false;
};

/// Cuts a stretch of a line to where it lies between two values. False: nowhere.
bool clip(double a, double b, double low, double high, double& from, double& to) {
  low -= slack_m, high += slack_m;
  const double way = b - a;
  if (way == 0) return a >= low && a <= high;
  const double one = (low - a) / way, other = (high - a) / way;
  from = std::max(from, std::min(one, other));
  to = std::min(to, std::max(one, other));
  return from <= to;
}

}  // namespace

SightGraph::SightGraph(const PlacedMap& map) : map_(map) {
  const BspTree& tree = map.tree();
  const std::vector<LeafOpening> both = leaf_openings(tree);
  const std::vector<DrawnHeights> widest = widest_heights(map.source());
  first_.assign(tree.leaves.size() + 1, 0);
  for (const LeafOpening& o : both) ++first_[o.front + 1], ++first_[o.back + 1];
  for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
  openings_.resize(2 * both.size());
  std::vector<std::uint32_t> next(first_.begin(), first_.end() - 1);
  for (const LeafOpening& o : both) {
    const DrawnHeights &front = widest[tree.leaves[o.front].sector],
                       &back = widest[tree.leaves[o.back].sector];
    Opening opening{map.to_world(o.a), map.to_world(o.b), map.z_to_world(std::max(front.floor, back.floor)),
                    map.z_to_world(std::min(front.ceiling, back.ceiling)), o.back};
    openings_[next[o.front]++] = opening;
    opening.leaf = o.front;
    openings_[next[o.back]++] = opening;
  }
}

/// Leaves that a box touches, void ones too.
template <class Visit>
void SightGraph::leaves_in(const Aabb& box, Visit&& visit) const {
  const BspTree& tree = map_.tree();
  const DVec2 low = map_.to_map({box.min.x, box.min.y}), high = map_.to_map({box.max.x, box.max.y});
  const DVec2 middle = (low + high) * 0.5, half = (high - low) * 0.5;
  std::array<std::uint32_t, BspTree::depth_max + 1> stack;
  std::size_t size = 0;
  stack[size++] = tree.root;
  while (size > 0) {
    const std::uint32_t at = stack[--size];
    if ((at & BspTree::leaf_bit) != 0) {
      visit(at & ~BspTree::leaf_bit);
      continue;
    }
    const BspTree::Node& node = tree.nodes[at];
    const double side = BspTree::side(node, middle);
    const double reach = std::fabs(node.dy) * half.x + std::fabs(node.dx) * half.y + 1e-3;
    if (side >= -reach) stack[size++] = node.child[0];
    if (side <= reach) stack[size++] = node.child[1];
  }
}

template <class Shaft>
bool SightGraph::leads_out(std::uint32_t leaf, const Shaft& shaft) const {
  const BspTree& tree = map_.tree();
  const BspTree::Leaf& l = tree.leaves[leaf];
  if (!map_.sky(l.sector)) return false;
  for (std::uint32_t i = l.first_corner; i < l.first_corner + l.corner_count; ++i)
    if (shaft.high(map_.to_world(tree.corners[i])) >= map_.roof_m() - slack_m) return true;
  return false;
}

bool SightGraph::holds(const Aabb& box) const {
  const BlockBox& own = map_.box();
  return box.min.x >= own.min.x && box.min.y >= own.min.y && box.min.z >= own.min.z &&
         box.max.x <= own.max.x && box.max.y <= own.max.y && box.max.z <= own.max.z;
}

bool SightGraph::may_see(const Aabb& from, const Aabb& to, Scratch& scratch) const {
  const auto outside = [this](const Aabb& box) {
    const BlockBox& own = map_.box();
    return box.min.x > own.max.x || box.min.y > own.max.y || box.min.z > own.max.z || box.max.x < own.min.x ||
           box.max.y < own.min.y || box.max.z < own.min.z;
  };
  if (!holds(from)) return !holds(to) || !outside(from) || search(to, from, true, scratch);
  return holds(to) ? search(from, to, false, scratch) : !outside(to) || search(from, to, true, scratch);
}

void SightGraph::cover(std::uint32_t leaf, const Aabb& box, Aabb& out) const {
  const BspTree& tree = map_.tree();
  const BspTree::Leaf& l = tree.leaves[leaf];
  const auto add = [&out](DVec2 p) {
    out.min.x = std::min(out.min.x, p.x), out.min.y = std::min(out.min.y, p.y);
    out.max.x = std::max(out.max.x, p.x), out.max.y = std::max(out.max.y, p.y);
  };
  const DVec2 low{box.min.x, box.min.y}, high{box.max.x, box.max.y};
  // Corners of the rectangle that are not outside of any edge; leaves run one way round or the other.
  std::array<bool, 4> left{true, true, true, true}, right = left;
  const std::array<DVec2, 4> corners{low, DVec2{high.x, low.y}, high, DVec2{low.x, high.y}};
  for (std::uint32_t i = 0; i < l.corner_count; ++i) {
    const DVec2 a = map_.to_world(tree.corners[l.first_corner + i]),
                b = map_.to_world(tree.corners[l.first_corner + (i + 1) % l.corner_count]);
    for (std::size_t c = 0; c < corners.size(); ++c) {
      const double side = cross(b - a, corners[c] - a);
      left[c] = left[c] && side >= -slack_m;
      right[c] = right[c] && side <= slack_m;
    }
    double from = 0, to = 1;
    if (clip(a.x, b.x, low.x, high.x, from, to) && clip(a.y, b.y, low.y, high.y, from, to))
      add(a + (b - a) * from), add(a + (b - a) * to);
  }
  for (std::size_t c = 0; c < corners.size(); ++c)
    if (left[c] || right[c]) add(corners[c]);
}

Aabb SightGraph::confined(const Aabb& now, const Aabb& box, Scratch& scratch) const {
  if (!holds(box) || !begin(scratch)) return box;
  const DVec3 middle = (now.min + now.max) * 0.5;
  bool any = false;
  scratch.queue.clear();
  leaves_in({middle, middle}, [&](std::uint32_t leaf) {
    if (is_rock(leaf)) return;
    any = true;
    scratch.seen[leaf] = scratch.search;
    scratch.queue.push_back(leaf);
  });
  if (!any) return box;
  Aabb out = now;
  for (std::size_t i = 0; i < scratch.queue.size(); ++i) {
    const std::uint32_t leaf = scratch.queue[i];
    cover(leaf, box, out);
    for (std::uint32_t n = first_[leaf]; n < first_[leaf + 1]; ++n) {
      const Opening& o = openings_[n];
      if (scratch.seen[o.leaf] == scratch.search || o.high_m <= o.low_m) continue;
      if (o.low_m > box.max.z + slack_m || o.high_m < box.min.z - slack_m) continue;
      double from = 0, to = 1;
      if (!clip(o.a.x, o.b.x, box.min.x, box.max.x, from, to) ||
          !clip(o.a.y, o.b.y, box.min.y, box.max.y, from, to) || is_rock(o.leaf))
        continue;
      scratch.seen[o.leaf] = scratch.search;
      scratch.queue.push_back(o.leaf);
    }
  }
  out.min = {std::max(out.min.x - corner_slack_m, box.min.x), std::max(out.min.y - corner_slack_m, box.min.y),
             box.min.z};
  out.max = {std::min(out.max.x + corner_slack_m, box.max.x), std::min(out.max.y + corner_slack_m, box.max.y),
             box.max.z};
  return out;
}

/// Makes marks of its own for a search: its number, and one less. False once in two thousand million times.
bool SightGraph::begin(Scratch& scratch) const {
  scratch.seen.resize(std::max(scratch.seen.size(), map_.tree().leaves.size()), 0);
  scratch.search += 2;
  if (scratch.search != 0) return true;
  std::ranges::fill(scratch.seen, 0u);
  return false;
}

bool SightGraph::search(const Aabb& from, const Aabb& to, bool out, Scratch& scratch) const {
  if (!begin(scratch)) return true;
  const std::uint32_t reached = scratch.search, wanted = scratch.search - 1;
  bool any = out, met = false;
  if (!out)
    leaves_in(to, [&](std::uint32_t leaf) {
      scratch.seen[leaf] = wanted;
      any = any || !is_rock(leaf);
    });
  if (!any) return true;  // in rock: nobody shall vanish for that
  any = false;
  const Hull hull(from, to);
  const Rise rise(from, to);
  scratch.queue.clear();
  const auto reach = [&](std::uint32_t leaf) {
    if (is_rock(leaf)) return;
    any = true;
    met = met || scratch.seen[leaf] == wanted || (out && leads_out(leaf, rise));
    if (scratch.seen[leaf] == reached) return;
    scratch.seen[leaf] = reached;
    scratch.queue.push_back(leaf);
  };
  leaves_in(from, reach);
  if (met || !any) return true;
  for (std::size_t i = 0; i < scratch.queue.size(); ++i) {
    const std::uint32_t leaf = scratch.queue[i];
    for (std::uint32_t n = first_[leaf]; n < first_[leaf + 1]; ++n) {
      const Opening& o = openings_[n];
      if (scratch.seen[o.leaf] == reached || o.high_m <= o.low_m) continue;
      if (!rise.passes(o.a, o.b, o.low_m, o.high_m) || !hull.touches(o.a, o.b)) continue;
      reach(o.leaf);
      if (met) return true;
    }
  }
  return false;
}

}  // namespace ashlar
