#include "server/net/udp.h"

#include <linux/sock_diag.h>
#include <sys/socket.h>

#include <cerrno>

#include "server/net/address.h"

namespace ashlar::server {

std::size_t UdpPort::size_receive_buffer(std::size_t wanted_bytes) {
  // The kernel doubles what it is asked for, to cover its own overhead, and reports the doubled figure.
  const int half = static_cast<int>(wanted_bytes / 2);
  // FORCE goes beyond net.core.rmem_max and needs CAP_NET_ADMIN; without that the plain call gets what it
  // can.
  if (setsockopt(socket_, SOL_SOCKET, SO_RCVBUFFORCE, &half, sizeof half) != 0)
    setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &half, sizeof half);
  if (setsockopt(socket_, SOL_SOCKET, SO_SNDBUFFORCE, &half, sizeof half) != 0)
    setsockopt(socket_, SOL_SOCKET, SO_SNDBUF, &half, sizeof half);
  int granted = 0;
  socklen_t size = sizeof granted;
  if (getsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &granted, &size) != 0 || granted < 0) return 0;
  return static_cast<std::size_t>(granted);
}

void UdpPort::receive(DatagramBatch& in) {
  // One byte more than allowed would do to notice a long one; MSG_TRUNC reports the true length anyway.
  alignas(8) std::uint8_t buffer[datagram_bytes_max];
  PeerAddress peer;
  for (std::uint32_t count = 0; count < datagrams_per_poll_max; ++count) {
    sockaddr_storage from;
    socklen_t from_size = sizeof from;
    const ssize_t size = recvfrom(socket_, buffer, sizeof buffer, MSG_DONTWAIT | MSG_TRUNC,
                                  reinterpret_cast<sockaddr*>(&from), &from_size);
    if (size < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) ++counters_.udp_receive_errors;
      return;
    }
    const std::size_t bytes = static_cast<std::size_t>(size);
    if (bytes > sizeof buffer) {
      ++counters_.udp_dropped_long;
      continue;
    }
    if (!from_native(from, peer)) {
      ++counters_.udp_receive_errors;
      continue;
    }
    in.add(peer, {buffer, bytes});
    ++counters_.datagrams_in;
    counters_.bytes_in += bytes;
  }
}

void UdpPort::send(const DatagramBatch& out) {
  for (const DatagramBatch::Entry& entry : out.entries()) {
    if (entry.peer.transport != Transport::udp) continue;
    sockaddr_storage to;
    socklen_t to_size = 0;
    if (!to_native(entry.peer, is_v6_, to, to_size)) {
      ++counters_.udp_send_errors;
      continue;
    }
    const auto bytes = out.bytes(entry);
    ssize_t sent = -1;
    do
      sent = sendto(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                    reinterpret_cast<const sockaddr*>(&to), to_size);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) {
      const bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
      ++(full ? counters_.udp_send_full : counters_.udp_send_errors);
      continue;
    }
    ++counters_.datagrams_out;
    counters_.bytes_out += bytes.size();
  }
}

void UdpPort::read_kernel_drops() {
  std::uint32_t info[SK_MEMINFO_VARS] = {};
  socklen_t size = sizeof info;
  if (getsockopt(socket_, SOL_SOCKET, SO_MEMINFO, info, &size) != 0) return;
  const std::uint32_t drops = info[SK_MEMINFO_DROPS];
  counters_.udp_dropped_kernel += drops - kernel_drops_seen_;  // the kernel's counter wraps at 32 bits
  kernel_drops_seen_ = drops;
}

}  // namespace ashlar::server
