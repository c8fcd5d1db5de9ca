#pragma once
#include <algorithm>
#include <cstdint>

namespace ashlar {

// Health of players and monsters: whole points, 0 is dead. What hurts lives with what does it (crushers:
// world/sim/mechanics.h); what death means is World's.

/// Takes points away. @return true when that killed: it was alive and is not any more.
constexpr bool hurt(std::uint16_t& health, std::uint16_t points) {
  const bool was_alive = health != 0;
  health = static_cast<std::uint16_t>(health - std::min(health, points));
  return was_alive && health == 0;
}

/// Health as others see it: 0 dead, 255 full or more, at least 1 while alive.
constexpr std::uint8_t health_share(std::uint16_t health, std::uint16_t full) {
  if (health == 0) return 0;
  if (health >= full) return 255;
  return static_cast<std::uint8_t>(std::max(1, 255 * static_cast<int>(health) / static_cast<int>(full)));
}

}  // namespace ashlar
