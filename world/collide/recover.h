#pragma once
#include <optional>

#include "world/collide/body.h"
#include "world/collide/space.h"
#include "world/math/shapes.h"

namespace ashlar {

/// The way out for a body that is in a solid: drawn straight to the nearest place of its neighbourhood where
/// it fits, by a velocity of its own.
///
/// Places tried, the nearest first, ties in this order: where the body was last free (within
/// recovery_back_m); out of a map by the shortest way; the 27 cells around it, at the cell's floor and at the
/// ground there; when none of them will do, the cells up to recovery_up_cells above.
///
/// Never through a roof or wall to the other side unless that is where the mover came from: of the free
/// places only those count that RecoverySide holds (recovery_side.h): to be reached from where the body was
/// last free, or, where that is not known, from its own cell through the free space of the 3x3x3 around it.
/// On its way it may pass through free space that is not on its side, and goes on: it ends where the rest of
/// the way to the target is free. The target is kept until then or until it is no longer free. When there is
/// none, or it takes longer than recovery_s_max, the body is put back where it was last free; where that is
/// solid too, report.lost asks the caller for a spawn.
inline constexpr double recovery_gain_mps2 =
    480;  ///< towards the target; full speed within one tick at 60 Hz
inline constexpr double recovery_drag_per_s = 8;
inline constexpr double recovery_speed_mps_max = 6;
inline constexpr double recovery_step_m_max = 0.4;  ///< a tick, whatever the tick rate
inline constexpr double recovery_back_m = 2;
inline constexpr int recovery_up_cells = 4;
inline constexpr double recovery_s_max = 1.5;

/// Half a block or more in one step could come out on the far side of a wall.
static_assert(recovery_step_m_max < 0.5);

/// One tick of recovery of a body that overlaps a solid or is on its way out (stuck_ticks > 0). Ordinary
/// velocity becomes zero; in the tick in which the body is free the recovery velocity does too. Cost: up to
/// 10 us, and where a target is looked for and none is near up to 100. No allocation.
void recover(const Space& space, const Cylinder& shape, double dt_s, Body& body, MoveReport& report);

/// The place that recover() would choose; nullopt when there is none.
std::optional<DVec3> recovery_target(const Space& space, const Cylinder& shape, DVec3 position,
                                     DVec3 last_free);

}  // namespace ashlar
