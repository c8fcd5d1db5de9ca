#pragma once
#include "world/collide/body.h"
#include "world/math/hash.h"
#include "world/sim/kinds.h"

namespace ashlar {

inline void add_to_hash(StripeHasher& h, EntityId id) { h.add(static_cast<std::uint64_t>(id)); }

/// All of a body that the next tick reads.
inline void add_to_hash(StripeHasher& h, const Body& b) {
  h.add(b.position_m), h.add(b.velocity_mps), h.add(b.recovery_velocity_mps);
  h.add(b.recovery_target_m), h.add(b.last_free_m), h.add(b.eye_offset_m);
  h.add(static_cast<std::uint64_t>(b.grounded) | static_cast<std::uint64_t>(b.stuck_ticks) << 8 |
        static_cast<std::uint64_t>(b.noclip) << 16);
}

}  // namespace ashlar
