#pragma once
#include <cstdint>

#include "protocol/messages.h"
#include "world/sim/sector_movers.h"

// Motions of floors and ceilings as they travel: what a client foresees their heights from.

namespace ashlar {

/// Motions of sectors that a snapshot may carry.
inline constexpr std::size_t snapshot_motions_max = 16;

/// One plane's motion and where the plane is. Precondition: map < placed_maps_max, mover_sane(mover).
WireMotion to_wire(const Mover& mover, std::size_t map, double height_m);

/// The mover of a motion. What a client has no use for is not told: when it may hurt again, whether it was
/// heard.
Mover mover_of(const WireMotion& motion);

/// Is it a motion of a map that there may be, with known kinds and finite values? For received bytes.
bool motion_ok(const WireMotion& motion);

}  // namespace ashlar
