#pragma once
#include <cstdint>
#include <vector>

#include "world/bsp/heights.h"

namespace ashlar {

class MapPlan;

/// How a noise spreads through a map: from sector to sector over lines with an opening between floor and
/// ceiling as they are now, so a closed door stops it. Of the lines that the map marks to block sound it
/// passes one and stops at the second. Source: the published Doom source, P_NoiseAlert in p_enemy.c; ours
/// visits each sector at most twice.
/// Scratch, not state: as large as the map it was made for. No allocation after construction.
class NoiseFlood {
 public:
  NoiseFlood() = default;
  explicit NoiseFlood(std::uint32_t sector_count);

  /// Finds the sectors that hear a noise made in one. Cost: linear in the lines around those sectors.
  void spread(const MapPlan& plan, HeightsView heights, std::uint32_t from);
  bool heard(std::uint32_t sector) const { return reached_[sector] != 0; }

 private:
  void reach(std::uint32_t sector, std::uint8_t how);

  std::vector<std::uint8_t> reached_;         // by sector: 0 not, 1 over one blocking line, 2 freely
  std::vector<std::uint32_t> open_, behind_;  // to go on from: freely reached, and behind a blocking line
};

}  // namespace ashlar
