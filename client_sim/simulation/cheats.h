#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ashlar::simulation {

/// How a client plays by other rules than an honest one's. It has the same library, and says what it likes.
enum class Cheat : std::uint8_t {
  none,        ///< honest: what the others are measured against
  fast_clock,  ///< speed: its clock runs half as fast again
  doubled,     ///< speed: says everything twice
  bursts,      ///< speed: keeps its packets back and says them at once, eight times a second
  stalls,      ///< teleport: is silent for a second, and then says all that it would have done
  taps,        ///< rapid fire: presses and releases the trigger as quickly as it can, and says it twice
  reach,       ///< digs what is farther away than its arms
};

/// What came of a match of one player.
struct CheatTaken {
  double way_m = 0;           ///< over ground, all ticks together
  double step_m = 0;          ///< the longest of one tick
  std::uint64_t shots = 0;    ///< that the server fired for it
  std::uint64_t dug_far = 0;  ///< blocks dug that were out of its reach
  std::uint64_t refused = 0;  ///< digs that the server did not allow
};

/// Plays so long on a plain, over a line of 40 ms there and back, in simulated time.
CheatTaken play_cheat(Cheat cheat, double seconds);

/// A line of the table: what was measured, of an honest player and of one who cheats.
struct CheatFigure {
  std::string cheat, measure;
  double honest = 0, cheating = 0;
  double slack = 0;  ///< that chance makes of two honest players
  /// What cheating gave, beyond what chance gives.
  double gained() const { return cheating > honest + slack ? cheating - honest : 0; }
};

/// All of them: those above, and players who lie about the tick they saw (feel.h).
/// @param seconds  of each match, at least 5
std::vector<CheatFigure> cheat_figures(double seconds);

}  // namespace ashlar::simulation
