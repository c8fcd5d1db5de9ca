#pragma once
#include <cstdint>
#include <string>

#include "server/host/chat_room.h"
#include "server/host/connection_ids.h"
#include "server/host/control_sender.h"
#include "server/host/gate.h"
#include "server/host/lingering.h"
#include "server/host/session_table.h"
#include "server/host/tick_input.h"

namespace ashlar::server {

/// How sessions come and go: welcomed, joined into the world, sent away, timed out. What it decides about the
/// world enters the next tick. The Host's thread.
class Lobby {
 public:
  /// The rooms that it works with; all must outlive it.
  struct Rooms {
    const World& world;
    const HostConfig& config;
    SessionTable& sessions;
    Gate& gate;
    ControlSender& sender;
    ChatRoom& chat;
    LingeringBodies& lingering;
    TickInputCollector& input;
    HostStatus& status;
  };
  Lobby(const Rooms& rooms, const SecretKey& secret, const Defects& defects);

  // --- how they come ---
  /// Refuses, says a lost welcome again, or begins a session. One of the same address and port gives way only
  /// when it has been silent; else the hello is dropped.
  void hello(Micros now, const PeerAddress& from, const PacketHeader& header, const Hello& hello,
             HostOutput& out);
  /// A greeted session that holds all content joins in the next tick; one that does not is refused and
  /// removed.
  void join(Micros now, Session& session, const Join& join, HostOutput& out);
  /// After a step: gives those that it let in their entity; whom it did not is refused.
  void settle_joins(Micros now, HostOutput& out);
  /// Within the budget for refusals; over TCP the connection ends either way.
  void refuse(Micros now, const PeerAddress& to, std::uint64_t nonce, const Admission::Refusal& refusal,
              const std::string& player, HostOutput& out);

  // --- how they go ---
  /// It said so itself.
  void leave(Micros now, Session& session, const Leave& leave, HostOutput& out);
  /// Its TCP connection ended. Nothing happens where the peer has no session.
  void connection_closed(Micros now, const PeerAddress& peer, HostOutput& out);
  /// Once a tick: refills what sessions may send, ends those that are kicked or silent.
  void keep_house(Micros now, HostOutput& out);
  /// Everybody is told why, and nobody is left.
  void shut_down(Micros now, const std::string& reason, DatagramBatch& out);

 private:
  void welcome(Micros now, Session& session, DatagramBatch& out);
  void begin(Micros now, const PeerAddress& from, const PacketHeader& header, const Hello& hello,
             DatagramBatch& out);
  /// Ends it when its time is over. @return is it still playing?
  bool keep(Micros now, Session& session, HostOutput& out);
  void dismiss(Micros now, Session& session, HostOutput& out);
  void leave_world(Session& session, const std::string& why, SessionState then, HostOutput& out);
  void remove(Micros now, Session& session, const std::string& why, HostOutput& out);
  std::uint32_t new_connection();

  Rooms r_;
  ConnectionIds ids_;
  [[no_unique_address]] Defects defects_;
};

}  // namespace ashlar::server
