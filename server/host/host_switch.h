#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "server/host/host.h"
#include "server/host/secret_key.h"

namespace ashlar::server {

/// Several Hosts on one port, such as the rooms of a lobby: each with its own world, clients, gate and
/// recording, and none hears of another. Packets of sessions are told apart by the connection's number
/// (connection_ids.h). What strangers say goes by a policy, and a table of fixed size remembers for each
/// address which room that was, so that a handshake ends where it began. A TCP connection belongs to the room
/// whose session it has, and none before that. Fed and drained like a Host, by one thread.
class HostSwitch {
 public:
  static constexpr std::size_t rooms_max = 256;

  /// Which room reads a stranger's hello, ping or broken packet: its number, below size().
  using Policy = std::function<std::size_t(const HostSwitch&, const PeerAddress&)>;
  /// The first room with a free place, else the first where somebody is away who gives way; the first of all
  /// where every one is full: it refuses.
  static std::size_t first_with_place(const HostSwitch& rooms, const PeerAddress& stranger);

  /// @param seed  random bytes from the adapter, for all rooms
  explicit HostSwitch(const secure::Secret& seed, Policy policy = first_with_place);

  /// One more room, with the next number. Asserts rooms_max.
  /// @param config  its room is set here. Clients know all rooms by one identity: give each the same, or none
  Host& add(HostConfig config, std::unique_ptr<World> world);

  /// How many rooms there are.
  std::size_t size() const { return rooms_.size(); }
  /// One room. Precondition: room < size().
  Host& host(std::size_t room) { return *rooms_[room].host; }
  const Host& host(std::size_t room) const { return *rooms_[room].host; }

  /// Hands out what arrived, advances every room, and appends what they send to `out`. Each room's ground
  /// goes in by ground(), and what it asks for and tells is in output() until the next call. Work that
  /// strangers may cause is bounded by room. Precondition: a room, at least; asserted.
  /// @param unix_s  as HostInput's
  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out, std::int64_t unix_s = 0);
  /// Ground for a room's next advance().
  std::vector<GroundColumn>& ground(std::size_t room) { return rooms_[room].in.ground; }
  std::vector<PackedGround>& packed(std::size_t room) { return rooms_[room].in.packed; }
  /// Requests and events of a room's last advance(); its datagrams are not here.
  const HostOutput& output(std::size_t room) const { return rooms_[room].out; }
  /// The earliest of all rooms.
  Micros next_tick_at() const;
  /// Closes every session of every room; as Host::shut_down().
  void shut_down(const std::string& reason, DatagramBatch& out);
  bool silent() const;  ///< all rooms are

 private:
  struct Room {
    std::unique_ptr<Host> host;
    HostInput in;
    HostOutput out;
  };
  /// Where a stranger's handshake goes. A newer one may take its place: it begins again then.
  struct Stranger {
    std::uint64_t tag = 0;  // of its address; 0: nobody's
    std::size_t room = 0;
    Micros at{0};
  };
  static constexpr std::size_t strangers_max = 4096;
  /// A handshake lives no longer.
  static constexpr Micros handshake_max{10'000'000};
  std::size_t room_for(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes);
  std::size_t room_of_stranger(Micros now, const PeerAddress& from, bool begins);

  secure::Secret seed_;
  SecretKey ids_, places_;
  Policy policy_;
  std::vector<Stranger> strangers_;
  std::vector<Room> rooms_;
};

}  // namespace ashlar::server
