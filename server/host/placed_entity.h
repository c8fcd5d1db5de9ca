#pragma once
#include "protocol/quantise.h"
#include "world/math/shapes.h"
#include "world/math/vec.h"

namespace ashlar::server {

/// An entity of the present tick as the replicator quantised it, and what was not quantised.
struct PlacedEntity {
  CellCoord cell;
  EntityRecord record;
  DVec3 base;
  DVec3 velocity_mps;
  Cylinder shape;
};

}  // namespace ashlar::server
