#pragma once
#include "world/collide/slide.h"
#include "world/voxel/volume.h"

namespace ashlar {

/// Steps short enough that a correction never comes out on the far side.
inline constexpr double cylinder_step_m_max = 0.1;
inline constexpr double point_step_m_max = 0.4;
inline constexpr double correct_reach_m = 0.3;
/// Longer ways in one tick are swept: fewer tests are never made instead.
inline constexpr int cylinder_steps_max = 64;
inline constexpr int point_steps_max = 32;
/// What a stepped motion may ask of its surroundings: for each step an overlap and a correction.
inline constexpr std::uint32_t stepped_queries_max = cylinder_steps_max * (1 + correct_queries_max);

/// Moves a body by `way` in steps of at most cylinder_step_m_max and half its radius, each followed by a
/// correction to the nearest free place. In a gap narrower than the body that is the last free place.
/// Momentum from positions: what corrections took from the way they take from the velocity (over dt_s), and
/// they never make it faster. No allocation.
SlideEnd stepped_motion(const Surroundings& around, DVec3 position, DVec3 velocity, DVec3 way, double dt_s,
                        ContactList& contacts);

/// How a point's stepped way ended.
struct PointEnd {
  DVec3 point;
  bool stuck = false;      ///< in a solid without a free neighbour: recovery takes over
  bool corrected = false;  ///< something was in the way: the end is not simply the way's
};

/// Moves a point by `way` in steps of at most point_step_m_max, each corrected (correct.h) and extra_m clear
/// of what it met. A wall whose blocks share faces is never crossed; between two blocks that share only an
/// edge there is a gap. Beyond point_steps_max steps, and where blocks may be solid in part only, the way is
/// swept, which closes that gap.
PointEnd stepped_point(const VoxelVolume& volume, DVec3 point, DVec3 way, double extra_m);

/// What a mover that meets walls only as a point is to the queries of space: as little as they can see.
inline constexpr Cylinder point_body{point_half_m, 2 * point_half_m};

/// stepped_point as a way to carry such a mover (point_body), in the form of stepped_motion. Near maps and
/// props the way is swept instead: their walls may be thinner than any step.
SlideEnd stepped_point_motion(const Surroundings& around, DVec3 position, DVec3 velocity, DVec3 way,
                              double dt_s, ContactList& contacts);

}  // namespace ashlar
