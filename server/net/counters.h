#pragma once
#include <cstdint>

namespace ashlar::server {

/// What the transports did since they were opened. Counters only grow; read on the thread that polls.
struct TransportCounters {
  std::uint64_t datagrams_in = 0, datagrams_out = 0;  ///< both transports
  std::uint64_t bytes_in = 0, bytes_out = 0;          ///< payload, without headers and length prefixes

  /// Arrived while the receive buffer was full: raise the sysctl. What the kernel has merged counts as one.
  std::uint64_t udp_dropped_kernel = 0;
  std::uint64_t udp_dropped_long = 0;  ///< longer than datagram_bytes_max
  std::uint64_t udp_receive_errors = 0;
  std::uint64_t udp_send_full = 0;    ///< send buffer or send thread had no room: the datagram was dropped
  std::uint64_t udp_send_errors = 0;  ///< unreachable, forbidden by a firewall, wrong family
  std::uint64_t udp_bursts_refused =
      0;  ///< sent one by one, as the kernel or device would not take them as one

  std::uint64_t tcp_accepted = 0;
  std::uint64_t tcp_accept_errors = 0;      ///< mostly: out of file descriptors
  std::uint64_t tcp_closed_displaced = 0;   ///< strangers that gave way to newer ones
  std::uint64_t tcp_closed_bad_frame = 0;   ///< length prefix of 0 or above datagram_bytes_max
  std::uint64_t tcp_closed_tiny_frame = 0;  ///< a frame below a packet's header
  std::uint64_t tcp_closed_unanswered = 0;  ///< said nothing that the host answered within the time
  std::uint64_t tcp_closed_idle = 0;
  std::uint64_t tcp_closed_slow = 0;  ///< did not read what was sent for too long
  std::uint64_t tcp_send_full = 0;    ///< packets dropped because a connection's queue was full
};

}  // namespace ashlar::server
