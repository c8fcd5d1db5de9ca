#pragma once

#include "world/math/random.h"
#include "world/math/rounded_box.h"

namespace ashlar::test {

/// Of each of its axes at most size; level, upright and axis-parallel ways, where special cases live, are
/// many.
inline DVec3 random_way(Rng& rng, double size) {
  DVec3 d;
  d.x = rng.between(-size, size);
  d.y = rng.between(-size, size);
  d.z = rng.between(-size, size);
  switch (rng.below(6)) {
    case 0: d.z = 0; break;
    case 1: d.x = d.y = 0; break;
    case 2: d.x = d.z = 0; break;
    case 3: d.y = d.z = 0; break;
    default: break;
  }
  return d;
}

/// A player, a box, any cylinder, or a point.
inline RoundedBox random_shape(Rng& rng) {
  switch (rng.below(4)) {
    case 0: return rounded_box_of(Cylinder{0.3, 1.75});
    case 1: return box_shape(0.25, 0.4, 1.2);
    case 2: return rounded_box_of(Cylinder{rng.between(0.05, 1.4), rng.between(0.2, 2.8)});
    default: return point_shape();
  }
}

}  // namespace ashlar::test
