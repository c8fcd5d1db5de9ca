#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "protocol/datagram.h"
#include "server/net/counters.h"

namespace ashlar::server {

/// Reads datagrams from a bound, non-blocking socket that someone else owns; udp_sender.h writes them.
/// Non-blocking calls in steps of 1 to 2 ms cost less than being woken per datagram: inputs wait for the
/// tick anyway. One thread; no allocation once the batch has its working size.
class UdpPort {
 public:
  /// Asks the kernel to hand out datagrams that arrived behind each other from one sender in one piece
  /// (UDP_GRO, Linux 5.0).
  UdpPort(int socket, TransportCounters& counters);
  ~UdpPort();
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  /// Asks for a receive buffer of `wanted_bytes` (as the kernel counts, its own overhead included) and reads
  /// back what it got. @return bytes that the kernel grants
  std::size_t size_receive_buffer(std::size_t wanted_bytes);

  /// Takes what has arrived, some datagrams_per_poll_max of it at most: a flood must not hold up the tick.
  /// One system call takes up to receive_calls of what a sender's datagrams were merged into, each up to
  /// the kernel's 64 of them: so a flood from few senders costs a memory copy and a look, and players whose
  /// datagrams come between it find room in the kernel's buffer.
  void receive(DatagramBatch& in);

  /// Asks the kernel for its drop counter; a system call, so once a second, not once a poll.
  void read_kernel_drops();

  static constexpr std::uint32_t datagrams_per_poll_max = 8192;
  static constexpr std::size_t receive_calls = 16;

 private:
  struct ReceiveSlots;
  std::uint32_t take(ReceiveSlots& slots, std::size_t slot, DatagramBatch& in);

  int socket_;
  std::unique_ptr<ReceiveSlots> slots_;
  std::uint32_t kernel_drops_seen_ = 0;
  TransportCounters& counters_;
};

}  // namespace ashlar::server
