#pragma once
#include <chrono>
#include <cstdint>

#include "world/math/random.h"
#include "world/sim/command.h"

namespace ashlar::client_sim {

/// Feet without eyes, for clients that keep no picture of the world (ClientConfig::light): they run, and turn
/// somewhere else every second or so. Same seed, same steps.
class LightWalker {
 public:
  explicit LightWalker(std::uint64_t seed) : rng_{seed} {}

  PlayerCommand think(std::chrono::microseconds now) {
    if (now >= next_turn_) {
      command_.forward = 1;
      command_.yaw = Turn16{static_cast<std::uint16_t>(rng_.next_u32())};
      command_.buttons = rng_.below(8) == 0 ? button::jump : std::uint16_t{0};
      next_turn_ = now + std::chrono::milliseconds(500 + rng_.below(2000));
    }
    return command_;
  }

 private:
  Rng rng_;
  PlayerCommand command_;
  std::chrono::microseconds next_turn_{0};
};

}  // namespace ashlar::client_sim
