#pragma once
#include <cstdint>
#include <vector>

#include "protocol/message_writer.h"
#include "server/host/session_table.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Tells players of fights, on the events stream: their own health and armour when it changed, what they
/// carry when that changed otherwise than by time, the hits that they gave or took, and every player's death.
/// Each hit is told once; what a full stream does not take waits, and beyond FightDesk::hits_max the oldest
/// are left out. The Host's thread. Cost: linear in players and hits.
class FightRoom {
 public:
  /// It must outlive this.
  explicit FightRoom(SessionTable& sessions) : sessions_(&sessions) {}

  /// After the step.
  void publish(const World& world);

 private:
  void tell(Session& session, const World& world);
  void tell_arsenal(Session& session, const World& world, std::size_t row);

  SessionTable* sessions_;
  MessageWriter writer_;
  Fight message_;
  Carried carried_;
  std::vector<std::uint32_t> row_of_slot_;  // session row + 1 of each player's slot
};

}  // namespace ashlar::server
