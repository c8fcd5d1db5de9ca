#pragma once
#include <cstdint>
#include <vector>

#include "protocol/message_writer.h"
#include "server/host/session_table.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

class Publisher;

/// Tells players of fights, on the events stream: their own health and armour when it changed, what they
/// carry when that changed otherwise than by time, the hits that they gave or took, every player's death, and
/// the deaths of monsters of whom they know (at most deaths_max a tick, and none where half of the hits that
/// may wait do). Each hit is told once; what a full stream does not take waits, and beyond
/// FightDesk::hits_max the oldest are left out. The Host's thread. Cost: linear in players and hits, and a
/// look-up a player and death.
class FightRoom {
 public:
  /// It must outlive this.
  explicit FightRoom(SessionTable& sessions) : sessions_(&sessions) {}

  static constexpr std::size_t deaths_max = 64;

  /// After the step, and before anybody is told of it otherwise.
  /// @param publisher  which knows of whom clients know
  void publish(const World& world, const Publisher& publisher);

 private:
  void keep_death(const CombatEvent& death, const Publisher& publisher);
  void tell(Session& session, const World& world);
  void tell_arsenal(Session& session, const World& world, std::size_t row);

  SessionTable* sessions_;
  MessageWriter writer_;
  Fight message_;
  Carried carried_;
  std::vector<std::uint32_t> row_of_slot_;  // session row + 1 of each player's slot
};

}  // namespace ashlar::server
