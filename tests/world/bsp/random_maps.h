#pragma once
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "tests/world/bsp/maps.h"
#include "world/math/random.h"

// Maps that nobody drew: triangles between shaken points of a lattice, each in one of a few sectors or void,
// of any size up to the largest that a reader lets through, with whole or broken coordinates.

namespace ashlar::testing {

class RandomMap {
 public:
  explicit RandomMap(std::uint64_t seed) : rng_(rng_for(seed, 50)) {
    writer_.map.name = "RANDOM";
    draw_sectors();
    draw_points();
    for (std::uint32_t y = 0; y < side_; ++y)
      for (std::uint32_t x = 0; x < side_; ++x) draw_square(x, y);
    for (const auto& [edge, sector] : left_of_) draw_edge(edge.first, edge.second, sector);
  }

  const SectorMap& map() const { return writer_.map; }

  /// Makes a few lines contradict the others: without length, turned round, without a back, elsewhere, twice,
  /// or gone.
  void contradict() {
    std::vector<MapLine>& lines = writer_.map.lines;
    for (std::uint32_t i = 1 + rng_.below(6); i > 0 && lines.size() > 1; --i) {
      MapLine& l = lines[rng_.below(static_cast<std::uint32_t>(lines.size()))];
      switch (rng_.below(6)) {
        case 0: l.v1 = l.v2; break;
        case 1: std::swap(l.v1, l.v2); break;
        case 2: l.back = no_index; break;
        case 3: l.v2 = rng_.below(static_cast<std::uint32_t>(writer_.map.vertices.size())); break;
        case 4: lines.push_back(MapLine(l)); break;
        default: l = lines.back(), lines.pop_back(); break;
      }
    }
  }

 private:
  void draw_sectors() {
    for (std::uint32_t i = 1 + rng_.below(8); i > 0; --i) {
      const double floor = 8.0 * rng_.below(20);
      const double height = rng_.below(6) == 0 ? 0.0 : 8.0 * rng_.below(24);
      writer_.sector(floor, floor + height, rng_.below(5) == 0);
    }
  }

  void draw_points() {
    constexpr double spacings[] = {6, 20, 64, 200, 1000, 6000};
    side_ = 2 + rng_.below(8);
    const double spacing = spacings[rng_.below(6)];
    const bool shaken = rng_.below(3) != 0, broken = rng_.below(2) == 0, far = rng_.below(3) == 0;
    const double start = far ? 65000 - spacing * (side_ + 1) : 0;
    const auto coordinate = [&](std::uint32_t i) {
      const double at = start + spacing * (i + (shaken ? rng_.between(0.15, 0.85) : 0.5));
      return broken ? at : std::round(at);
    };
    for (std::uint32_t y = 0; y <= side_; ++y)
      for (std::uint32_t x = 0; x <= side_; ++x) {
        const double at_x = coordinate(x);
        points_.push_back({at_x, coordinate(y)});
      }
  }

  bool counter_clockwise(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
    return cross(points_[b] - points_[a], points_[c] - points_[a]) > 0;
  }
  void draw_triangle(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t sector) {
    left_of_[{a, b}] = left_of_[{b, c}] = left_of_[{c, a}] = sector;
  }
  void draw_square(std::uint32_t x, std::uint32_t y) {
    const std::uint32_t a = y * (side_ + 1) + x, b = a + 1, c = b + side_ + 1, d = c - 1;
    const std::uint32_t one = draw_sector(), other = rng_.below(2) == 0 ? one : draw_sector();
    if (counter_clockwise(a, b, c) && counter_clockwise(a, c, d)) {
      draw_triangle(a, b, c, one), draw_triangle(a, c, d, other);
    } else if (counter_clockwise(a, b, d) && counter_clockwise(b, c, d)) {
      draw_triangle(a, b, d, one), draw_triangle(b, c, d, other);
    }
  }
  /// Void, more of the last one, or any.
  std::uint32_t draw_sector() {
    const std::uint32_t lot = rng_.below(10);
    if (lot < 2) return no_index;
    if (lot >= 6) last_ = rng_.below(static_cast<std::uint32_t>(writer_.map.sectors.size()));
    return last_;
  }

  /// The line between what is on the left of an edge and what is on its right: once for both ways round.
  void draw_edge(std::uint32_t a, std::uint32_t b, std::uint32_t left) {
    const auto other = left_of_.find({b, a});
    const std::uint32_t right = other == left_of_.end() ? no_index : other->second;
    if (other != left_of_.end() && a > b) return;
    if (left == right && (left == no_index || rng_.below(6) != 0)) return;
    if (right == no_index)
      writer_.line(points_[b], points_[a], left);
    else
      writer_.line(points_[a], points_[b], right, left);
    if (rng_.below(30) == 0) writer_.map.lines.back().flags |= line_flag::blocking;
  }

  Rng rng_;
  MapWriter writer_;
  std::uint32_t side_ = 0, last_ = 0;
  std::vector<DVec2> points_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> left_of_;  ///< sectors, by directed edge
};

}  // namespace ashlar::testing
