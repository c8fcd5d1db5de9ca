#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>

#include "world/math/shapes.h"

namespace ashlar {

/// How a kind of mover is kept out of solids.
enum class Solver : std::uint8_t { sweep = 0, correct = 1 };

/// Do locked doors of maps ask for their key?
enum class KeyRule : std::uint8_t { ignored = 0, needed = 1 };

/// The rule set of a world: travels to the client in the welcome, so that prediction runs the same code.
/// Part of the world's hash. Typical values are Doom's and Quake's at 32 units a metre.
struct Rules {
  std::uint16_t tick_rate_hz = 60;  ///< 10 to 128
  Cylinder player{0.3, 1.75};       ///< Doom's player is 56 units high, many openings are exactly that
  double player_eye_m = 1.6;
  double step_height_m_max = 0.75;  ///< 24 units; equal is allowed
  double gravity_mps2 = 20.0;
  double jump_speed_mps = 7.0;  ///< rises 1.22 m: clears one block
  double walk_speed_mps_max = 6.0;
  double ground_acceleration_mps2 = 60.0;  ///< full speed within 0.1 s
  double air_acceleration_mps2 = 12.0;     ///< steering in the air, never above walking speed
  double ground_friction_per_s = 8.0;      ///< share of speed lost per second without input
  double fall_speed_mps_max = 60.0;
  double shot_interval_s = 0.4;  ///< between two shots of one player, rounded up to whole ticks
  double shot_range_m = 64.0;    ///< Doom's 2048 units
  Solver player_solver = Solver::sweep;
  Solver monster_solver = Solver::sweep;
  KeyRule keys = KeyRule::needed;
  std::uint16_t player_health = 100;  ///< points of a fresh player, from 1
  std::uint16_t crush_damage = 10;    ///< points each time a crusher hurts, every 4/35 s
  double respawn_s =
      4;  ///< a dead player is back after so long, with the use button down from a second on, keys kept

  double tick_s() const { return 1.0 / static_cast<double>(tick_rate_hz); }
  /// Whole ticks that pass within a time, at least `least`: what is timed in seconds is right at every rate.
  std::uint16_t ticks_within(double seconds, std::uint16_t least = 0) const {
    constexpr double rounding = 1e-9;  // 1/6 s at 60 Hz are 10 ticks, not 9
    const double ticks = seconds * static_cast<double>(tick_rate_hz) + rounding;
    return std::max(least, static_cast<std::uint16_t>(std::min(ticks, 65535.0)));
  }
  /// How high a jump rises; without gravity there is no end to it.
  double jump_rise_m() const {
    return gravity_mps2 > 0 ? jump_speed_mps * jump_speed_mps / (2 * gravity_mps2)
                            : std::numeric_limits<double>::infinity();
  }
};

/// Are all values finite and within what movement was made for? The test that foreign rule sets pass.
bool rules_sane(const Rules& rules);

inline constexpr double world_extent_m = 1 << 20;  ///< |x|, |y| of positions stay below
inline constexpr double world_height_m = 1 << 12;  ///< |z| stays below

/// Is the position inside the world's bounds (false for NaN)?
inline bool in_bounds(DVec3 p) {
  return p.x > -world_extent_m && p.x < world_extent_m && p.y > -world_extent_m && p.y < world_extent_m &&
         p.z > -world_height_m && p.z < world_height_m;
}

}  // namespace ashlar
