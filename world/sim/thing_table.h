#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "world/sim/kinds.h"

namespace ashlar {

/// What a map's thing becomes in our world.
enum class ThingRole : std::uint8_t {
  player_start,  ///< `value` is the player's number, 1 to 4
  deathmatch_start,
  teleport_target,
  monster,     ///< `monster` says which
  pickup,      ///< `pickup` and `value` say what
  decoration,  ///< stands in the way in Doom; ours leaves it out
};

/// What is picked up. Values travel on the wire and in recordings: append only.
enum class PickupKind : std::uint8_t {
  none,
  health,        ///< up to the usual limit
  health_bonus,  ///< beyond it too
  armour,
  armour_bonus,
  bullets,
  shells,
  rockets,
  cells,
  weapon,  ///< `value` is the slot
  backpack,
  key,    ///< `value`: 1 red, 2 blue, 3 yellow; skull keys 4, 5, 6
  power,  ///< `value` is which: 1 invulnerability, 2 strength, 3 invisibility, 4 suit, 5 map, 6 light
};

/// One editor number. Static data.
struct ThingType {
  std::uint16_t number = 0;  ///< editor number
  ThingRole role = ThingRole::decoration;
  std::string_view name;
  MonsterKind monster{};
  PickupKind pickup = PickupKind::none;
  std::int16_t value = 0;
};

/// The row of an editor number, or null: a number that we do not know. Cost: a binary search.
const ThingType* find_thing_type(std::uint16_t number);

/// All rows by rising number.
std::span<const ThingType> thing_types();

}  // namespace ashlar
