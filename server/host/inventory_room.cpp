#include "server/host/inventory_room.h"

#include "world/sim/world.h"

namespace ashlar::server {

void InventoryRoom::publish(const World& world) {
  for (const std::uint32_t number : sessions_->seated()) {
    Session& session = (*sessions_)[number];
    if (session.state != SessionState::playing) continue;
    InventoryDesk& desk = session.inventory;
    if (desk.world != session.world) desk = {.told = false, .world = session.world, .inventory = {}};
    const int row = world.player_row(session.player);
    if (row < 0) continue;
    const Inventory& held = world.players().inventory[static_cast<std::size_t>(row)];
    if (desk.told && desk.inventory == held) continue;
    message_.tick = ashlar::number(world.tick());
    message_.world = session.world;
    message_.whole = !desk.told;
    message_.slots.clear();
    for (std::size_t i = 0; i < inventory_slots; ++i)
      if (held.slots[i] != desk.inventory.slots[i])
        message_.slots.push_back({static_cast<std::uint8_t>(i), held.slots[i]});
    if (session.connection->send(StreamId::events, writer_.write(message_)) != SendResult::sent) continue;
    desk.told = true;
    desk.inventory = held;
  }
}

}  // namespace ashlar::server
