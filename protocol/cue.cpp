#include "protocol/cue.h"

#include <cmath>
#include <cstdint>

#include "world/math/assert.h"
#include "world/sim/rules.h"

namespace ashlar {

bool cue_sane(const Cue& cue) {
  return (cue.who != EntityId{0} || cue.placed) && (!cue.placed || in_bounds(cue.place_m()));
}

IVec3 quantise_cue_place(DVec3 place_m) {
  ASHLAR_ASSERT(in_bounds(place_m));
  const auto step = [](double v) { return static_cast<std::int32_t>(std::floor(v * cue_steps_per_m + 0.5)); };
  IVec3 place{step(place_m.x), step(place_m.y), step(place_m.z)};
  // What is less than half a step from the upper end of the world would be rounded out of it.
  if (!in_bounds(Cue{{}, 0, 0, {}, true, place}.place_m()))
    place = {static_cast<std::int32_t>(place_m.x * cue_steps_per_m),
             static_cast<std::int32_t>(place_m.y * cue_steps_per_m),
             static_cast<std::int32_t>(place_m.z * cue_steps_per_m)};
  return place;
}

}  // namespace ashlar
