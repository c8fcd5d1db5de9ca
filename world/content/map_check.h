#pragma once
#include <optional>

#include "world/bsp/sector_map.h"
#include "world/content/content_error.h"

namespace ashlar {

/// What a format calls its records, for errors.
struct MapRecordNames {
  const char* vertices;
  const char* lines;
  const char* sides;
  const char* sectors;
  const char* things;
};

inline constexpr std::size_t map_records_max = 1u << 18;  ///< of each kind; the largest known maps have 10^5
inline constexpr double map_coordinate_max = 65536;       ///< |x|, |y|, |z| in map units: 2048 m

/// Every index in range, every coordinate finite and within bounds, every count below the limit.
/// The first thing that is wrong, or nothing.
std::optional<ContentError> check_map(const SectorMap& map, const MapRecordNames& names);

}  // namespace ashlar
