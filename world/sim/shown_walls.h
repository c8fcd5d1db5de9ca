#pragma once
#include "world/collide/space.h"
#include "world/sim/shown_between.h"

// Nobody is shown inside a wall: what becomes of a place on the way between two states that lies in one. What
// players see of each other, and what their shots are judged by.

namespace ashlar {

/// Places travel in steps of 8 mm, so who walks along a wall is now and then told to be a little in it: that
/// deep is free.
inline constexpr double shown_skin_m = 0.02;

/// Is somebody in a wall? What is not loaded is none.
inline bool shown_in_wall(const Space& space, const Cylinder& shape, DVec3 at_m) {
  const Cylinder inner{std::max(shape.radius_m - shown_skin_m, 0.01),
                       std::max(shape.height_m - 2 * shown_skin_m, 0.01)};
  const DVec3 base = at_m + DVec3{0, 0, shown_skin_m};
  return !space_unloaded(space, shape, at_m) && space_overlaps(space, inner, base);
}

/// Beyond the newest state: how much of a step is free.
inline double shown_free_share(const Space& space, const Cylinder& shape, DVec3 from_m, DVec3 step) {
  if (space_unloaded(space, shape, from_m) || space_unloaded(space, shape, from_m + step)) return 1;
  const SweepHit hit = space_sweep(space, shape, from_m, step);
  return hit.hit() ? hit.t : 1;
}

/// shown_between() with walls: between two states the nearer one where the way goes around a corner, beyond
/// the later one as far as it is free.
/// @param stopped  set where a wall made it another place
inline DVec3 shown_free(const Space& space, const Cylinder& shape, const ToldStates& told, double tick,
                        const Rules& rules, bool* stopped = nullptr) {
  const DVec3 at = shown_between(told, tick, rules);
  if (at == told.from_m || at == told.to_m) return at;
  DVec3 free = at;
  if (tick > told.to_tick)
    free = told.to_m + (at - told.to_m) * shown_free_share(space, shape, told.to_m, at - told.to_m);
  else if (told.ticks() > 1 && shown_in_wall(space, shape, at))
    free = 2 * (tick - told.from_tick) < told.ticks() ? told.from_m : told.to_m;
  if (stopped != nullptr && free != at) *stopped = true;
  return free;
}

}  // namespace ashlar
