#pragma once
#include <cstdint>

#include "world/sim/inventory.h"

namespace ashlar::server {

/// What one session was told of what its player holds.
struct InventoryDesk {
  bool told = false;  ///< anything yet, in this world
  std::uint8_t world = 0;
  Inventory inventory;
};

}  // namespace ashlar::server
