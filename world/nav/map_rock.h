#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "world/math/block_box.h"

namespace ashlar {

class PlacedMap;

/// What a placed map fills, as ways over blocks see it: rock, on whose roof one walks, but for columns that
/// are open to the sky: courts, and the stairs to the surface. Nobody goes there to fall into the map.
struct MapRock {
  BlockBox box;
  std::vector<std::uint8_t> open;  ///< by column, x first, 0 or 1; empty: the roof is whole

  MapRock(const BlockBox& fills, std::vector<std::uint8_t> open_columns = {})
      : box(fills), open(std::move(open_columns)) {}
  bool holds(std::int32_t x, std::int32_t y) const {
    return x >= box.min.x && x < box.max.x && y >= box.min.y && y < box.max.y;
  }
  /// Precondition: holds().
  bool open_at(std::int32_t x, std::int32_t y) const {
    if (open.empty()) return false;
    const auto across = static_cast<std::size_t>(box.max.x - box.min.x);
    return open[static_cast<std::size_t>(y - box.min.y) * across + static_cast<std::size_t>(x - box.min.x)] !=
           0;
  }
};

/// Columns of a map's box in which anything is open to the sky. Cost: nine descents of the tree a column,
/// some tens of milliseconds for a large map.
std::vector<std::uint8_t> open_columns(const PlacedMap& map);

}  // namespace ashlar
