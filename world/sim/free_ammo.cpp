#include "world/sim/free_ammo.h"

#include <algorithm>

#include "world/bsp/placement.h"
#include "world/sim/spawn.h"
#include "world/sim/thing_table.h"

namespace ashlar {

bool ammo_free(const Rules& rules, std::span<const std::shared_ptr<const PlacedMap>> maps) {
  if (rules.free_ammo != FreeAmmo::by_maps) return rules.free_ammo == FreeAmmo::yes;
  if (rules.items == Switch::off) return true;
  const auto arms = [&rules](const PlacedThing& thing) {
    if (!thing_in_game(thing.flags, rules)) return false;  // it does not lie there
    const ThingType* type = find_thing_type(thing.type);
    if (type == nullptr || type->role != ThingRole::pickup) return false;
    return (type->pickup >= PickupKind::bullets && type->pickup <= PickupKind::cells) ||
           type->pickup == PickupKind::weapon;
  };
  return std::ranges::none_of(maps,
                              [&](const auto& map) { return std::ranges::any_of(map->things(), arms); });
}

}  // namespace ashlar
