#pragma once
#include <span>

#include "world/sim/map_plan.h"
#include "world/sim/sector_movers.h"

namespace ashlar {

/// One map's moving parts as a trigger sees them.
struct MoverStart {
  const MapPlan& plan;
  SectorMovers& movers;
  std::span<const SectorHeights> heights;
};

/// Sets in motion what a line asks for: doors, lifts, floors, ceilings, crushers, stairs, donuts, and the
/// stops of lifts and crushers. Sectors that are in motion already are left out, as Doom does; a door that is
/// used while it moves turns round (monsters never close one).
/// @return true when anything changed: a line that works once is spent then. False for effects on bodies
/// (teleports, exits). No allocation.
bool start_effect(MoverStart start, const LineAction& action, std::uint32_t line, bool by_player);

/// Starts what the map's sectors do by themselves: sector special 10 closes after 30 s, 14 opens after 5
/// minutes. Call once, at the world's start.
void start_timed_sectors(MoverStart start);

/// A target height as the sectors around have it now. `own` answers where there is nobody beside.
double target_height(const MapPlan& plan, std::span<const SectorHeights> heights, std::uint32_t sector,
                     HeightTarget target, Plane plane);

/// Where a lift's way ends above: where its floor is, unless that was lowered when the map was placed.
double lift_upper_end(const PlacedMap& map, HeightsView heights, std::uint32_t sector);

}  // namespace ashlar
