#include "world/nav/leaf_graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "world/bsp/placed_map.h"
#include "world/bsp/visibility.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr std::array<WalkerClass, walker_class_count> classes{
    {{{20 * map_unit_m, 56 * map_unit_m}, 24 * map_unit_m},
     {{31 * map_unit_m, 64 * map_unit_m}, 24 * map_unit_m}}};
constexpr double look_every_m = 0.25;
constexpr int looks_min = 3, looks_max = 24;

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

std::size_t walker_class_of(const Cylinder& shape) {
  std::size_t which = 0;
  while (which < classes.size() &&
         (shape.radius_m > classes[which].shape.radius_m || shape.height_m > classes[which].shape.height_m))
    ++which;
  return which;
}

/// Looks under the class's disc along the opening: neither void nor a line that blocks may be there, and no
/// floor over the given height.
void LeafGraph::look_for_free(Join& join, std::size_t which, double floor_m_max) const {
  const int looks =
      std::clamp(static_cast<int>(length(join.b - join.a) / look_every_m), looks_min, looks_max);
  join.from[which] = 1, join.until[which] = 0;
  for (int i = 0; i <= looks; ++i) {
    const double t = static_cast<double>(i) / looks;
    const MapFootprint under =
        map_footprint(*map_, map_->initial_heights(), join.at(t), walker_class(which).shape.radius_m * 0.98);
    if (under.blocked || under.floor_m > floor_m_max) continue;
    join.from[which] = std::min(join.from[which], static_cast<float>(t));
    join.until[which] = std::max(join.until[which], static_cast<float>(t));
  }
}

/// What heights do is asked when a way is looked for; but where a ledge beside the opening would hold a
/// walker up as things stand at first, it had better keep away from that.
void LeafGraph::find_free_parts(Join& join, std::uint32_t from_leaf) const {
  const auto floor_of = [this](std::uint32_t leaf) { return map_->initial_heights()[sector_[leaf]].floor_m; };
  const double low = std::min(floor_of(from_leaf), floor_of(join.to));
  const double high = std::max(floor_of(from_leaf), floor_of(join.to));
  for (std::size_t k = 0; k < walker_class_count; ++k) {
    join.from[k] = 1, join.until[k] = 0;
    // Whoever is wider has no part where the one before had none.
    if (k > 0 && !join.open(k - 1)) continue;
    look_for_free(join, k, std::max(high, low + walker_class(k).step_m) + 0.01);
    if (!join.open(k)) look_for_free(join, k, std::numeric_limits<double>::infinity());
  }
}

LeafGraph::LeafGraph(const PlacedMap& map, std::span<const Sending> sendings) : map_(&map) {
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
    found.push_back({opening.front, join, found.size()});
    join.to = opening.front;
    found.push_back({opening.back, join, found.size()});
  }
  for (const Sending& sending : sendings) {
    Join join;
    join.a = sending.from_m, join.b = sending.to_m, join.over = sending.over_m;
    join.to = leaf_at(sending.to_m);
    join.sends = true;
    for (std::size_t k = 0; k < walker_class_count; ++k) join.from[k] = join.until[k] = 0;
    const std::uint32_t leaf = leaf_at(sending.from_m);
    if (sector_[leaf] != no_index && sector_[join.to] != no_index)
      found.push_back({leaf, join, found.size()});
  }
  // Openings come in the tree's order; those of a leaf keep it.
  std::ranges::sort(found, {}, [](const Found& f) { return std::pair(f.leaf, f.order); });
  first_.assign(tree.leaves.size() + 1, 0);
  first_entry_.assign(tree.leaves.size() + 1, 0);
  for (const Found& f : found) {
    ++first_[f.leaf + 1], ++first_entry_[f.join.to + 1];
    joins_.push_back(f.join);
  }
  for (std::size_t i = 1; i < first_.size(); ++i)
    first_[i] += first_[i - 1], first_entry_[i] += first_entry_[i - 1];
  entries_.resize(joins_.size());
  std::vector<std::uint32_t> next(first_entry_.begin(), first_entry_.end() - 1);
  for (std::uint32_t i = 0; i < found.size(); ++i) entries_[next[found[i].join.to]++] = {i, found[i].leaf};
}

}  // namespace ashlar
