#pragma once
#include <array>
#include <cstdint>

#include "world/math/turn.h"
#include "world/math/vec.h"
#include "world/sim/inventory.h"

namespace ashlar::server {

/// Who a player is: its client's public key; where connect tokens are asked for, a hash of the token's id.
using PlayerIdentity = std::array<std::uint8_t, 32>;

/// A player as it outlives its stay, and the server's run.
struct KeptPlayer {
  PlayerIdentity identity{};
  DVec3 position_m;  ///< where it was last, and how it looked; who comes back begins at a start
  Turn16 yaw{0}, pitch{0};
  std::uint16_t health = 0;
  Inventory inventory = {};
};

}  // namespace ashlar::server
