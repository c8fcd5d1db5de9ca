#include "server/net/udp.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "server/net/address.h"

namespace ashlar::server {

UdpPort::UdpPort(int socket, bool socket_is_v6, TransportCounters& counters)
    : socket_(socket), is_v6_(socket_is_v6), counters_(counters) {
  const int off = 0;  // for the socket: each burst says its own size
  segments_ = setsockopt(socket_, IPPROTO_UDP, UDP_SEGMENT, &off, sizeof off) == 0;
}

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

std::size_t UdpPort::burst_length(std::span<const DatagramBatch::Entry> entries) {
  const DatagramBatch::Entry& first = entries.front();
  std::size_t bytes = first.size, count = 1;
  if (bytes == 0) return 1;
  for (; count < std::min(entries.size(), segments_max); ++count) {
    const DatagramBatch::Entry& next = entries[count];
    if (next.peer != first.peer || next.size == 0 || next.size > first.size) break;
    bytes += next.size;
    if (bytes > segments_bytes_max) break;
    if (next.size < first.size) return count + 1;  // a shorter one is the last
  }
  return count;
}

void UdpPort::count_unsent(int error, std::size_t datagrams) {
  const bool full = error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
  (full ? counters_.udp_send_full : counters_.udp_send_errors) += datagrams;
}

bool UdpPort::send_burst(const DatagramBatch& out, std::span<const DatagramBatch::Entry> burst, void* to,
                         std::uint32_t to_size) {
  std::array<iovec, segments_max> pieces;
  std::size_t piece_count = 0, bytes = 0;
  for (const DatagramBatch::Entry& entry : burst) {
    auto* data = const_cast<std::uint8_t*>(out.bytes(entry).data());  // sendmsg only reads
    bytes += entry.size;
    // Multiples of 8 bytes lie one behind the other in the batch.
    iovec* before = piece_count == 0 ? nullptr : &pieces[piece_count - 1];
    if (before != nullptr && static_cast<std::uint8_t*>(before->iov_base) + before->iov_len == data)
      before->iov_len += entry.size;
    else
      pieces[piece_count++] = {data, entry.size};
  }
  const auto segment = static_cast<std::uint16_t>(burst.front().size);
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof segment)> control{};
  msghdr message{};
  message.msg_name = to;
  message.msg_namelen = to_size;
  message.msg_iov = pieces.data();
  message.msg_iovlen = piece_count;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* option = CMSG_FIRSTHDR(&message);
  option->cmsg_level = IPPROTO_UDP;
  option->cmsg_type = UDP_SEGMENT;
  option->cmsg_len = CMSG_LEN(sizeof segment);
  std::memcpy(CMSG_DATA(option), &segment, sizeof segment);

  ssize_t sent = -1;
  do sent = sendmsg(socket_, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  if (sent >= 0) {
    counters_.datagrams_out += burst.size();
    counters_.bytes_out += bytes;
    return true;
  }
  // EIO: the device computes no checksums. EINVAL and EMSGSIZE: a segment does not fit the path, or checksums
  // are switched off. It may be so for this peer only, so the next burst is tried again.
  if (errno == EIO || errno == EINVAL || errno == EMSGSIZE || errno == EOPNOTSUPP) {
    ++counters_.udp_bursts_refused;
    return false;
  }
  count_unsent(errno, burst.size());
  return true;
}

void UdpPort::send_one(std::span<const std::uint8_t> bytes, const void* to, std::uint32_t to_size) {
  ssize_t sent = -1;
  do
    sent = sendto(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                  static_cast<const sockaddr*>(to), to_size);
  while (sent < 0 && errno == EINTR);
  if (sent < 0) return count_unsent(errno, 1);
  ++counters_.datagrams_out;
  counters_.bytes_out += bytes.size();
}

void UdpPort::send(const DatagramBatch& out) {
  for (auto rest = out.entries(); !rest.empty();) {
    const bool ours = rest.front().peer.transport == Transport::udp;
    const auto burst = rest.first(ours && segments_ ? burst_length(rest) : 1);
    rest = rest.subspan(burst.size());
    if (!ours) continue;
    sockaddr_storage to;
    socklen_t to_size = 0;
    if (!to_native(burst.front().peer, is_v6_, to, to_size)) {
      counters_.udp_send_errors += burst.size();
      continue;
    }
    if (burst.size() > 1 && send_burst(out, burst, &to, to_size)) continue;
    for (const DatagramBatch::Entry& entry : burst) send_one(out.bytes(entry), &to, to_size);
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
