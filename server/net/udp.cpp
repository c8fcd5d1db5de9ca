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
#include <memory>

#include "server/net/address.h"

namespace ashlar::server {

/// Room for what one call takes. Bytes that nothing was read into cost no memory.
struct UdpPort::ReceiveSlots {
  static constexpr std::size_t slot_bytes = 65'536;  // whatever is merged, UDP's length has 16 bits
  std::unique_ptr<std::uint8_t[]> bytes;
  std::array<sockaddr_storage, receive_calls> from;
  struct alignas(cmsghdr) Control {
    std::array<char, CMSG_SPACE(sizeof(int))> bytes;
  };
  std::array<Control, receive_calls> control;
  std::array<iovec, receive_calls> pieces;
  std::array<mmsghdr, receive_calls> calls;

  ReceiveSlots() : bytes(std::make_unique_for_overwrite<std::uint8_t[]>(receive_calls * slot_bytes)) {
    for (std::size_t i = 0; i < receive_calls; ++i) {
      pieces[i] = {bytes.get() + i * slot_bytes, slot_bytes};
      calls[i] = {};
      calls[i].msg_hdr.msg_iov = &pieces[i];
      calls[i].msg_hdr.msg_iovlen = 1;
    }
  }
  /// What the kernel wrote there is over.
  void prepare() {
    for (std::size_t i = 0; i < receive_calls; ++i) {
      msghdr& header = calls[i].msg_hdr;
      header.msg_name = &from[i];
      header.msg_namelen = sizeof from[i];
      header.msg_control = control[i].bytes.data();
      header.msg_controllen = control[i].bytes.size();
    }
  }
  /// Bytes of each datagram that was merged, the last one aside; 0: it is one alone.
  std::size_t segment_bytes(std::size_t slot) {
    msghdr& header = calls[slot].msg_hdr;
    for (cmsghdr* option = CMSG_FIRSTHDR(&header); option != nullptr; option = CMSG_NXTHDR(&header, option))
      if (option->cmsg_level == IPPROTO_UDP && option->cmsg_type == UDP_GRO) {
        int size = 0;
        std::memcpy(&size, CMSG_DATA(option), sizeof size);
        return size > 0 ? static_cast<std::size_t>(size) : 0;
      }
    return 0;
  }
};

UdpPort::UdpPort(int socket, bool socket_is_v6, TransportCounters& counters)
    : socket_(socket), is_v6_(socket_is_v6), slots_(std::make_unique<ReceiveSlots>()), counters_(counters) {
  const int off = 0;  // for the socket: each burst says its own size
  segments_ = setsockopt(socket_, IPPROTO_UDP, UDP_SEGMENT, &off, sizeof off) == 0;
  const int on = 1;  // where the kernel knows nothing of it, each comes by itself
  (void)setsockopt(socket_, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
}

UdpPort::~UdpPort() = default;

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

/// All datagrams of one slot. @return how many there were
std::uint32_t UdpPort::take(ReceiveSlots& slots, std::size_t slot, DatagramBatch& in) {
  const std::size_t bytes = slots.calls[slot].msg_len;
  const std::size_t merged = slots.segment_bytes(slot);
  const std::size_t segment = merged == 0 || merged > bytes ? bytes : merged;
  const auto count = static_cast<std::uint32_t>(bytes == 0 ? 1 : (bytes + segment - 1) / segment);
  PeerAddress peer;
  if (!from_native(slots.from[slot], peer)) {
    counters_.udp_receive_errors += count;
    return count;
  }
  const auto* const first = static_cast<const std::uint8_t*>(slots.pieces[slot].iov_base);
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < count; ++i, at += segment) {
    const std::size_t size = std::min(segment, bytes - at);
    if (!in.add(peer, {first + at, size})) {
      ++counters_.udp_dropped_long;
      continue;
    }
    ++counters_.datagrams_in;
    counters_.bytes_in += size;
  }
  return count;
}

void UdpPort::receive(DatagramBatch& in) {
  for (std::uint32_t count = 0; count < datagrams_per_poll_max;) {
    slots_->prepare();
    const int got = recvmmsg(socket_, slots_->calls.data(), receive_calls, MSG_DONTWAIT, nullptr);
    if (got < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK) ++counters_.udp_receive_errors;
      return;
    }
    const auto taken = static_cast<std::size_t>(got);
    for (std::size_t slot = 0; slot < taken; ++slot) count += take(*slots_, slot, in);
    if (taken < receive_calls) return;  // no more was there
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
