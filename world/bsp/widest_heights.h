#pragma once
#include <vector>

#include "world/bsp/heights.h"
#include "world/bsp/sector_map.h"

namespace ashlar {

/// The lowest floor and the highest ceiling that each sector may ever have, map units, whatever its movers do
/// in whatever order and with doors open or shut at placement. Ceilings of sky are unbounded, and so are
/// planes that something moves by an amount again and again, as far as nothing stops them. Cost: sectors and
/// what lines do to them, a few rounds of it; under a millisecond.
std::vector<DrawnHeights> widest_heights(const SectorMap& map);

}  // namespace ashlar
