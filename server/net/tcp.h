#pragma once
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "protocol/datagram.h"
#include "protocol/secure/open_packets.h"
#include "protocol/stream_frame.h"
#include "server/net/counters.h"
#include "server/net/strangers.h"

namespace ashlar::server {

/// Bounds of the TCP side; each names what happens at it.
struct TcpLimits {
  /// Connections that are no players', as DatagramBatch::admitted() tells: the oldest of the address that
  /// holds most of them gives way. Of players there are as many as the host admits.
  std::uint32_t strangers_max = 64;
  std::size_t queue_bytes_max = 256 * 1024;  ///< per connection; further packets are dropped
  /// Waiting bytes that were never all sent for this long: the connection is closed. A reader that is merely
  /// slow loses new packets, keeps the old ones, and is let go when it does not catch up.
  std::chrono::microseconds backlog_max = std::chrono::seconds(10);
  /// Not answered by the host within this time: closed. Strangers get no standing connection.
  std::chrono::microseconds unanswered_max = std::chrono::seconds(5);
  std::chrono::microseconds idle_max = std::chrono::seconds(60);  ///< nothing received; behind the host's own
  std::chrono::microseconds drain_max = std::chrono::seconds(2);  ///< for the last bytes of one to be closed
};

/// Why a connection was closed from this side without the host's wish.
enum class TcpClose : std::uint8_t {
  bad_frame,   ///< a length of 0 or above datagram_bytes_max
  tiny_frame,  ///< a length below a packet's header
  unanswered,  ///< said nothing that the host answered within the time
  idle,        ///< nothing received for too long
  slow,        ///< did not read what was sent for too long
  displaced,   ///< a stranger that gave way to a newer one
  failed,      ///< the system could not send
};
/// As the enumerator is spelled.
std::string_view name(TcpClose why);

/// A connection that this side closed, for the log.
struct TcpClosed {
  PeerAddress peer;
  TcpClose why{};
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

  /// Accepts, reads from each connection what its share of a poll allows, sends what waited, enforces the
  /// time limits, and tells of connections that ended by themselves (after their last packets).
  void poll(std::chrono::microseconds now, DatagramBatch& in);

  /// Queues the entries that are for TCP and sends them, one system call per connection. Then marks
  /// out.closed() for closing: the last bytes are sent, within limits.drain_max. Those in out.admitted() are
  /// strangers no more.
  void send(std::chrono::microseconds now, const DatagramBatch& out);

  /// True when no connection has bytes waiting.
  bool flushed() const;
  std::size_t connection_count() const { return links_.size(); }
  std::size_t stranger_count() const { return strangers_.size(); }
  /// Those closed from this side since the last poll began, at most closes_kept_max of them.
  std::span<const TcpClosed> closes() const { return closes_; }
  static constexpr std::size_t closes_kept_max = 64;

  /// A connection's share of a poll. What is left unread stays in the kernel, and its peer slows down. An
  /// honest client needs some 30 bytes; after a pause of half a second it is through within 20 ms.
  static constexpr std::size_t player_bytes_per_poll_max = 4096;
  static constexpr std::size_t stranger_bytes_per_poll_max = 2048;  ///< a hello and more
  /// Of all strangers: players never wait behind them. Whose turn it is first goes round.
  static constexpr std::size_t strangers_bytes_per_poll_max = 32 * 1024;
  static constexpr std::size_t packet_bytes_min = secure::open_prefix_bytes;  ///< of all that a client says
  static constexpr std::size_t frame_bytes_min = packet_bytes_min + frame_prefix_bytes;

 private:
  struct Link;

  void accept(std::chrono::microseconds now, DatagramBatch& in);
  bool refuse_one();
  void take_in(int descriptor, const PeerAddress& from, std::chrono::microseconds now, DatagramBatch& in);
  bool read(Link& link, std::chrono::microseconds now, DatagramBatch& in);
  void close(Link& link, TcpClose why, DatagramBatch& in);
  void note_close(const PeerAddress& peer, TcpClose why);
  bool flush(Link& link);
  void start_closing(Link& link, std::chrono::microseconds now);
  void watch(Link& link);
  Link* open_link(const PeerAddress& peer);
  void remove(std::uint32_t number);
  void sweep(std::chrono::microseconds now, DatagramBatch& in);

  int listener_;
  int epoll_ = -1;
  int spare_ = -1;  // a descriptor to give up when there are none left, so that who knocks can be turned away
  TcpLimits limits_;
  TransportCounters& counters_;
  std::uint32_t next_number_ = 1;
  std::chrono::microseconds next_sweep_{0};
  std::unordered_map<std::uint32_t, std::unique_ptr<Link>> links_;
  StrangerPool strangers_;
  std::size_t strangers_budget_ = 0;  // of this poll, bytes
  std::size_t first_turn_ = 0;        // whose turn of the ready ones it is first
  std::vector<TcpClosed> closes_;
  std::vector<PeerAddress> ended_;       // found while sending; told at the next poll
  std::vector<std::uint32_t> to_flush_;  // scratch of send()
  std::vector<TcpClosed> to_close_;      // scratch of sweep()
  std::vector<std::uint8_t> read_buffer_;
};

}  // namespace ashlar::server
