#pragma once
#include <cstdint>
#include <vector>

#include "world/sim/combat_event.h"

namespace ashlar::server {

/// What the fight room knows of one session: what it was told of itself, and hits that it is to be told of.
struct FightDesk {
  static constexpr std::size_t hits_max = 512;
  bool told = false;  ///< anything yet, in this world
  std::uint8_t world = 0;
  std::uint16_t health = 0, armour = 0;
  std::uint8_t armour_half = 0;
  std::vector<CombatEvent> hits;
};

}  // namespace ashlar::server
