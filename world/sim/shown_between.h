#pragma once
#include <algorithm>

#include "world/math/vec.h"
#include "world/sim/rules.h"

// Where a picture shows somebody of whom two states are known: what players see of each other, and what their
// shots are judged by.

namespace ashlar {

/// Beyond the newest state somebody goes on as he went for so long; who is told of more seldom than that goes
/// on until the next state is due, for extrapolate_seldom_s at most.
inline constexpr double extrapolate_s = 0.1, extrapolate_seldom_s = 0.3;

/// Beyond the newest state, for how many ticks somebody goes on.
/// @param spacing_ticks  from one state to the next
constexpr double extrapolate_ticks(double spacing_ticks, std::uint16_t tick_rate_hz) {
  return std::max(extrapolate_s * tick_rate_hz, std::min(spacing_ticks, extrapolate_seldom_s * tick_rate_hz));
}

/// Was somebody put elsewhere, rather than that he went this way?
inline bool was_put(const DVec3& way_m, double ticks, const Rules& rules) {
  constexpr double fastest_mps = 25;
  constexpr double step_m = 1;
  return dot(way_m, way_m) > step_m * step_m && length(way_m) > step_m + fastest_mps * ticks * rules.tick_s();
}

/// Two states of somebody that were told. Ticks ascend; two alike: nothing but the later one is known.
struct ToldStates {
  DVec3 from_m;
  double from_tick = 0;
  DVec3 to_m;
  double to_tick = 0;

  double ticks() const { return to_tick - from_tick; }
};

/// Where somebody is shown at a tick: on the straight way between two states, going on beyond the later one
/// as he went, and where he was last known to be where he was put elsewhere meanwhile. Walls are not looked
/// for.
/// @param tick  not before the first one
[[gnu::always_inline]] inline DVec3 shown_between(const ToldStates& told, double tick, const Rules& rules) {
  const double ticks = told.ticks();
  const DVec3 way = told.to_m - told.from_m;
  if (ticks <= 0 || was_put(way, ticks, rules)) return tick < told.to_tick ? told.from_m : told.to_m;
  if (tick < told.to_tick) return told.from_m + way * ((tick - told.from_tick) / ticks);
  const double on = std::min(tick - told.to_tick, extrapolate_ticks(ticks, rules.tick_rate_hz));
  return told.to_m + way * (on / ticks);
}

}  // namespace ashlar
