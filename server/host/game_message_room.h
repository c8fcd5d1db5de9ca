#pragma once
#include <string_view>

#include "protocol/message_writer.h"
#include "server/host/session_table.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Brings a game's messages to those they are for, on the events stream, and its lines, on the chat stream:
/// in order, and each once. A client whose stream is full (it has not acknowledged for long) misses what does
/// not fit, which is counted. The Host's thread. Cost: nothing in a tick without messages.
class GameMessageRoom {
 public:
  /// Must outlive this.
  explicit GameMessageRoom(SessionTable& sessions) : sessions_(&sessions) {}

  /// After the step, and after those who joined in it are in the world.
  void publish(const World& world);

  /// Messages that a full stream did not take, since the start.
  std::uint64_t missed() const { return missed_; }

 private:
  void tell_line(Session& session, std::string_view text);

  SessionTable* sessions_;
  MessageWriter writer_;
  GameMessage message_;
  std::uint64_t missed_ = 0;
};

}  // namespace ashlar::server
