#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "protocol/datagram.h"
#include "server/net/address.h"
#include "server/net/counters.h"
#include "server/net/tcp.h"

namespace ashlar::server {

/// Where a server listens, and how much it must be able to take in.
struct TransportConfig {
  ListenAddress listen;
  std::uint16_t port = 7777;        ///< UDP and TCP alike; 0 takes any that is free for both
  std::uint32_t clients_max = 256;  ///< sizes the receive buffer
  std::uint16_t tick_rate_hz = 60;
  TcpLimits tcp;
  bool send_thread = false;  ///< datagrams are sent beside the loop, the same bytes in the same order
};

/// The server's sockets: datagrams in and out over UDP and TCP on one port number, as batches.
/// Polled by the loop every 1 to 2 ms; nothing in here blocks, logs or knows what a packet means. One thread,
/// and beside it the one that sends, where there is one (send_thread.h).
class Transports {
 public:
  /// Binds both, or neither. @return or one line that names the port and the remedy
  static std::expected<Transports, std::string> open(const TransportConfig& config);
  ~Transports();
  Transports(Transports&&) noexcept;
  Transports& operator=(Transports&&) noexcept;

  /// Appends what has arrived and which TCP connections ended. @param now  monotonic, from the loop's clock
  void poll(std::chrono::microseconds now, DatagramBatch& in);

  /// Sends a batch, and may take its memory: what is in it then means nothing. What UDP's kernel buffer, the
  /// queue of the send thread or a TCP queue has no room for is dropped and counted.
  void send(std::chrono::microseconds now, DatagramBatch& out);

  /// The same of what a tick has made so far, which is empty then. It is left as it is, for the next call,
  /// where the send thread is far behind: what it has no room for would be lost.
  void send_early(std::chrono::microseconds now, DatagramBatch& out);

  /// True when nothing waits to be sent: at shutdown, poll until it is, within a limit.
  bool flushed() const;
  /// Where there is a send thread: SendThread::take_longest_ns(); else 0.
  std::uint64_t take_longest_send_ns();

  std::uint16_t port() const;           ///< the one bound, also where 0 was asked for
  std::size_t tcp_connections() const;  ///< open now, strangers' and closing ones among them
  std::size_t tcp_strangers() const;    ///< of them, those that are no players'
  /// See TcpPort::closes().
  std::span<const TcpClosed> tcp_closes() const;
  const TransportCounters& counters() const;  ///< valid until the next call

  /// What the kernel granted for received datagrams, and what a tick's inputs of clients_max would need.
  std::size_t receive_buffer_bytes() const;
  std::size_t receive_buffer_bytes_wanted() const;

 private:
  struct Impl;
  explicit Transports(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Kernel bytes (payload and its overhead) that hold what clients_max send within the longest pause the
/// server may make between two polls, 50 ms or three ticks. From 1 to 256 MiB.
std::size_t receive_buffer_bytes_for(std::uint32_t clients_max, std::uint16_t tick_rate_hz);

}  // namespace ashlar::server
