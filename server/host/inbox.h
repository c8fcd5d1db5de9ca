#pragma once
#include <cstdint>
#include <span>

#include "server/host/lobby.h"

namespace ashlar::server {

/// What clients say. Nothing here trusts a byte: packets and messages are decoded and range-checked by
/// protocol, and what makes no sense in a session's state is counted and dropped. The Host's thread.
class Inbox {
 public:
  /// All must outlive this.
  Inbox(const Lobby::Rooms& rooms, Lobby& lobby, const Defects& defects);

  /// Everything of a batch, then the connections that ended.
  void receive(Micros now, const DatagramBatch& in, HostOutput& out);
  /// After the end of a server: counts what comes and drops it.
  void ignore(const DatagramBatch& in);

 private:
  /// One datagram of anybody: dropped and counted by reason, or handed to one of the below.
  void receive_one(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes, HostOutput& out);
  void on_malformed(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                    DropReason reason, HostOutput& out);
  void on_session(Micros now, Session& session, const Packet& packet, std::size_t bytes, HostOutput& out);
  bool note_packet(Micros now, Session& session, const PacketHeader& header);
  void on_stranger(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                   const Packet& packet, HostOutput& out);
  void on_unknown(Micros now, const PeerAddress& from, const Packet& packet, DatagramBatch& out);
  void on_dismissed(Micros now, Session& session, std::size_t bytes, DatagramBatch& out);
  void on_ping(Micros now, const PeerAddress& from, const Ping& ping, DatagramBatch& out);
  void on_input(Session& session, const Input& input);
  void drop(DropReason reason) { r_.status.drop(reason); }

  Lobby::Rooms r_;
  Lobby* lobby_;
  [[no_unique_address]] Defects defects_;
};

}  // namespace ashlar::server
