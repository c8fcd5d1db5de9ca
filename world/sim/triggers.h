#pragma once
#include <cstdint>
#include <span>

#include "world/collide/space.h"
#include "world/sim/map_plan.h"

// Which lines somebody sets off: by walking over them, by using them, by shooting at them.

namespace ashlar {

inline constexpr double use_reach_m = 2.0;  ///< Doom's 64 units, from the middle of the body

/// A line on a path.
struct CrossedLine {
  double t = 0;  ///< where on the path, in [0, 1]
  std::uint32_t line = no_index;
  bool from_front = false;
};

/// Lines on one path that are set off by walking, in the order of the path; ties go to the lower line.
struct CrossedLines {
  static constexpr std::size_t lines_max =
      16;  ///< more on one path than this are left out, the furthest first
  CrossedLine list[lines_max];
  std::size_t count = 0;
};

/// Walk-over lines that the middle of a body crossed on its way, one end of the way on either side (on the
/// line counts as in front of it, so each crossing counts once however the way is cut into ticks). Cost: the
/// trigger lines in the cells that the way touches; most cells have none.
CrossedLines lines_walked_over(const MapPlan& plan, DVec2 from, DVec2 to);

/// The line that is used by a body that looks along yaw: the nearest use line seen from its front within
/// reach, with no wall, closed door or block before it. no_index: none.
std::uint32_t line_used(const MapPlan& plan, const Space& space, HeightsView heights, DVec3 base,
                        const Cylinder& shape, Turn16 yaw, double reach_m);

/// Lines that a shot from `eye` sets off, in their order: those it meets up to what it hit, reach_m away. A
/// switch is a wall, so a line in the same place as the wall that was hit counts.
CrossedLines lines_shot(const MapPlan& plan, DVec3 eye, DVec3 direction, double reach_m);
/// Likewise for a shot of this range with nobody in its way.
CrossedLines lines_shot(const MapPlan& plan, const Space& space, DVec3 eye, DVec3 direction, double range_m);

}  // namespace ashlar
