#include "server/host/inventory_room.h"

#include "world/math/prefetch.h"
#include "world/sim/world.h"

namespace ashlar::server {

void InventoryRoom::publish(const World& world) {
  // Nearly always both are the same, each somewhere else in memory.
  const auto ahead = [](const Session& later) { prefetch(&later.inventory, sizeof later.inventory); };
  sessions_->walk(ahead, [&](Session& session) {
    if (session.state != SessionState::playing) return;
    InventoryDesk& desk = session.inventory;
    if (desk.world != session.world) desk = {.told = false, .world = session.world, .inventory = {}};
    const int row = world.player_row(session.player);
    if (row < 0) return;
    const Inventory& held = world.players().inventory[static_cast<std::size_t>(row)];
    if (desk.told && desk.inventory == held) return;
    message_.tick = ashlar::number(world.tick());
    message_.world = session.world;
    message_.whole = !desk.told;
    message_.slots.clear();
    for (std::size_t slot = 0; slot < inventory_slots; ++slot)
      if (held.slots[slot] != desk.inventory.slots[slot])
        message_.slots.push_back({static_cast<std::uint8_t>(slot), held.slots[slot]});
    if (session.connection->send(StreamId::events, writer_.write(message_)) != SendResult::sent) return;
    desk.told = true;
    desk.inventory = held;
  });
}

}  // namespace ashlar::server
