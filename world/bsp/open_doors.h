#pragma once
#include <vector>

#include "world/bsp/heights.h"
#include "world/bsp/line_specials.h"
#include "world/bsp/sector_map.h"

namespace ashlar {

/// Map units of a raised door that stay in sight, as in Doom.
inline constexpr double door_lip = 4;

/// Floors and ceilings in map units with every door raised to 4 units below its lowest neighbour's ceiling
/// and every lift lowered to its lowest neighbour's floor. A door is a sector that a door special opens, or
/// one that is shut with no special at all; a lift one that a lift special lowers.
std::vector<DrawnHeights> heights_with_open_doors(const SectorMap& map);

/// Heights as the map has them, in map units.
std::vector<DrawnHeights> heights_as_drawn(const SectorMap& map);

/// What a line does to one of its sectors.
struct SectorAction {
  std::uint32_t sector = 0;
  LineAction action;
};
/// Each special line's action on each sector it acts on, in the lines' order, then the sectors'.
std::vector<SectorAction> sector_actions(const SectorMap& map);

/// By sector, 0 or 1: does a line of the map move its ceiling (doors, ceilings, crushers)?
std::vector<std::uint8_t> moving_ceilings(const SectorMap& map);

/// By sector, 0 or 1: does anything of the map ever move its floor, its ceiling? Stairs count with all that
/// their chain may come to, and what opens when a map's last monsters die with both.
struct MovingPlanes {
  std::vector<std::uint8_t> floor_moves, ceiling_moves;
};
MovingPlanes moving_planes(const SectorMap& map);

/// What a line does to its sectors, as far as standing open goes.
enum class OpenEffect : std::uint8_t { none, raise_ceiling, lower_floor };
OpenEffect open_effect(const LineAction& action);

}  // namespace ashlar
