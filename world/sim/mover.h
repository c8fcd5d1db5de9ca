#pragma once
#include "world/collide/body.h"
#include "world/collide/space.h"
#include "world/sim/rules.h"

// What players and monsters share of a tick: both decide on a velocity, then carry it out here.

namespace ashlar {

/// How a mover is carried, from its rule set and kind.
struct MoverTraits {
  Cylinder shape;
  double step_height_m_max = 0;
  double gravity_mps2 = 0;  ///< 0 for flyers
  double fall_speed_mps_max = 60;
  bool flies = false;
  Solver solver = Solver::sweep;
  bool as_point = false;  ///< with Solver::correct: shape is point_body, and goes the stepped point's way
};

/// Fastest that the eye follows a step, and how far it may lag behind.
inline constexpr double eye_speed_mps_max = 12;
inline constexpr double eye_lag_m_max = 1.5;

/// Carries a body through space for one tick: gravity, the solver, steps and stairs, standing, recovery.
/// `keep_to_ground` is false in the tick of a jump. Body's velocity is what it was decided to be for the
/// tick. No allocation. Frozen in unloaded space; a body in solid is recovered instead of moved.
void carry(const Space& space, const MoverTraits& traits, double dt_s, bool keep_to_ground, Body& body,
           MoveReport& report);

/// Turns a level velocity towards `target` by at most change_mps_max, never past it.
DVec2 accelerate(DVec2 velocity, DVec2 target, double change_mps_max);

}  // namespace ashlar
