#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "world/math/vec.h"

namespace ashlar {

class PlacedMap;

/// Columns of chunks [min, max) that are always loaded: the square around the origin and all maps.
struct HomeRegion {
  IVec2 min, max;
  std::uint64_t columns() const {
    return static_cast<std::uint64_t>(std::int64_t{max.x} - min.x) *
           static_cast<std::uint64_t>(std::int64_t{max.y} - min.y);
  }
};

/// More than one map of the largest size takes; filling so many takes minutes and gigabytes.
inline constexpr std::uint64_t home_columns_max = 20'480;

/// The rectangle around the origin, every map's box and all that lies between, with three columns of margin:
/// 6 x 6 without maps. It may be larger than home_columns_max: ask home_too_large().
HomeRegion home_region(std::span<const std::shared_ptr<const PlacedMap>> maps);

/// One line that names the map and the remedy where the region is larger than home_columns_max, which World
/// asserts it is not.
std::optional<std::string> home_too_large(std::span<const std::shared_ptr<const PlacedMap>> maps);

}  // namespace ashlar
