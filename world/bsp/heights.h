#pragma once
#include <span>

namespace ashlar {

/// Floor and ceiling of one sector, in metres, world frame. Heights are state of the simulation, not of the
/// map: queries take a span of these, indexed by sector.
struct SectorHeights {
  double floor_m = 0;
  /// Ignored by solids where the sector's ceiling is sky (open to the roof and above), but for PlacedMap's
  /// doors of sky when they are shut.
  double ceiling_m = 0;
  friend bool operator==(const SectorHeights&, const SectorHeights&) = default;
};

/// Floor and ceiling of one sector in map units, as its map draws them: before placement.
struct DrawnHeights {
  double floor = 0;
  double ceiling = 0;
};

using HeightsView = std::span<const SectorHeights>;

}  // namespace ashlar
