#pragma once
#include "world/math/vec.h"

namespace ashlar {

/// Whole blocks [min, max).
struct BlockBox {
  IVec3 min, max;
  friend bool operator==(const BlockBox&, const BlockBox&) = default;
};

}  // namespace ashlar
