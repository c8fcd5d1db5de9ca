#pragma once
#include "tests/integration/rooms.h"
#include "tests/world/sim/moving_rooms.h"

namespace ashlar::testing {

/// A room with a teleporter in its east, whose landing in the next one faces north.
inline WorldSetup teleporter_world() {
  const SectorMap source = row_of_rooms({{0, 128}, {0, 128}, {32, 160, 5}}, {{97, 5}, {}},
                                        {thing_at(320, 128, 14, 90), thing_at(40, 128, 1)});
  return setup_of_rooms(placed_rooms(source));
}

}  // namespace ashlar::testing
