#pragma once
#include "world/collide/body.h"
#include "world/collide/space.h"
#include "world/sim/command.h"
#include "world/sim/rules.h"

namespace ashlar {

/// Advances one player by one tick: acceleration, friction, gravity, jump, then the rule set's solver, steps,
/// stairs, recovery. No allocation. Same inputs, same bits out. Precondition: finite body, axes in [-1, 1].
/// Cost with the sweep: about 0.1 us on open ground, up to 10 us in a tick of recovery.
/// @param floor_mps  of the floor it stands on: walking and friction are relative to that, so that a body
///                   comes to rest on a conveyor of any speed and walks as fast as beside it
MoveReport player_move(const Space& space, const Rules& rules, const PlayerCommand& command, Body& body,
                       DVec2 floor_mps = {});

}  // namespace ashlar
