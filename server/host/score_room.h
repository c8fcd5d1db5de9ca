#pragma once
#include <cstdint>

#include "protocol/message_writer.h"
#include "server/host/session_table.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

struct HostStatus;

/// Tells everybody of the match and its score, on the events stream: when something but the time changed,
/// once a second at most, in a large match not all in the same tick; a new phase at once, and whoever is new.
/// What a full stream does not take comes with the next. The Host's thread. Cost: a comparison a player and
/// tick; a copy of some dozen bytes a player when there is news, of 2 KiB for who is new.
class ScoreRoom {
 public:
  /// Both must outlive this.
  ScoreRoom(SessionTable& sessions, HostStatus& status) : sessions_(&sessions), status_(&status) {}

  /// Another world: what was told of the last one counts no more.
  void begin_world() { fresh_ = true; }

  /// After the step.
  void publish(const World& world);

 private:
  void gather(const World& world);

  SessionTable* sessions_;
  HostStatus* status_;
  MessageWriter writer_;
  MessageWriter changes_writer_;
  Score now_, told_;
  Score changes_;              // from the version before to told_; else not of the kind: to be told whole
  bool fresh_ = true;          // nothing was told of this world
  std::uint32_t version_ = 0;  // of told_
  std::uint32_t urgent_ = 0;   // version that nobody waits for
  std::uint32_t wait_ticks_ = 0;
};

}  // namespace ashlar::server
