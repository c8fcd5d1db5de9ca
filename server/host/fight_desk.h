#pragma once
#include <cstdint>
#include <vector>

#include "world/sim/arsenal.h"
#include "world/sim/combat_event.h"

namespace ashlar::server {

/// What the fight room knows of one session: what it was told of itself, and hits that it is to be told of.
struct FightDesk {
  static constexpr std::size_t hits_max = 512;
  bool told = false;  ///< anything yet, in this world
  std::uint8_t world = 0;
  std::uint16_t health = 0, armour = 0;
  std::uint8_t armour_half = 0;
  bool armed = false;  ///< was told of `arsenal`, in this world
  Arsenal arsenal;
  std::uint32_t score_told = 0;      ///< version of the score that it was told
  std::vector<std::uint8_t> picked;  ///< items that it is to be told of
  std::vector<CombatEvent> hits;
};

}  // namespace ashlar::server
