#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "protocol/datagram.h"

namespace ashlar::server {

/// What sending came to. Counters only grow; the thread that sends writes, any may read.
struct UdpSendCounters {
  std::atomic<std::uint64_t> datagrams = 0, bytes = 0;
  std::atomic<std::uint64_t> full = 0;    ///< the send buffer had no room: the datagram was dropped
  std::atomic<std::uint64_t> errors = 0;  ///< unreachable, forbidden by a firewall, wrong family
  /// Sent one by one, as the kernel or device would not take them as one.
  std::atomic<std::uint64_t> bursts_refused = 0;
};

/// Writes datagrams to a bound, non-blocking socket that someone else owns. One thread, which need not be the
/// one that reads. No allocation.
class UdpSender {
 public:
  /// Asks the kernel whether it can cut one send into datagrams (UDP_SEGMENT, Linux 4.18).
  /// @param socket_is_v6  the socket's family, which decides how addresses are spelled
  UdpSender(int socket, bool socket_is_v6);

  /// Sends or drops, in order: what does not fit the kernel's buffer now would be stale later. Takes the
  /// entries that are for UDP. Those that follow one another to one peer and are equally long, or the last
  /// one shorter, go out in one call as its segments (a seventh of the cost each), and are dropped together.
  /// Where the kernel or the network device refuses that, they go one by one.
  void send(const DatagramBatch& out);

  const UdpSendCounters& counters() const { return counters_; }  ///< since it was made

  /// Segments of one call, the kernel's own bound, and their bytes together.
  static constexpr std::size_t segments_max = 64;
  static constexpr std::size_t segments_bytes_max = 65'000;

 private:
  /// How many of these, from the first on, may be one call's segments. At least 1.
  static std::size_t burst_length(std::span<const DatagramBatch::Entry> entries);
  /// @return false: the kernel or the device does not do this here, and nothing was sent or counted
  bool send_burst(const DatagramBatch& out, std::span<const DatagramBatch::Entry> burst, void* to,
                  std::uint32_t to_size);
  void send_one(std::span<const std::uint8_t> bytes, const void* to, std::uint32_t to_size);
  void count_unsent(int error, std::size_t datagrams);

  int socket_;
  bool is_v6_;
  bool segments_ = false;  // the kernel knows UDP_SEGMENT
  UdpSendCounters counters_;
};

}  // namespace ashlar::server
