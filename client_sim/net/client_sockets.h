#pragma once
#include <expected>
#include <span>
#include <string>
#include <vector>

#include "client_sim/net/socket.h"

namespace ashlar::client_sim {

/// A client's ways to its server: the one it began with, and those it asks for by sending there
/// (ClientConfig::fallback, opens_links): a TCP connection for each PeerAddress::link, which is closed when
/// the client says so. Never blocks; polled. One thread.
class ClientSockets {
 public:
  /// At once; one more takes the place of the oldest.
  static constexpr std::size_t sockets_max = 8;

  /// @return or one line saying why the first one cannot be opened. That of a TCP address is opened when
  /// something is sent there.
  static std::expected<ClientSockets, std::string> open(const PeerAddress& server);
  /// To the first address of a server that a socket can be opened for: a device may have no way to some of
  /// them. Precondition: at least one.
  static std::expected<ClientSockets, std::string> open(std::span<const PeerAddress> addresses);

  /// Appends what has arrived; each connection that ended, or could not be opened, is appended to closed()
  /// once.
  void receive(DatagramBatch& in);
  /// Sends, opens what is sent to for the first time, and closes what is in closed() once its bytes are gone.
  void send(const DatagramBatch& out);
  /// As when a device goes from one network to another: what is sent over UDP comes from another port from
  /// now on. What the new one cannot be opened for is one line.
  std::expected<void, std::string> roam();

  SocketCounters counters() const;   ///< of all, closed ones included
  std::uint16_t local_port() const;  ///< of the newest; 0: not known
  std::size_t count() const { return ways_.size(); }

 private:
  struct Way {
    PeerAddress peer;
    ClientSocket socket;
    bool closing = false;
  };
  void open_way(const PeerAddress& peer);
  void remove(std::size_t index);

  std::vector<Way> ways_;              // oldest first
  std::vector<PeerAddress> unopened_;  // told by the next receive()
  SocketCounters gone_;
};

}  // namespace ashlar::client_sim
