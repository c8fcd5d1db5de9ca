#pragma once
#include <vector>

#include "world/bsp/heights.h"
#include "world/bsp/sector_map.h"

namespace ashlar {

/// The lowest floor and the highest ceiling that each sector may ever have, map units, whatever its movers do
/// and with doors open or shut at placement. Sectors that something may move, and ceilings of sky, are
/// unbounded.
std::vector<SectorHeights> widest_heights(const SectorMap& map);

}  // namespace ashlar
