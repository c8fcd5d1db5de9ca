#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "protocol/datagram.h"
#include "server/net/counters.h"

namespace ashlar::server {

/// Reads and writes datagrams on a bound, non-blocking socket that someone else owns.
/// Non-blocking calls in steps of 1 to 2 ms cost less than being woken per datagram: inputs wait for the
/// tick anyway. One thread; no allocation once the batch has its working size.
class UdpPort {
 public:
  /// Asks the kernel whether it can cut one send into datagrams (UDP_SEGMENT, Linux 4.18), and to hand out
  /// those that arrived behind each other from one sender in one piece (UDP_GRO, Linux 5.0).
  /// @param socket_is_v6  the socket's family, which decides how addresses are spelled
  UdpPort(int socket, bool socket_is_v6, TransportCounters& counters);
  ~UdpPort();
  UdpPort(const UdpPort&) = delete;
  UdpPort& operator=(const UdpPort&) = delete;

  /// Asks for a receive buffer of `wanted_bytes` (as the kernel counts, its own overhead included) and reads
  /// back what it got. @return bytes that the kernel grants
  std::size_t size_receive_buffer(std::size_t wanted_bytes);

  /// Takes what has arrived, some datagrams_per_poll_max of it at most: a flood must not hold up the tick.
  /// One system call takes up to receive_calls of what a sender's datagrams were merged into, each up to
  /// segments_max of them: so a flood from few senders costs a memory copy and a look, and players whose
  /// datagrams come between it find room in the kernel's buffer.
  void receive(DatagramBatch& in);

  /// Sends or drops, in order: what does not fit the kernel's buffer now would be stale later. Takes the
  /// entries that are for UDP. Those that follow one another to one peer and are equally long, or the last
  /// one shorter, go out in one call as its segments (a seventh of the cost each), and are dropped together.
  /// Where the kernel or the network device refuses that, they go one by one.
  void send(const DatagramBatch& out);

  /// Asks the kernel for its drop counter; a system call, so once a second, not once a poll.
  void read_kernel_drops();

  static constexpr std::uint32_t datagrams_per_poll_max = 8192;
  /// Segments of one call, the kernel's own bound, and their bytes together.
  static constexpr std::size_t segments_max = 64;
  static constexpr std::size_t segments_bytes_max = 65'000;
  static constexpr std::size_t receive_calls = 16;

 private:
  struct ReceiveSlots;
  std::uint32_t take(ReceiveSlots& slots, std::size_t slot, DatagramBatch& in);
  /// How many of these, from the first on, may be one call's segments. At least 1.
  static std::size_t burst_length(std::span<const DatagramBatch::Entry> entries);
  /// @return false: the kernel or the device does not do this here, and nothing was sent or counted
  bool send_burst(const DatagramBatch& out, std::span<const DatagramBatch::Entry> burst, void* to,
                  std::uint32_t to_size);
  void send_one(std::span<const std::uint8_t> bytes, const void* to, std::uint32_t to_size);
  void count_unsent(int error, std::size_t datagrams);

  int socket_;
  bool is_v6_;
  bool segments_;  // the kernel knows UDP_SEGMENT
  std::unique_ptr<ReceiveSlots> slots_;
  std::uint32_t kernel_drops_seen_ = 0;
  TransportCounters& counters_;
};

}  // namespace ashlar::server
