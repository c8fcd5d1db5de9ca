#pragma once
#include "world/sim/kinds.h"
#include "world/sim/monster_think.h"
#include "world/sim/player_move.h"

namespace ashlar {

/// Advances one monster by one tick with its kind's own size, speed and step height, through the rule set's
/// monster solver: the sweep, or stepped correction of its whole cylinder.
/// Walkers fall and step, flyers keep their height but for `wish.climb`. Recovery as for players.
/// No allocation. Same inputs, same bits out. Preconditions: finite body, wish within its ranges.
MoveReport monster_move(const Space& space, const Rules& rules, const MonsterTraits& kind,
                        const MonsterWish& wish, Body& body);

}  // namespace ashlar
