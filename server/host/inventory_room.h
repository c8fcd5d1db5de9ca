#pragma once
#include "protocol/message_writer.h"
#include "server/host/session_table.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Tells players what they hold, on the events stream: all of it when they come into the world, afterwards
/// the slots that changed. What a full stream does not take is told in a later tick, as it is then. The
/// Host's thread. Cost: a comparison of 144 bytes a player.
class InventoryRoom {
 public:
  /// It must outlive this.
  explicit InventoryRoom(SessionTable& sessions) : sessions_(&sessions) {}

  /// After the step.
  void publish(const World& world);

 private:
  SessionTable* sessions_;
  MessageWriter writer_;
  InventoryChange message_;
};

}  // namespace ashlar::server
