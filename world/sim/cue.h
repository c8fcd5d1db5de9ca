#pragma once
#include <cstdint>

#include "world/math/vec.h"
#include "world/sim/kinds.h"

namespace ashlar {

/// What only shows and sounds: nothing in the world depends on it, and who misses one misses an effect.
/// Values travel: append only.
enum class CueKind : std::uint8_t {
  shot,    ///< a ray of a player's weapon; the detail is the weapon, the place where it ended
  launch,  ///< a player launched something; the detail is the weapon
  attack,  ///< of a monster; the detail is its AttackForm, the place where a ray ended
  hurt,    ///< somebody was hurt and lives; the detail is a HurtBy
  died,    ///< somebody died; the detail is a HurtBy, the place where
  burst,   ///< of a projectile; the detail is its kind, the place where
};
inline constexpr std::uint8_t cue_kind_count = 6;

/// A cue of a fight in the last tick.
struct CombatCue {
  CueKind kind{};
  std::uint8_t detail = 0;
  EntityId who{};  ///< whom it is about; 0: nobody
  bool placed = false;
  DVec3 place_m{};  ///< where placed
};

}  // namespace ashlar
