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
  /// @param stays  it runs a few steps and as many back, so that who starts in a crowd is still there an hour
  ///   later: without a picture it cannot tell where the others are
  explicit LightWalker(std::uint64_t seed, bool stays = false) : rng_{seed}, stays_(stays) {}

  PlayerCommand think(std::chrono::microseconds now) {
    if (now < next_turn_) return command_;
    command_.forward = 1;
    const Turn16 anywhere{static_cast<std::uint16_t>(rng_.next_u32())};
    command_.yaw = way_back_ ? command_.yaw + half_turn : anywhere;
    command_.buttons = rng_.below(8) == 0 ? button::jump : std::uint16_t{0};
    if (!way_back_)
      stretch_ = std::chrono::milliseconds(stays_ ? 200 + rng_.below(500) : 500 + rng_.below(2000));
    way_back_ = stays_ && !way_back_;
    next_turn_ = now + stretch_;
    return command_;
  }

 private:
  static constexpr Turn16 half_turn{32'768};

  Rng rng_;
  bool stays_, way_back_ = false;
  PlayerCommand command_;
  std::chrono::microseconds next_turn_{0}, stretch_{0};
};

}  // namespace ashlar::client_sim
