#pragma once
#include <cstdint>

#include "world/sim/arsenal.h"
#include "world/sim/kinds.h"
#include "world/sim/rules.h"

namespace ashlar::client_sim {

/// The weapon that does most in a second to somebody so far away, of those that are carried and have
/// something to fire: spread misses from afar, a burst beside one's own feet is none, and changing from the
/// one that is held has to be worth it. Reads nothing but its arguments. Cost: some nanoseconds a weapon.
/// @return index of a weapon; weapon_none: there is none
std::uint8_t best_weapon(const KindSet& kinds, const Rules& rules, const Arsenal& arsenal, double away_m);

}  // namespace ashlar::client_sim
