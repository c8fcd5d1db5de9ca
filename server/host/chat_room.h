#pragma once
#include <cstdint>
#include <string>

#include "server/host/control_sender.h"
#include "server/host/defects.h"
#include "server/host/notices.h"
#include "server/host/session_table.h"

namespace ashlar::server {

/// What is said: lines of players and of the server to everybody who plays, and notices of who came and went
/// beside them. Each client's lines are repeated until it has confirmed them. The Host's thread.
class ChatRoom {
 public:
  /// All must outlive this. @param status  where lines that were given up are counted
  ChatRoom(SessionTable& sessions, ControlSender& sender, HostStatus& status, const Defects& defects);

  /// Takes a client's line: the next in number, unless it has used up what it may say, to everybody.
  /// @return false: it has used that up; it will repeat the line
  bool take(Session& session, const Chat& chat, HostOutput& out);
  /// A line for everybody who plays, cut to chat_bytes_max. @param from  empty: the server
  void say(const std::string& from, const std::string& text);

  /// For a line of notices in one of the next seconds. @param why  shown where one alone left
  void note_joined(const std::string& name) { notices_.joined(name); }
  void note_left(const std::string& name, const std::string& why) { notices_.left(name, why); }

  /// Once a tick: notices that are due, and each client's unconfirmed lines, at most every 250 ms.
  void send(Micros now, DatagramBatch& out);

 private:
  void push(Session& session, const std::string& from, const std::string& line);
  void tell_notices(Micros now);
  void send_to(Session& session, Micros now, DatagramBatch& out);

  SessionTable* sessions_;
  ControlSender* sender_;
  HostStatus* status_;
  Notices notices_;
  std::uint32_t lines_told_ = 0;  // for Defects::lost_line
  [[no_unique_address]] Defects defects_;
};

}  // namespace ashlar::server
