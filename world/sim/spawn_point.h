#pragma once
#include "world/math/turn.h"
#include "world/math/vec.h"

namespace ashlar {

/// A place where something appears.
struct SpawnPoint {
  DVec3 position_m;
  Turn16 yaw{0};
};

}  // namespace ashlar
