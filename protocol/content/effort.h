#pragma once
#include <optional>
#include <string>

#include "world/bsp/sector_map.h"
#include "world/collide/prop.h"
#include "world/content/map_check.h"

// What content may cost whoever places it. Bytes that a stranger sends are small; what they make a node
// builder or a grid do need not be: a thousand lines that all cross each other are half a million pieces.
// Bounds are far above what any map or prop that is played comes to; both ends ask, so that a server tells
// at its start what it cannot offer. An operator's own file may be larger than what strangers send, but no
// file may keep a start busy without an end or take all memory.

namespace ashlar {

inline constexpr std::size_t content_lines_max = 32'768;  ///< Freedoom's largest map has 10 884
/// Crossings beyond one a line.
inline constexpr std::size_t content_crossings_max = 4'096;
inline constexpr double content_line_units_max = double{1 << 26};  ///< of all lines together
/// Steps of what lines do to sectors (world/bsp/widest_heights.h).
inline constexpr std::uint64_t content_action_steps_max = std::uint64_t{1} << 24;
/// Cells of a quarter metre in the boxes of all triangles of a prop.
inline constexpr double content_prop_cells_max = double{1 << 27};

/// What a map may take. Steps of actions and crossings are bounded alike for all.
struct MapEffort {
  std::size_t lines_max = content_lines_max;
  double line_units_max = content_line_units_max;
  std::uint64_t pairs_max = std::uint64_t{1} << 26;  ///< of lines that are looked at for crossings, 0.3 s
};

/// Of files of one's own, on a server's start and in a client's library. The largest known maps have 10^5
/// lines; how many there are at all is check_map's.
inline constexpr MapEffort own_map_effort{map_records_max, 4 * content_line_units_max,
                                          std::uint64_t{1} << 29};

/// Why a checked map (check_map) is too much to compile, or nothing. Cost: 2 ms for Freedoom's largest;
/// bounded by pairs_max.
std::optional<std::string> too_laborious(const SectorMap& map, const MapEffort& effort = {});

/// The same for a prop's triangles; indices must be in range, coordinates may be anything.
std::optional<std::string> too_laborious(const PropModel& in_world);

}  // namespace ashlar
