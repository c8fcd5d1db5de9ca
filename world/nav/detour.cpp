#include "world/nav/detour.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/placed_map.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr std::size_t own_cell = (DetourSearch::side * DetourSearch::side) / 2;
constexpr std::uint32_t detour_straight_cost = 10, detour_diagonal_cost = 14;
constexpr double enough_m = 4;            // who gains so much looks no further
constexpr double detour_margin_m = 0.01;  // bodies stop a hair before walls
// A cell may get a better way several times before it is settled.
constexpr std::size_t detour_heap_max = std::size_t{8} * DetourSearch::side * DetourSearch::side;

bool detour_later(std::uint16_t cost_a, std::uint16_t cell_a, std::uint16_t cost_b, std::uint16_t cell_b) {
  return cost_a != cost_b ? cost_a > cost_b : cell_a > cell_b;
}

}  // namespace

DetourSearch::DetourSearch() : cells_(static_cast<std::size_t>(side) * side) {
  heap_.reserve(detour_heap_max);
}

DVec2 DetourSearch::point(std::size_t cell) const {
  const auto x = static_cast<std::int32_t>(cell) % side - side / 2;
  const auto y = static_cast<std::int32_t>(cell) / side - side / 2;
  return xy(from_m_) + DVec2{x * cell_m, y * cell_m};
}

void DetourSearch::begin(DVec3 from_m, const Cylinder& shape, double step_m) {
  from_m_ = from_m, shape_ = shape, step_m_ = step_m;
  std::ranges::fill(cells_, Cell{});
  heap_.clear();
  best_ = own_cell;
  start_m_ = -1;
  // Wherever it stands, it stands there, though half over an edge.
  Cell& own = cells_[own_cell];
  own.known = own.fits = 1;
  own.floor_m = static_cast<float>(from_m.z);
  own.ceiling_m = static_cast<float>(from_m.z + shape.height_m + 1);
  reach(own_cell, own_cell, 0);
}

void DetourSearch::reach(std::size_t cell, std::size_t from, std::uint32_t cost) {
  Cell& c = cells_[cell];
  if ((c.reached != 0 && c.cost <= cost) || heap_.size() == detour_heap_max) return;
  c.reached = 1;
  c.cost = static_cast<std::uint16_t>(cost);
  c.from = static_cast<std::uint16_t>(from);
  heap_.push_back({c.cost, static_cast<std::uint16_t>(cell)});
  std::ranges::push_heap(
      heap_, [](const Open& a, const Open& b) { return detour_later(a.cost, a.cell, b.cost, b.cell); });
}

/// @return whether it had to be asked for
bool DetourSearch::look(const WayRules& rules, std::size_t cell) {
  Cell& c = cells_[cell];
  if (c.known != 0) return false;
  c.known = 1;
  const MapFootprint under =
      map_footprint(*rules.map, rules.heights, point(cell), shape_.radius_m + detour_margin_m);
  c.fits = under.blocked ? 0 : 1;
  c.floor_m = static_cast<float>(under.floor_m);
  c.ceiling_m = static_cast<float>(under.ceiling_m);
  return true;
}

void DetourSearch::go_on_from(const WayRules& rules, std::size_t at, std::uint32_t& looks) {
  const Cell here = cells_[at];
  const auto x = static_cast<std::int32_t>(at) % side, y = static_cast<std::int32_t>(at) / side;
  for (std::int32_t dy = -1; dy <= 1; ++dy)
    for (std::int32_t dx = -1; dx <= 1; ++dx) {
      if ((dx == 0 && dy == 0) || x + dx < 0 || y + dy < 0 || x + dx >= side || y + dy >= side) continue;
      const auto to = static_cast<std::size_t>((y + dy) * side + x + dx);
      if (cells_[to].settled != 0) continue;
      if (look(rules, to)) ++looks;
      const Cell& there = cells_[to];
      const float top = std::max(here.floor_m, there.floor_m);
      const auto height = static_cast<float>(shape_.height_m);
      if (there.fits == 0 || static_cast<double>(there.floor_m - here.floor_m) > step_m_ + detour_margin_m ||
          std::min(here.ceiling_m, there.ceiling_m) - top < height)
        continue;
      reach(to, at, here.cost + (dx != 0 && dy != 0 ? detour_diagonal_cost : detour_straight_cost));
    }
}

std::uint32_t DetourSearch::advance(const LeafGraph& graph, const WayRules& rules, const WayField& ways,
                                    std::uint32_t cells_max) {
  std::uint32_t looks = 0;
  while (looks < cells_max && !heap_.empty()) {
    std::ranges::pop_heap(
        heap_, [](const Open& a, const Open& b) { return detour_later(a.cost, a.cell, b.cost, b.cell); });
    const std::size_t at = heap_.back().cell;
    heap_.pop_back();
    Cell& here = cells_[at];
    if (here.settled != 0) continue;
    here.settled = 1;
    const DVec2 p = point(at);
    const double remains_m = ways.remaining_m(graph.leaf_at(p), p);
    if (at == own_cell) start_m_ = best_m_ = remains_m;
    if (start_m_ < 0) return heap_.clear(), looks;  // no way at all
    if (remains_m >= 0 && remains_m < best_m_) best_ = at, best_m_ = remains_m;
    if (best_m_ <= start_m_ - enough_m) return heap_.clear(), looks;
    go_on_from(rules, at, looks);
  }
  return looks;
}

Detour DetourSearch::found() const {
  ASHLAR_ASSERT(whole());
  Detour out;
  if (start_m_ < 0 || best_m_ > start_m_ - gain_m_min) return out;
  // Backwards from the end: where the way turns, twice, to know how many there are.
  const auto turns = [&](auto&& visit) {
    std::size_t at = best_;
    std::int32_t step = 0;
    while (at != own_cell) {
      const std::size_t before = cells_[at].from;
      const auto now = static_cast<std::int32_t>(at) - static_cast<std::int32_t>(before);
      if (now != step) visit(at);
      step = now;
      at = before;
    }
  };
  std::size_t all = 0;
  turns([&](std::size_t) { ++all; });
  out.count = std::min(all, Detour::points_max);
  std::size_t left = all;
  turns([&](std::size_t cell) {
    if (--left < out.count) out.points[left] = point(cell);
  });
  return out;
}

}  // namespace ashlar
