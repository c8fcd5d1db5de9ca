#include "world/nav/leaf_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "world/bsp/column.h"
#include "world/bsp/placed_map.h"
#include "world/bsp/visibility.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr Cylinder units(double radius, double height) { return {radius * map_unit_m, height * map_unit_m}; }
constexpr double low_step_m = 24 * map_unit_m, block_step_m = 1.0, no_step_m = 1e4;

// The first that holds a body is its class, so narrower ones come first.
constexpr std::array<WalkerClass, walker_class_count> classes{{
    {units(20, 56), low_step_m, false},
    {units(24, 64), low_step_m, false},
    {units(30, 56), low_step_m, false},
    {units(31, 64), low_step_m, false},
    {units(48, 64), low_step_m, false},
    {units(64, 64), block_step_m, false},
    {units(40, 110), block_step_m, false},
    {units(128, 110), block_step_m, false},
    {units(31, 56), no_step_m, true},
}};

constexpr double look_every_m = 0.125;
constexpr int looks_min = 4, looks_max = 48;
constexpr double fit_slack_m = 1e-3;
constexpr double fit_margin_m = 0.001;    // who fits exactly fits
constexpr double corner_margin_m = 0.02;  // who keeps so far off corners does not rub along them

struct Found {
  std::uint32_t leaf;
  LeafGraph::Join join;
  std::size_t order = 0;  // in which they were found
};

}  // namespace

const WalkerClass& walker_class(std::size_t which) {
  ASHLAR_ASSERT(which < classes.size());
  return classes[which];
}

bool walker_covers(const WalkerClass& able, const WalkerClass& other) {
  return able.shape.radius_m <= other.shape.radius_m && able.shape.height_m <= other.shape.height_m &&
         able.step_m >= other.step_m;
}

std::size_t walker_class_of(const Cylinder& shape, double step_m, bool flies) {
  std::size_t which = 0;
  const auto holds = [&](const WalkerClass& c) {
    return shape.radius_m <= c.shape.radius_m && shape.height_m <= c.shape.height_m && c.flies == flies &&
           (flies || c.step_m <= step_m);
  };
  while (which < classes.size() && !holds(classes[which])) ++which;
  return which;
}

/// Looks under the disc along the opening: neither void nor a line that blocks may be there, no floor over
/// the given height and no ceiling too low for the walker over `base_m`. Planes that something moves are left
/// out: what they do is asked when a way is looked for.
void LeafGraph::look_for_free(Join& join, std::size_t which, const Look& look) const {
  const auto part = static_cast<int>(length(join.b - join.a) / look_every_m) / 2;
  const int looks = 2 * std::clamp(part, looks_min / 2, looks_max / 2);  // even: the middle is one of them
  join.from[which] = 1, join.until[which] = 0;
  const double height_m = walker_class(which).shape.height_m - fit_slack_m;
  const auto fits = [&](std::uint32_t sector) {
    const SectorHeights& h = map_->initial_heights()[sector];
    if (!planes_.floor_moves[sector] && h.floor_m > look.floor_m_max) return false;
    return planes_.ceiling_moves[sector] || map_->open_to_sky(sector, h) ||
           h.ceiling_m - look.base_m >= height_m;
  };
  for (int i = 0; i <= looks; ++i) {
    const double t = static_cast<double>(i) / looks;
    const DVec2 middle = map_->to_map(join.at(t));
    const double radius = look.radius_m * map_units_per_m;
    const bool free = lines_under_disc(map_->grid(), middle, radius,
                                       [&](const SolidLine& l) {
                                         return !l.fence && l.front != no_index && l.back != no_index &&
                                                fits(l.front) && fits(l.back);
                                       }) &&
                      std::ranges::none_of(map_->grid().monster_lines_at(middle), [&](const SolidLine& l) {
                        return distance2(l, middle) < radius * radius;
                      });
    if (!free) continue;
    join.from[which] = std::min(join.from[which], static_cast<float>(t));
    join.until[which] = std::max(join.until[which], static_cast<float>(t));
  }
}

/// Where nothing comes near the walker is best, then where it just fits, then where it gets by along a ledge.
void LeafGraph::find_free_parts(Join& join, std::uint32_t from_leaf) const {
  constexpr double none = -std::numeric_limits<double>::infinity();
  const auto floor_of = [&](std::uint32_t leaf) {
    const std::uint32_t sector = sector_[leaf];
    return planes_.floor_moves[sector] ? none : map_->initial_heights()[sector].floor_m;
  };
  const double a = floor_of(from_leaf), b = floor_of(join.to);
  const double low = std::min(a, b), high = std::max(a, b);
  for (std::size_t k = 0; k < walker_class_count; ++k) {
    join.from[k] = 1, join.until[k] = 0;
    const WalkerClass& walker = walker_class(k);
    bool hopeless = false;
    for (std::size_t i = 0; i < k; ++i)
      hopeless = hopeless || (!join.open(i) && walker_covers(walker_class(i), walker));
    if (hopeless) continue;
    const double step_m = walker.step_m + fit_slack_m;
    const double strict_m = low == none ? -none : std::max(high, low + step_m) + fit_slack_m;
    const double loose_m = low == none ? -none : high + step_m;
    const double radius_m = walker.shape.radius_m;
    for (const Look& look :
         {Look{radius_m + corner_margin_m, strict_m, high}, Look{radius_m - fit_margin_m, strict_m, high},
          Look{radius_m - fit_margin_m, loose_m, high}}) {
      look_for_free(join, k, look);
      if (join.open(k)) break;
    }
  }
}

void LeafGraph::find_beside(const Join& join, std::uint32_t from_leaf) {
  for (std::size_t k = 0; k < walker_class_count; ++k) {
    const std::size_t first = beside_.size();
    if (join.open(k) && !join.sends) {
      const double radius = (walker_class(k).shape.radius_m - fit_margin_m) * map_units_per_m;
      lines_under_disc(map_->grid(), map_->to_map(join.middle(k)), radius, [&](const SolidLine& l) {
        for (const std::uint32_t s : {l.front, l.back}) {
          if (s == no_index || s == sector_[from_leaf] || s == sector_[join.to]) continue;
          if (planes_.floor_moves[s] == 0 && planes_.ceiling_moves[s] == 0) continue;
          if (std::find(beside_.begin() + static_cast<std::ptrdiff_t>(first), beside_.end(), s) ==
              beside_.end())
            beside_.push_back(s);
        }
        return true;
      });
    }
    first_beside_.push_back(static_cast<std::uint32_t>(beside_.size()));
  }
}

/// Whoever goes through the opening is sent elsewhere: it lies in a teleporter's line, from the front.
bool LeafGraph::sent_away(std::span<const Sending> sendings, const Join& join,
                          std::uint32_t from_leaf) const {
  constexpr double same_place_m = 0.01;
  const DVec2 middle = (join.a + join.b) * 0.5;
  return std::ranges::any_of(sendings, [&](const Sending& s) {
    const DVec2 along = s.b_m - s.a_m;
    const double size = length(along);
    const double t = dot(middle - s.a_m, along) / (size * size);
    if (t < 0 || t > 1) return false;
    const auto off = [&](DVec2 p) { return std::fabs(cross(along, p - s.a_m)) / size; };
    if (off(join.a) > same_place_m || off(join.b) > same_place_m) return false;
    const DVec2 front{along.y / size, -along.x / size};
    return leaf_at(middle + front * (2 * same_place_m)) == from_leaf;
  });
}

LeafGraph::LeafGraph(const PlacedMap& map, std::span<const Sending> sendings)
    : map_(&map), planes_(moving_planes(map.source())) {
  const BspTree& tree = map.tree();
  for (const BspTree::Leaf& leaf : tree.leaves) sector_.push_back(leaf.sector);
  std::vector<Found> found;
  for (const LeafOpening& opening : leaf_openings(tree)) {
    Join join;
    join.a = map.to_world(opening.a), join.b = map.to_world(opening.b);
    join.to = opening.back;
    find_free_parts(join, opening.front);
    bool any = false;
    for (std::size_t k = 0; k < walker_class_count; ++k) any = any || join.open(k);
    if (!any) continue;
    if (!sent_away(sendings, join, opening.front)) found.push_back({opening.front, join, found.size()});
    join.to = opening.front;
    if (!sent_away(sendings, join, opening.back)) found.push_back({opening.back, join, found.size()});
  }
  for (const Sending& sending : sendings) {
    Join join;
    join.a = sending.from_m, join.b = sending.to_m, join.over = sending.over_m;
    join.to = leaf_at(sending.to_m);
    // What lies right behind the line: further on there may be something else again.
    join.over_leaf = leaf_at(sending.from_m + (sending.over_m - sending.from_m) * 0.125);
    join.sends = true;
    for (std::size_t k = 0; k < walker_class_count; ++k) join.from[k] = join.until[k] = 0;
    const std::uint32_t leaf = leaf_at(sending.from_m);
    if (sector_[leaf] != no_index && sector_[join.to] != no_index && sector_[join.over_leaf] != no_index)
      found.push_back({leaf, join, found.size()});
  }
  // Openings come in the tree's order; those of a leaf keep it.
  std::ranges::sort(found, {}, [](const Found& f) { return std::pair(f.leaf, f.order); });
  first_.assign(tree.leaves.size() + 1, 0);
  first_entry_.assign(tree.leaves.size() + 1, 0);
  first_beside_.push_back(0);
  for (const Found& f : found) {
    ++first_[f.leaf + 1], ++first_entry_[f.join.to + 1];
    joins_.push_back(f.join);
    find_beside(f.join, f.leaf);
  }
  for (std::size_t i = 1; i < first_.size(); ++i)
    first_[i] += first_[i - 1], first_entry_[i] += first_entry_[i - 1];
  entries_.resize(joins_.size());
  std::vector<std::uint32_t> next(first_entry_.begin(), first_entry_.end() - 1);
  for (std::uint32_t i = 0; i < found.size(); ++i) entries_[next[found[i].join.to]++] = {i, found[i].leaf};
}

}  // namespace ashlar
