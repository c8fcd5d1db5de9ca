#pragma once
#include <cstdint>

#include "world/collide/space.h"
#include "world/math/shapes.h"

namespace ashlar {

/// What the blocks that a body stands on and is in do to it. Asked along its axis: what is beside that it
/// only brushes. Unloaded blocks do nothing.
struct BlockTouch {
  double immersed = 0;             ///< share of its height that is in liquid, 0 to 1
  bool climbs = false;             ///< its axis, up to climb_share of its height, is in something to climb on
  double friction = 1, jump = 1;   ///< of the block it stands on
  std::uint16_t damage_per_s = 0;  ///< the most that any of them does
};

/// Above this share of its height a body reaches no rung any more: who comes to the end of a ladder is off
/// it.
inline constexpr double climb_share = 0.6;

/// Cost: a look-up per block of the body's height and one more, about 20 ns, where its chunks hold any block
/// that does something; next to nothing elsewhere. No allocation.
BlockTouch touch_of(const VoxelVolume& volume, const Cylinder& shape, DVec3 base);

}  // namespace ashlar
