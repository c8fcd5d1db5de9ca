#pragma once
#include <cstddef>
#include <cstdint>

#include "protocol/datagram.h"
#include "server/net/counters.h"

namespace ashlar::server {

/// Reads and writes datagrams on a bound, non-blocking socket that someone else owns.
/// Non-blocking calls in steps of 1 to 2 ms cost less than being woken per datagram: inputs wait for the
/// tick anyway. One thread; no allocation once the batch has its working size.
class UdpPort {
 public:
  /// @param socket_is_v6  the socket's family, which decides how addresses are spelled
  UdpPort(int socket, bool socket_is_v6, TransportCounters& counters)
      : socket_(socket), is_v6_(socket_is_v6), counters_(counters) {}

  /// Asks for a receive buffer of `wanted_bytes` (as the kernel counts, its own overhead included) and reads
  /// back what it got. @return bytes that the kernel grants
  std::size_t size_receive_buffer(std::size_t wanted_bytes);

  /// Takes what has arrived, at most datagrams_per_poll_max of it: a flood must not hold up the tick.
  void receive(DatagramBatch& in);

  /// Sends or drops: what does not fit the kernel's buffer now would be stale later. Takes the entries
  /// that are for UDP.
  void send(const DatagramBatch& out);

  /// Asks the kernel for its drop counter; a system call, so once a second, not once a poll.
  void read_kernel_drops();

  static constexpr std::uint32_t datagrams_per_poll_max = 8192;

 private:
  int socket_;
  bool is_v6_;
  std::uint32_t kernel_drops_seen_ = 0;
  TransportCounters& counters_;
};

}  // namespace ashlar::server
