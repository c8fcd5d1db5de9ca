#pragma once
#include "world/collide/body.h"
#include "world/collide/space.h"
#include "world/sim/command.h"
#include "world/sim/rules.h"

namespace ashlar {

/// What a game adds to how players move: grapples, jump packs, wind. A world asks it for every player, and
/// the replica of each client that is given the same one asks it for its own, so what it does is foreseen. It
/// knows no more than it is asked with; it must be a function of that, allocate nothing, and draw nothing.
class PlayerMotion {
 public:
  PlayerMotion() = default;
  PlayerMotion(const PlayerMotion&) = delete;
  PlayerMotion& operator=(const PlayerMotion&) = delete;
  virtual ~PlayerMotion() = default;

  /// Before each tick's move of a player who is alive and not in no-clip.
  /// @param command  as it moves its player: its yaw is where that faces by now
  /// @return the velocity that it begins its move with, upwards off the ground; one that is not finite or
  ///         over motion_mps_max is ignored
  virtual DVec3 velocity_mps(const Space& space, const Rules& rules, const PlayerCommand& command,
                             const Body& body) const = 0;
};
inline constexpr double motion_mps_max = 100;

/// Asks it for one player. @param motion  null: there is none
inline void apply_motion(const PlayerMotion* motion, const Space& space, const Rules& rules,
                         const PlayerCommand& command, Body& body) {
  if (motion == nullptr || body.noclip != 0) return;
  const DVec3 v = motion->velocity_mps(space, rules, command, body);
  if (!(dot(v, v) <= motion_mps_max * motion_mps_max)) return;  // true for NaN, too
  body.velocity_mps = v;
  if (v.z > 0) body.grounded = 0;
}

}  // namespace ashlar
