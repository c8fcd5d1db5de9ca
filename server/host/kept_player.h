#pragma once
#include <array>
#include <cstdint>
#include <string>

#include "world/math/turn.h"
#include "world/math/vec.h"
#include "world/sim/inventory.h"
#include "world/sim/player_life.h"

namespace ashlar::server {

/// Who a player is: its client's public key; where connect tokens are asked for, a hash of the token's id.
using PlayerIdentity = std::array<std::uint8_t, 32>;

/// A player as it outlives its stay, and the server's run.
struct KeptPlayer {
  PlayerIdentity identity{};
  DVec3 position_m;  ///< where it was last, and how it looked
  Turn16 yaw{0}, pitch{0};
  PlayerLife life = {};  ///< of health 0: it was dead
  KeptScore score = {};
  Inventory inventory = {};
  bool gone = false;  ///< nothing of it is worth keeping any more: its row goes
};

/// Who changed a block, as the log of edits names it.
struct EditAuthor {
  enum class Kind : std::uint8_t {
    world,      ///< nobody: it fell, or a rule did it
    operators,  ///< on the console, or with the tools
    player,
  };
  Kind kind = Kind::world;
  PlayerIdentity identity{};  ///< of a player; else zeros
  std::string name;           ///< likewise, as it called itself; else empty
};

}  // namespace ashlar::server
