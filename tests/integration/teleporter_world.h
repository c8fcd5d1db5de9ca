#pragma once
#include "tests/world/sim/moving_rooms.h"
#include "world/bsp/placement.h"
#include "world/sim/world.h"

namespace ashlar::testing {

/// A room with a teleporter in its east, whose landing in the next one faces north.
inline WorldSetup teleporter_world() {
  const SectorMap source = row_of_rooms({{0, 128}, {0, 128}, {32, 160, 5}}, {{97, 5}, {}},
                                        {thing_at(320, 128, 14, 90), thing_at(40, 128, 1)});
  PlaceOptions options;
  options.surface_z = 32;
  options.doors_open = options.doorway = false;
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 0;
  setup.maps.push_back(*place_map(source, options));
  return setup;
}

}  // namespace ashlar::testing
