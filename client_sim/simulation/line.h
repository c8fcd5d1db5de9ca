#pragma once
#include <array>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "client_sim/harness/link.h"
#include "protocol/datagram.h"
#include "world/math/random.h"

namespace ashlar::simulation {

using client_sim::Link;
using client_sim::LinkConditions;
using client_sim::Micros;

/// Somebody who reads along on a line, at the client's end of it. Each packet once, before anything happens
/// to it.
class LineTap {
 public:
  virtual ~LineTap() = default;
  virtual void up(const PeerAddress& from, std::span<const std::uint8_t> bytes) = 0;
  virtual void down(const PeerAddress& to, std::span<const std::uint8_t> bytes) = 0;
};

/// A client's network: its ways to the server over UDP and TCP, as client_sim/net/client_sockets.h has them
/// over real ones, the address that the server sees behind each, and what the line between does to them.
/// Seeded.
class Line {
 public:
  /// @param number  of the seat: below ports_per_round, its addresses tell it
  /// @param host    the last two bytes of its IPv4 address, 10.0.x.y
  Line(std::uint32_t number, std::array<std::uint8_t, 2> host, Rng& rng);

  // --- the client's side; it calls the server by addresses of its own
  /// Sends; the first packet to a TCP address opens a connection, what is in closed() is closed.
  void send(Micros now, const DatagramBatch& batch);
  /// Appends what has arrived.
  void receive(Micros now, DatagramBatch& out);
  /// The process is gone, and its connections with it. The next one comes from another port.
  void hang_up(bool keep_port);

  // --- the server's side; it sees one address for each way
  /// Appends what has come up by now.
  void deliver_up(Micros now, DatagramBatch& in);
  /// What is sent to an address that is none of ours is lost.
  void send_down(const PeerAddress& to, std::span<const std::uint8_t> bytes);
  /// The server closed that connection.
  void close_down(const PeerAddress& way);
  /// The server is gone with everything it had; over UDP nobody can tell.
  void close_all_down();
  /// What was sent down since the last call goes on its way. What nobody picks up is lost beyond
  /// receive_queue_max datagrams, but for a stream's.
  static constexpr std::size_t receive_queue_max = 256;
  void carry(Micros now);

  /// Is the address one of ours, at this moment?
  bool has(const PeerAddress& address) const;
  /// Was it ever?
  bool had(const PeerAddress& address) const { return had_.contains(address); }
  /// Has the client ever got a packet there? So it may have proven that it is there.
  bool heard(const PeerAddress& address) const { return heard_.contains(address); }
  /// Was anything of that address sent up that has not arrived?
  bool carries(const PeerAddress& address) const;
  /// The one that datagrams come from.
  const PeerAddress& datagram_address() const { return here_; }

  // --- what goes wrong
  /// Of what is sent from now on, whatever the transport; `ordered` is set by it.
  void set_conditions(LinkConditions conditions);
  void partition_up(Micros until);
  void partition_down(Micros until);
  /// From another port, or another host, too, from now on. Connections break: the client is told, nobody
  /// else.
  void roam(bool other_host);
  /// Nothing passes any more, and connections are dead without a word; or only datagrams are stopped. Each
  /// that begins ends: then the way is free, from another port.
  void die(bool datagrams_only);
  void revive(bool datagrams_only);

  /// Not owned; null: nobody.
  void set_tap(LineTap* tap) { tap_ = tap; }

  client_sim::LinkStats stats() const;  ///< of all links, both ways
  std::uint64_t delivered_down() const;
  /// Of its links, and of the addresses that it ever had.
  std::size_t memory_bytes() const;

 private:
  /// What the client calls the server, and what the server calls the client.
  struct Way {
    PeerAddress theirs, ours;
    bool dead = false;
    bool heard = false;  // something, at this address
  };
  struct Lane {
    Link up, down;
    DatagramBatch to_server, from_server;
  };
  static constexpr std::size_t send_queue_max = 512;  ///< datagrams that wait in a client's stream

  Way& way_to(const PeerAddress& server);
  Lane& lane(const PeerAddress& address) { return lanes_[address.transport == Transport::tcp ? 1 : 0]; }
  const Lane& lane(const PeerAddress& address) const {
    return lanes_[address.transport == Transport::tcp ? 1 : 0];
  }
  void take_port();
  void move_datagrams();

  std::uint32_t number_;
  PeerAddress here_;  // of datagrams; a connection's has a link's number, too
  std::array<Lane, 2> lanes_;
  std::vector<Way> ways_;
  std::vector<PeerAddress> unreachable_;  // connections whose end the client has not heard of
  std::uint32_t ports_ = 0, links_ = 0;
  int dead_ = 0, datagrams_dead_ = 0;  // faults going on
  DatagramBatch arrived_;
  std::set<PeerAddress> had_, heard_;
  LineTap* tap_ = nullptr;
};

/// The seat that an address belongs to: ports are dealt out so that it can be told from one.
inline constexpr std::uint32_t ports_per_round = 1024;
inline std::uint32_t seat_of(const PeerAddress& address) { return address.port % ports_per_round; }

}  // namespace ashlar::simulation
