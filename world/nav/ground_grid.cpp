#include "world/nav/ground_grid.h"

#include <algorithm>
#include <array>
#include <map>

#include "world/bsp/column.h"
#include "world/math/assert.h"

namespace ashlar::client_sim {
namespace {

// Points tried in a cell, the middle first: a way just wide enough for a body runs between the middles.
constexpr double third_m = GroundGrid::cell_m / 3;
constexpr std::array<DVec2, 9> offsets{{{0, 0},
                                        {third_m, 0},
                                        {-third_m, 0},
                                        {0, third_m},
                                        {0, -third_m},
                                        {third_m, third_m},
                                        {-third_m, third_m},
                                        {third_m, -third_m},
                                        {-third_m, -third_m}}};
constexpr double offset_m_max = third_m * 1.4143;
// Bodies stop a hair before walls; a way that is exact to the last bit is none.
constexpr double margin_m = 0.003;

bool blocks(const SolidLine& l) { return l.fence || l.front == no_index || l.back == no_index; }

/// Does a disc lie clear of void and blocking lines?
bool clear(const PlacedMap& map, DVec2 p, double radius_m) {
  return lines_under_disc(map.grid(), map.to_map(p), radius_m * map_units_per_m,
                          [](const SolidLine& l) { return !blocks(l); });
}

}  // namespace

GroundGrid::GroundGrid(const PlacedMap& map, const Cylinder& shape) {
  const MapBounds bounds = bounds_of(map.source());
  const DVec2 low = map.to_world(bounds.min), high = map.to_world(bounds.max);
  origin_ = {low.x - cell_m, low.y - cell_m};
  nx_ = static_cast<std::int32_t>((high.x - origin_.x) / cell_m) + 2;
  ny_ = static_cast<std::int32_t>((high.y - origin_.y) / cell_m) + 2;
  const auto cells = static_cast<std::size_t>(nx_) * static_cast<std::size_t>(ny_);
  set_.assign(cells, no_index);
  sector_.assign(cells, no_index);
  offset_.assign(cells, 0);
  first_.push_back(0);

  const double radius_m = shape.radius_m + margin_m;
  std::map<std::vector<std::uint32_t>, std::uint32_t> known;
  std::vector<std::uint32_t> under;
  for (std::uint32_t cell = 0; cell < cells; ++cell) {
    const DVec2 middle = point(cell);
    // What no smaller disc in the middle can do, none beside it can.
    if (!clear(map, middle, radius_m - offset_m_max)) continue;
    for (std::size_t i = 0; i < offsets.size(); ++i) {
      const DVec2 p = middle + offsets[i];
      const std::uint32_t own = map.tree().leaves[map.grid().leaf_at(map.tree(), map.to_map(p))].sector;
      if (own == no_index || !clear(map, p, radius_m)) continue;
      under.assign(1, own);
      lines_under_disc(map.grid(), map.to_map(p), shape.radius_m * map_units_per_m, [&](const SolidLine& l) {
        under.push_back(l.front);
        under.push_back(l.back);
        return true;
      });
      std::ranges::sort(under);
      under.erase(std::ranges::unique(under).begin(), under.end());
      const auto [at, is_new] = known.emplace(under, set_count());
      if (is_new) {
        items_.insert(items_.end(), under.begin(), under.end());
        first_.push_back(static_cast<std::uint32_t>(items_.size()));
      }
      set_[cell] = at->second;
      sector_[cell] = own;
      offset_[cell] = static_cast<std::uint8_t>(i);
      break;
    }
  }
  ASHLAR_ASSERT(first_.size() == known.size() + 1 && first_.back() == items_.size());
}

std::uint32_t GroundGrid::cell_at(DVec2 p) const {
  const double x = (p.x - origin_.x) / cell_m, y = (p.y - origin_.y) / cell_m;
  if (!(x >= 0 && y >= 0 && x < nx_ && y < ny_)) return no_index;
  return static_cast<std::uint32_t>(y) * static_cast<std::uint32_t>(nx_) + static_cast<std::uint32_t>(x);
}

std::uint32_t GroundGrid::neighbour(std::uint32_t cell, std::int32_t dx, std::int32_t dy) const {
  const std::int32_t x = static_cast<std::int32_t>(cell) % nx_ + dx;
  const std::int32_t y = static_cast<std::int32_t>(cell) / nx_ + dy;
  if (x < 0 || y < 0 || x >= nx_ || y >= ny_) return no_index;
  return static_cast<std::uint32_t>(y * nx_ + x);
}

std::uint32_t GroundGrid::stand_near(DVec2 p) const {
  const std::uint32_t middle = cell_at(p);
  if (middle == no_index) return no_index;
  for (int ring = 0; ring <= 3; ++ring)
    for (int dy = -ring; dy <= ring; ++dy)
      for (int dx = -ring; dx <= ring; ++dx) {
        const std::uint32_t n = neighbour(middle, dx, dy);
        if (n != no_index && set(n) != no_index) return n;
      }
  return no_index;
}

DVec2 GroundGrid::point(std::uint32_t cell) const {
  ASHLAR_ASSERT(cell < offset_.size());
  const auto x = static_cast<double>(cell % static_cast<std::uint32_t>(nx_));
  const auto y = static_cast<double>(cell / static_cast<std::uint32_t>(nx_));
  return origin_ + DVec2{(x + 0.5) * cell_m, (y + 0.5) * cell_m} + offsets[offset_[cell]];
}

}  // namespace ashlar::client_sim
