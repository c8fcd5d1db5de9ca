#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "server/host/door_keeper.h"
#include "server/host/lobby.h"

namespace ashlar::server {

/// What clients say. Nothing here trusts a byte: packets are opened, messages decoded and range-checked by
/// protocol, and what makes no sense in a session's state is counted and dropped. The Host's thread.
class Inbox {
 public:
  /// All must outlive this.
  Inbox(const Lobby::Rooms& rooms, Lobby& lobby, DoorKeeper& door, const Defects& defects);

  /// Everything of a batch, then the TCP connections that ended.
  void receive(Micros now, const HostInput& in, HostOutput& out);
  /// After the end of a server: counts what comes and drops it, but for what reminds of a farewell.
  void ignore(Micros now, const DatagramBatch& in);

 private:
  /// One datagram of anybody: dropped and counted by reason, or handed to one of the below.
  void receive_one(Micros now, std::int64_t unix_s, const PeerAddress& from,
                   std::span<const std::uint8_t> bytes, HostOutput& out);
  void on_sealed(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes, HostOutput& out);
  void on_unknown(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                  DatagramBatch& out);
  void on_session(Micros now, Session& session, const PeerAddress& from, std::span<const std::uint8_t> bytes,
                  HostOutput& out);
  void on_ping(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes, DatagramBatch& out);
  void on_unreliable(Micros now, Session& session, std::span<const std::uint8_t> bytes);
  void take_streams(Micros now, Session& session, HostOutput& out);
  void take_calls(Micros now, Session& session);
  void on_input(Session& session, const Input& input);
  void drop(DropReason reason) { r_.status.drop(reason); }
  void count(std::span<const std::uint8_t> bytes);

  Lobby::Rooms r_;
  Lobby* lobby_;
  DoorKeeper* door_;
  secure::Secret reset_key_;
  PacketScratch scratch_;
  std::vector<std::uint8_t> message_;
  [[no_unique_address]] Defects defects_;
};

}  // namespace ashlar::server
