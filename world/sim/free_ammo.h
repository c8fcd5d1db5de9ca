#pragma once
#include <memory>
#include <span>

#include "world/sim/rules.h"

namespace ashlar {

class PlacedMap;

/// Does nobody run out of ammunition? As the rule set says; by its maps: where none of them has any in this
/// game, there would be nothing to fight with.
bool ammo_free(const Rules& rules, std::span<const std::shared_ptr<const PlacedMap>> maps);

}  // namespace ashlar
