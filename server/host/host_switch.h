#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "server/host/host.h"

namespace ashlar::server {

/// Several Hosts on one port, such as the rooms of a lobby: each with its own world, clients, gate and
/// recording, and none hears of another. Datagrams of connections are told apart by the connection id
/// (connection_ids.h), those of strangers by the session that their address has, and else by a policy; a TCP
/// connection belongs to the room whose session it has, and none before that. Fed and drained like a Host, by
/// one thread.
class HostSwitch {
 public:
  static constexpr std::size_t rooms_max = 256;

  /// Which room reads a stranger's hello, ping or broken packet: its number, below size().
  using Policy = std::function<std::size_t(const HostSwitch&, const PeerAddress&)>;
  /// The first room with a free place; the first of all where every one is full: it refuses.
  static std::size_t first_with_place(const HostSwitch& rooms, const PeerAddress& stranger);

  /// @param secret  random bytes from the adapter, for all rooms
  explicit HostSwitch(const SecretKey& secret, Policy policy = first_with_place);

  /// One more room, with the next number. Asserts rooms_max.
  /// @param config  its room is set here
  Host& add(HostConfig config, std::unique_ptr<World> world);

  std::size_t size() const { return rooms_.size(); }
  Host& host(std::size_t room) { return *rooms_[room].host; }
  const Host& host(std::size_t room) const { return *rooms_[room].host; }

  /// Hands out what arrived, advances every room, and appends what they send to `out`. Each room's ground
  /// goes in by ground(), and what it asks for and tells is in output() until the next call. Work that
  /// strangers may cause is bounded by room. Precondition: a room, at least; asserted.
  void advance(Micros now, const DatagramBatch& in, DatagramBatch& out);
  /// Ground for a room's next advance().
  std::vector<GroundColumn>& ground(std::size_t room) { return rooms_[room].in.ground; }
  /// Requests and events of a room's last advance(); its datagrams are not here.
  const HostOutput& output(std::size_t room) const { return rooms_[room].out; }
  /// The earliest of all rooms.
  Micros next_tick_at() const;
  /// Tells every client of every room goodbye.
  void shut_down(const std::string& reason, DatagramBatch& out);

 private:
  struct Room {
    std::unique_ptr<Host> host;
    HostInput in;
    HostOutput out;
  };
  std::size_t room_for(const PeerAddress& from, std::span<const std::uint8_t> bytes) const;

  SecretKey secret_;
  Policy policy_;
  std::vector<Room> rooms_;
};

}  // namespace ashlar::server
