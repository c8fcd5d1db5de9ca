#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "world/sim/kinds.h"

namespace ashlar {

/// What a map's thing is to us.
enum class ThingRole : std::uint8_t {
  player_start,  ///< of player `amount` (1 to 4)
  deathmatch_start,
  teleport_target,
  monster,  ///< of kind `monster`
  key,      ///< `amount`: key_color
  weapon,
  ammo,
  health,  ///< `amount` points
  armour,  ///< `amount` points
  powerup,
};

enum class KeyColor : std::uint8_t { blue, yellow, red };

struct ThingInfo {
  std::uint16_t type = 0;  ///< editor number
  ThingRole role{};
  std::string_view name;
  MonsterKind monster{};
  std::uint16_t amount = 0;
};

/// The row of an editor number (Doom's and Doom II's, as Freedoom uses them); null: decoration or unknown.
/// Source of the numbers: the Unofficial Doom Specs 1.666, chapter 5.
const ThingInfo* thing_info(std::uint16_t type);

/// The whole table, sorted by editor number.
std::span<const ThingInfo> thing_table();

}  // namespace ashlar
