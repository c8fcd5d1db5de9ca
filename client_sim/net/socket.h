#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "client_sim/net/system_socket.h"
#include "protocol/datagram.h"
#include "protocol/stream_frame.h"

namespace ashlar::client_sim {

/// "HOST:PORT", "HOST" (then port 7777), "[::1]:PORT"; names are looked up, which may take seconds.
/// @return its addresses, at least one, the system's choice first; or one line that names the text and the
/// remedy
std::expected<std::vector<PeerAddress>, std::string> resolve_addresses(std::string_view text,
                                                                       Transport transport);
/// The first of them.
std::expected<PeerAddress, std::string> resolve_server(std::string_view text, Transport transport);

/// Raises the limit on open files to hold `sockets` of them. @return or one line with the remedy
std::expected<void, std::string> allow_sockets(std::size_t sockets);

/// Counters only grow.
struct SocketCounters {
  std::uint64_t send_full = 0;    ///< packets dropped as the kernel's or the queue's room was used up
  std::uint64_t send_errors = 0;  ///< others that the system refused, like those nobody listens to
  std::uint64_t dropped_long = 0;
  std::uint64_t broken_streams = 0;
};

/// One client's way to the server: a connected UDP socket or a TCP connection. Never blocks; polled. One
/// thread. Over TCP what the kernel does not take waits in a queue of queue_bytes_max; packets beyond it are
/// dropped and counted (inputs are repeated anyway).
class ClientSocket {
 public:
  static constexpr std::size_t queue_bytes_max = 64 * 1024;

  /// @return or one line saying why not. A TCP connection is only begun: bytes wait until it stands.
  static std::expected<ClientSocket, std::string> open(const PeerAddress& server);

  /// What was moved from is closed: receive() and send() do nothing.
  ClientSocket(ClientSocket&& other) noexcept;
  ClientSocket& operator=(ClientSocket&& other) noexcept;
  ~ClientSocket();

  /// Appends what has arrived; a connection that ended is appended to closed() once.
  void receive(DatagramBatch& in);
  /// Sends what is for the server, and over TCP what waited.
  void send(const DatagramBatch& out);
  void close();  ///< at once: what waits in the queue is lost; again does nothing
  bool idle() const { return queue_sent_ == queue_.size(); }  ///< nothing waits in the queue
  /// Of this end; 0: not known.
  std::uint16_t local_port() const;

  const SocketCounters& counters() const { return counters_; }  ///< since it was opened

 private:
  ClientSocket(SystemSocket socket, const PeerAddress& server) : socket_(socket), server_(server) {}
  void receive_datagrams(DatagramBatch& in);
  void receive_stream(DatagramBatch& in);
  void flush();
  void fail() { failed_ = true; }

  SystemSocket socket_ = no_socket;
  PeerAddress server_;
  bool failed_ = false;
  bool told_closed_ = false;
  StreamDeframer deframer_;
  std::vector<std::uint8_t> queue_;
  std::size_t queue_sent_ = 0;
  SocketCounters counters_;
};

}  // namespace ashlar::client_sim
