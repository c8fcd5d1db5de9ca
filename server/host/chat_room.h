#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/message_writer.h"
#include "server/host/defects.h"
#include "server/host/notices.h"
#include "server/host/session_table.h"
#include "server/host/tick_input.h"

namespace ashlar::server {

/// What is said: lines of players and of the server to everybody who plays, and notices of who came and went
/// beside them. The sessions' connections see to it that each arrives. The Host's thread.
class ChatRoom {
 public:
  /// All must outlive this. @param status  where lines that were given up are counted
  ChatRoom(SessionTable& sessions, HostStatus& status, const Defects& defects);

  /// Once a tick: takes what those who play say, as many lines as each has tokens for. The rest waits, in the
  /// end with its client: nothing is lost. What begins with a slash is the game's (Game::chat_command) and
  /// goes into the next tick; with two of an admin an event for whoever runs the host. Then tells notices
  /// that are due.
  void advance(Micros now, TickInputCollector& input, HostOutput& out);
  /// A line for everybody who plays, cut to chat_bytes_max. @param from  empty: the server
  void say(const std::string& from, const std::string& text);

  /// A line of the server's for one who plays, likewise; counted where its stream has no room.
  void tell(Session& session, std::string_view text);

  /// For a line of notices in one of the next seconds. @param why  shown where one alone left
  void note_joined(const std::string& name) { notices_.joined(name); }
  void note_left(const std::string& name, const std::string& why) { notices_.left(name, why); }

 private:
  /// The next line that it said, into message_; of an earlier session first. False: there is none.
  bool take(Session& session);
  void listen(Micros now, Session& session, TickInputCollector& input, HostOutput& out);
  void send(Session& session, std::span<const std::uint8_t> line);
  void tell_notices(Micros now);

  SessionTable* sessions_;
  HostStatus* status_;
  Notices notices_;
  MessageWriter writer_;
  std::vector<std::uint8_t> message_;
  std::uint32_t lines_told_ = 0;  // for Defects::lost_line
  [[no_unique_address]] Defects defects_;
};

}  // namespace ashlar::server
