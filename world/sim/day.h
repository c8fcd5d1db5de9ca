#pragma once
#include <cstdint>

#include "world/sim/rules.h"

namespace ashlar {

inline constexpr int sky_light_day = 15, sky_light_night = 4;

/// How bright the open sky is in a tick of the world's life (World::life_tick()), from 0 to 15, as blocks'
/// light counts: half of Rules::day_s by day, a sixteenth of dusk, three eighths of night, and dawn. A world
/// begins in the morning, once: it goes on with the time of day that it ended with. Clients know as much.
constexpr int sky_light(const Rules& rules, std::uint64_t life_tick) {
  constexpr std::uint64_t whole = 1024, dusk = 512, night = 576, dawn = 960;
  const std::uint64_t day_ticks = std::uint64_t{rules.day_s} * rules.tick_rate_hz;
  if (day_ticks == 0) return sky_light_day;
  const std::uint64_t at = life_tick % day_ticks * whole / day_ticks;
  constexpr int range = sky_light_day - sky_light_night;
  if (at < dusk) return sky_light_day;
  if (at < night) return sky_light_day - static_cast<int>((at - dusk) * range / (night - dusk));
  if (at < dawn) return sky_light_night;
  return sky_light_night + static_cast<int>((at - dawn) * range / (whole - dawn));
}

}  // namespace ashlar
