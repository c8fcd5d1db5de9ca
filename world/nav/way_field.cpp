#include "world/nav/way_field.h"

#include <algorithm>
#include <utility>

#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr float door_cost_m = 6;  // it has to open first
constexpr float drop_cost_m = 2;  // there may be no way back up
constexpr float send_cost_m = 1;
constexpr float lift_cost_m = 12;  // it has to come, and to go
constexpr double step_slack_m = 1e-6;

}  // namespace

bool way_open(const WayRules& rules, const WalkerClass& walker, std::uint32_t from, std::uint32_t to,
              std::span<const std::uint32_t> beside) {
  double a = rules.heights[from].floor_m, b = rules.heights[to].floor_m;
  const bool up = rules.rides(from), down = rules.rides(to);
  if (up)
    a = down ? rules.lifts[from].high_m : std::clamp(b, rules.lifts[from].low_m, rules.lifts[from].high_m);
  if (down) b = std::clamp(a, rules.lifts[to].low_m, rules.lifts[to].high_m);
  if (b - a > walker.step_m + step_slack_m) return false;
  const double floor = std::max(a, b);
  const auto fits = [&](std::uint32_t sector, const SectorHeights& h) {
    if (rules.map->open_to_sky(sector, h) || h.ceiling_m - floor >= walker.shape.height_m - step_slack_m)
      return true;
    return rules.doors[sector] != 0;
  };
  return fits(from, rules.heights[from]) && fits(to, rules.heights[to]) &&
         std::ranges::all_of(beside, [&](std::uint32_t s) {
           if (!rules.rides(s) && rules.heights[s].floor_m - floor > walker.step_m + step_slack_m)
             return false;
           return fits(s, rules.heights[s]);
         });
}

WayField::WayField(std::uint32_t leaves_max, std::uint32_t joins_max)
    : next_(leaves_max, no_index), distance_(leaves_max, 0), exit_m_(leaves_max), settled_(leaves_max, 0) {
  heap_.reserve(joins_max + std::size_t{1});
}

void WayField::take(WayField& found) {
  ASHLAR_ASSERT(found.whole() && found.next_.size() == next_.size());
  std::swap(which_, found.which_), std::swap(target_, found.target_);
  next_.swap(found.next_), distance_.swap(found.distance_);
  exit_m_.swap(found.exit_m_), settled_.swap(found.settled_);
}

void WayField::push(Open open) {
  const auto later = [](const Open& x, const Open& y) {
    return x.distance != y.distance ? x.distance > y.distance : x.leaf > y.leaf;
  };
  ASHLAR_ASSERT(heap_.size() < heap_.capacity());
  heap_.push_back(open);
  std::push_heap(heap_.begin(), heap_.end(), later);
}

WayField::Open WayField::pop() {
  const auto later = [](const Open& x, const Open& y) {
    return x.distance != y.distance ? x.distance > y.distance : x.leaf > y.leaf;
  };
  std::pop_heap(heap_.begin(), heap_.end(), later);
  const Open least = heap_.back();
  heap_.pop_back();
  return least;
}

void WayField::begin(const LeafGraph& graph, DVec2 to_m, std::size_t which) {
  ASHLAR_ASSERT(graph.leaf_count() <= next_.size());
  std::fill_n(next_.begin(), graph.leaf_count(), no_index);
  std::fill_n(settled_.begin(), graph.leaf_count(), std::uint8_t{0});
  heap_.clear();
  which_ = which;
  target_ = graph.leaf_at(to_m);
  if (graph.sector(target_) == no_index) return;
  distance_[target_] = 0;
  exit_m_[target_] = to_m;
  push({0, target_});
}

double WayField::remaining_m(std::uint32_t leaf, DVec2 at_m) const {
  if (settled_[leaf] == 0) return -1;
  return static_cast<double>(distance_[leaf]) + length(exit_m_[leaf] - at_m);
}

std::uint32_t WayField::advance(const LeafGraph& graph, const WayRules& rules, std::uint32_t leaves_max) {
  const WalkerClass& walker = walker_class(which_);
  std::uint32_t count = 0;
  while (count < leaves_max && !heap_.empty()) {
    const Open least = pop();
    if (settled_[least.leaf] != 0) continue;
    settled_[least.leaf] = 1;
    ++count;
    const std::uint32_t to = graph.sector(least.leaf);
    for (const LeafGraph::Entry& entry : graph.entries(least.leaf)) {
      if (settled_[entry.leaf] != 0) continue;
      const LeafGraph::Join& join = graph.join(entry.join);
      const std::uint32_t from = graph.sector(entry.leaf);
      if (!join.open(which_)) continue;
      if (!rules.barred.empty() && (rules.barred[entry.join] >> which_ & 1) != 0) continue;
      const auto beside = graph.beside(entry.join, which_);
      // To a teleporter's landing one gets by way of what is behind its line.
      const std::uint32_t into = join.sends ? graph.sector(join.over_leaf) : to;
      const bool asked = from != into || !beside.empty();
      if (asked && !way_open(rules, walker, from, into, beside)) continue;
      float far = distance_[least.leaf];
      const DVec2 exit = join.sends ? join.a : join.middle(which_);
      far += static_cast<float>(length((join.sends ? join.b : exit) - exit_m_[least.leaf]));
      if (join.sends) far += send_cost_m;
      if (from != to && rules.doors[to] != 0) far += door_cost_m;
      if (from != to && rules.heights[from].floor_m - rules.heights[to].floor_m > walker.step_m)
        far += drop_cost_m;
      if (from != into && (rules.rides(from) || rules.rides(into)) &&
          !way_open({rules.heights, rules.map, rules.doors}, walker, from, into, beside))
        far += lift_cost_m;
      // An unknown leaf has no way out yet; the target's own never gets one, as it is settled first.
      if (next_[entry.leaf] != no_index && distance_[entry.leaf] <= far) continue;
      distance_[entry.leaf] = far;
      next_[entry.leaf] = entry.join;
      exit_m_[entry.leaf] = exit;
      push({far, entry.leaf});
    }
  }
  return count;
}

}  // namespace ashlar
