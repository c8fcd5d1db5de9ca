#pragma once
#include <cstdint>
#include <optional>

#include "client_sim/explore/expedition.h"
#include "world/collide/body.h"
#include "world/sim/command.h"

namespace ashlar::client_sim {

/// A run over a gap, with a jump at its edge; under a lintel that a jump would end at, without one.
struct Leap {
  DVec2 from, to;
  DVec2 ahead;           ///< unit vector
  double speed_mps = 0;  ///< at the edge, kept in the air
  double run_m = 0;      ///< to gather that speed, before `from`
  bool jumps = true;
};

/// Can a body that runs up to one cell come down in another? Flies the way over the grid as heights stand
/// now. nullopt: no. Precondition: somebody can stand in both cells.
std::optional<Leap> leap_between(const Expedition& e, std::uint32_t from, std::uint32_t to);

/// A leap under way: back to where the run begins, to the edge, and over it. A value, seconds long.
class LeapRun {
 public:
  enum class State : std::uint8_t { going, landed, failed };

  /// @param now_s  Expedition::now_s()
  LeapRun(const Leap& leap, double now_s) : leap_(leap), since_s_(now_s) {}

  /// The command for now; once it landed or failed there is nothing more to do.
  /// @param buttons  of the last command
  PlayerCommand think(const Expedition& e, const Body& body, std::uint16_t buttons);
  State state() const { return state_; }
  const Leap& leap() const { return leap_; }

 private:
  enum class Phase : std::uint8_t { back, run, air };
  bool over(const Expedition& e, const Body& body) const;
  PlayerCommand end(State state) {
    state_ = state;
    return {};
  }

  Leap leap_;
  double since_s_;
  State state_ = State::going;
  Phase phase_ = Phase::back;
};

}  // namespace ashlar::client_sim
