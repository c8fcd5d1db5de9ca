#pragma once
#include "world/sim/kinds.h"
#include "world/sim/monster_think.h"
#include "world/sim/player_move.h"

namespace ashlar {

/// What of a monster meets walls: its body, or under Solver::correct with kinds whose body does not count
/// there only a point (collide/stepped.h, point_body).
Cylinder wall_shape(const Rules& rules, const MonsterTraits& kind);

/// Advances one monster by one tick with its kind's own size, speed and step height, through the rule set's
/// monster solver: the sweep, or steps with corrections. Under Solver::correct a kind whose body counts
/// against walls is corrected as a cylinder, the others go the stepped point's way.
/// Walkers fall and step, flyers keep their height but for `wish.climb`; kinds that swim float in liquids and
/// leap out at a bank, those that climb go up ladders, where `wish.climb` is above 0. Recovery as for
/// players. No allocation. Same inputs, same bits out. Preconditions: finite body, wish within its ranges.
/// @param floor_mps  of the floor it stands on, which its own pace is relative to
MoveReport monster_move(const Space& space, const Rules& rules, const MonsterTraits& kind,
                        const MonsterWish& wish, Body& body, DVec2 floor_mps = {});

/// Would a body on the ground come over an edge that is deeper than drop_m if it went on so? What is low
/// ahead may be the foot of stairs: those it goes down.
/// @param direction  unit, or nowhere
/// Cost: one search for ground, and before an edge a few more.
bool comes_over_edge(const Space& space, const MonsterTraits& kind, double drop_m, DVec2 direction,
                     const Body& body);

inline constexpr double look_ahead_m = 1.5;

enum class Ahead : std::uint8_t {
  clear,
  wall,  ///< higher than a step: it holds up whoever comes to it
  edge,  ///< deeper than a step: there may be no way back up
};
/// What a walker meets first if it goes straight on. Whoever walks without a way asks: on hills and in caves
/// most of what is deeper has no way back.
/// @param direction  unit; a body at `from` is on the ground
/// @param way_m      so far it looks, and no farther than look_ahead_m
/// Cost: up to three searches for ground, some 0.1 us each over blocks.
Ahead look_ahead(const Space& space, const MonsterTraits& kind, DVec3 from, DVec2 direction, double way_m);

}  // namespace ashlar
