#pragma once
#include <cstdint>
#include <expected>
#include <vector>

#include "world/bsp/heights.h"
#include "world/bsp/sector_map.h"

namespace ashlar {

/// What a map was before stairs were cut into it: cutting adds to the end of each list and shortens one line.
struct DoorwaySeam {
  std::uint32_t vertices = 0, lines = 0, sides = 0, sectors = 0;  ///< how many there were
  std::uint32_t wall = 0, wall_v2 = 0;                            ///< the line, and where it ended
};

/// Stairs cut into the source geometry, map units.
struct CutDoorway {
  DVec2 foot;  ///< in the room, in front of the lowest step
  double foot_z = 0;
  DVec2 top;  ///< on the roof, behind the highest step
  DoorwaySeam seam{};
};

/// Rises of a staircase at most: 192 m of them. The deepest in Freedoom has 65; a map with a floor far below
/// would get thousands of sectors that nobody climbs.
inline constexpr int doorway_steps_max = 256;

/// Why no staircase was cut.
enum class NoDoorway : std::uint8_t {
  no_room,   ///< no wall has the void behind it and the floor before it
  too_deep,  ///< some wall may have, but every one that fits otherwise needs more than doorway_steps_max
};

/// Sectors that a walker reaches from a point: steps of 24 units up at most, openings of 56, any drop, no
/// lines that block. Indexed by sector, 0 or 1.
std::vector<std::uint8_t> reachable_on_foot(const SectorMap& map, const std::vector<DrawnHeights>& heights,
                                            std::uint32_t from_sector);

/// Cuts a straight open staircase from a room up to the roof: finds a one-sided wall that a walker reaches
/// from player 1's start, with void enough behind it, and adds a sector a step (24 units up, 32 deep at
/// most and least, 80 wide, open to the sky). `heights` (map units) grows by the new sectors.
/// Among the places the nearest with the shortest stairs wins. Where no wall in reach has the room, any wall
/// of the map serves; where none does, nothing was changed.
/// @param start_sector  sector of player 1's start, or no_index
std::expected<CutDoorway, NoDoorway> cut_doorway(SectorMap& map, std::vector<DrawnHeights>& heights,
                                                 double roof_z, DVec2 start, std::uint32_t start_sector);

/// Takes the stairs out again: the map is what it was. Precondition: nothing was added to it since; asserted.
void close_doorway(SectorMap& map, const DoorwaySeam& seam);

}  // namespace ashlar
