#pragma once
#include <memory>

#include "tests/integration/predicted_client.h"
#include "tests/world/bsp/maps.h"

// A row of rooms (tests/world/sim/moving_rooms.h) as the only map of a server.

namespace ashlar::testing {

/// Doors shut, and no way in but by being put there.
inline std::shared_ptr<const PlacedMap> placed_rooms(const SectorMap& source) {
  PlaceOptions options;
  options.surface_z = 32;
  options.doors_open = options.doorway = false;
  return must_place(source, options);
}

/// With nobody in it but players.
inline WorldSetup setup_of_rooms(const std::shared_ptr<const PlacedMap>& map) {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters_max = setup.monsters = 0;
  setup.maps.push_back(map);
  return with_shared_ground(setup);
}

}  // namespace ashlar::testing
