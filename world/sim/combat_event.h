#pragma once
#include <cstdint>

#include "world/sim/kinds.h"

namespace ashlar {

/// What hurt somebody. Values travel: append only.
enum class HurtBy : std::uint8_t { crusher, shot, claw, missile, burst, charge, flame, block, game, fall };
inline constexpr std::uint8_t hurt_by_count = 10;

/// Values travel: append only.
enum class CombatEventKind : std::uint8_t { hurt, died };
inline constexpr std::uint8_t combat_event_kind_count = 2;

/// Somebody was hurt or died.
struct CombatEvent {
  CombatEventKind kind{};
  HurtBy how{};
  std::uint16_t points = 0;  ///< that it lost, of health; a death behind its hit has none
  EntityId who{};
  EntityId by{};  ///< who did it; 0: nobody
  friend bool operator==(const CombatEvent&, const CombatEvent&) = default;
};

}  // namespace ashlar
