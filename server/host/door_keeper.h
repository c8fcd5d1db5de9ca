#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "protocol/secure/server_door.h"
#include "server/host/lobby.h"

namespace ashlar::server {

/// Lets strangers in: owns the handshake's server side, and pays for what they ask out of the gate's budgets
/// only. Who finishes goes to the lobby. The Host's thread.
class DoorKeeper {
 public:
  /// All must outlive this. @param entropy  for the door's secrets; used now
  DoorKeeper(const HostConfig& config, secure::Entropy& entropy, Gate& gate, Lobby& lobby,
             HostStatus& status);

  /// Before anything is received: turns secrets over.
  void advance(Micros now);
  /// A packet of nobody's session that is neither sealed nor a ping.
  void receive(Micros now, std::int64_t unix_s, const PeerAddress& from, std::span<const std::uint8_t> packet,
               HostOutput& out);

 private:
  class Purse;

  secure::ServerDoor door_;
  Gate* gate_;
  Lobby* lobby_;
  HostStatus* status_;
  std::array<std::uint8_t, datagram_bytes_max> answer_{};
};

}  // namespace ashlar::server
