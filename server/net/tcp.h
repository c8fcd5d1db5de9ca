#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "protocol/datagram.h"
#include "server/net/counters.h"

namespace ashlar::server {

/// Bounds of the TCP side; each names what happens at it.
struct TcpLimits {
  std::uint32_t connections_max = 320;              ///< further ones are closed at once
  std::uint32_t connections_per_address_max = 320;  ///< likewise; IPv6 counts by /64
  std::size_t queue_bytes_max = 256 * 1024;         ///< per connection; further packets are dropped
  /// Waiting bytes that were never all sent for this long: the connection is closed. A reader that is merely
  /// slow loses new packets, keeps the old ones, and is let go when it does not catch up.
  std::chrono::microseconds backlog_max = std::chrono::seconds(10);
  /// Not answered by the host within this time: closed. Strangers get no standing connection.
  std::chrono::microseconds unanswered_max = std::chrono::seconds(5);
  std::chrono::microseconds idle_max = std::chrono::seconds(60);  ///< nothing received; behind the host's own
  std::chrono::microseconds drain_max = std::chrono::seconds(2);  ///< for the last bytes of one to be closed
};

/// TCP connections of a listening, non-blocking socket that someone else owns: length-prefixed packets in
/// both directions (protocol/stream_frame.h). Polled, never blocking; one epoll set, so a quiet connection
/// costs nothing. One thread.
class TcpPort {
 public:
  TcpPort(int listener, const TcpLimits& limits, TransportCounters& counters);
  ~TcpPort();
  TcpPort(const TcpPort&) = delete;
  TcpPort& operator=(const TcpPort&) = delete;

  /// False: the system refused the epoll set; nothing else may be called.
  bool good() const { return epoll_ >= 0; }

  /// Accepts, reads at most packets_per_poll_max packets, sends what waited, enforces the time limits, and
  /// tells of connections that ended by themselves (after their last packets).
  void poll(std::chrono::microseconds now, DatagramBatch& in);

  /// Queues the entries that are for TCP and sends them, one system call per connection. Then marks
  /// out.closed() for closing: the last bytes are sent, within limits.drain_max.
  void send(std::chrono::microseconds now, const DatagramBatch& out);

  /// True when no connection has bytes waiting.
  bool flushed() const;
  std::size_t connection_count() const { return links_.size(); }

  static constexpr std::uint32_t packets_per_poll_max = 8192;
  static constexpr std::size_t read_bytes_per_poll_max =
      64 * 1024;  ///< per connection, so one cannot starve others

 private:
  struct Link;
  enum class Read : std::uint8_t { open, ended, broken };

  void accept(std::chrono::microseconds now);
  Read read(Link& link, std::chrono::microseconds now, DatagramBatch& in);
  bool flush(Link& link, std::chrono::microseconds now);
  void start_closing(Link& link, std::chrono::microseconds now);
  void watch(Link& link);
  void remove(std::uint32_t number);
  void sweep(std::chrono::microseconds now, DatagramBatch& in);

  int listener_;
  int epoll_ = -1;
  TcpLimits limits_;
  TransportCounters& counters_;
  std::uint32_t next_number_ = 1;
  std::chrono::microseconds next_sweep_{0};
  std::unordered_map<std::uint32_t, std::unique_ptr<Link>> links_;
  std::vector<PeerAddress> ended_;        // found while sending; told at the next poll
  std::vector<std::uint32_t> to_flush_;   // scratch of send()
  std::vector<std::uint32_t> to_remove_;  // scratch of sweep()
  std::vector<std::uint8_t> read_buffer_;
};

}  // namespace ashlar::server
