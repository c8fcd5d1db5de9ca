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
  // Of what moves: motion_cues.h.
  step,          ///< of who runs on the ground; the detail is the block under its feet, 0 where there is none
  splash,        ///< somebody fell or ran into a liquid; the detail is its block, the place where
  pickup,        ///< a player took an item of maps; the detail is its index in item_things, the place where
  use,           ///< of a line, by use or a shot; the detail is 0: done, 1: locked; the place is before it
  plane_starts,  ///< a floor or ceiling moves from now on; the detail is a PlaneCue, the place is in its
                 ///< sector
  plane_stops,   ///< it came to an end of its way; likewise
  digging,  ///< a player digs; the detail is how far that is, of 255, 0: left off; the place is in the block
};
inline constexpr std::uint8_t cue_kind_count = 13;

/// The detail of plane_starts and plane_stops, in its bits: which plane, which way it goes, and its Motion,
/// which tells doors from lifts. Of one that has come to rest the motion is not known any more.
struct PlaneCue {
  static constexpr std::uint8_t ceiling = 1, up = 2, motion_shift = 2, motion_unknown = 63;
};

/// A cue of the last tick.
struct WorldCue {
  CueKind kind{};
  std::uint8_t detail = 0;
  EntityId who{};  ///< whom it is about; 0: nobody
  bool placed = false;
  DVec3 place_m{};  ///< where placed
};

}  // namespace ashlar
