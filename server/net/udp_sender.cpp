#include "server/net/udp_sender.h"

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
namespace {

/// One thread alone adds.
void add(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

}  // namespace

UdpSender::UdpSender(int socket, bool socket_is_v6) : socket_(socket), is_v6_(socket_is_v6) {
  const int off = 0;  // for the socket: each burst says its own size
  segments_ = setsockopt(socket_, IPPROTO_UDP, UDP_SEGMENT, &off, sizeof off) == 0;
}

std::size_t UdpSender::burst_length(std::span<const DatagramBatch::Entry> entries) {
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

void UdpSender::count_unsent(int error, std::size_t datagrams) {
  const bool full = error == EAGAIN || error == EWOULDBLOCK || error == ENOBUFS;
  add(full ? counters_.full : counters_.errors, datagrams);
}

bool UdpSender::send_burst(const DatagramBatch& out, std::span<const DatagramBatch::Entry> burst, void* to,
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
    add(counters_.datagrams, burst.size());
    add(counters_.bytes, bytes);
    return true;
  }
  // EIO: the device computes no checksums. EINVAL and EMSGSIZE: a segment does not fit the path, or checksums
  // are switched off. It may be so for this peer only, so the next burst is tried again.
  if (errno == EIO || errno == EINVAL || errno == EMSGSIZE || errno == EOPNOTSUPP) {
    add(counters_.bursts_refused, 1);
    return false;
  }
  count_unsent(errno, burst.size());
  return true;
}

void UdpSender::send_one(std::span<const std::uint8_t> bytes, const void* to, std::uint32_t to_size) {
  ssize_t sent = -1;
  do
    sent = sendto(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL,
                  static_cast<const sockaddr*>(to), to_size);
  while (sent < 0 && errno == EINTR);
  if (sent < 0) return count_unsent(errno, 1);
  add(counters_.datagrams, 1);
  add(counters_.bytes, bytes.size());
}

void UdpSender::send(const DatagramBatch& out) {
  for (auto rest = out.entries(); !rest.empty();) {
    const bool ours = rest.front().peer.transport == Transport::udp;
    const auto burst = rest.first(ours && segments_ ? burst_length(rest) : 1);
    rest = rest.subspan(burst.size());
    if (!ours) continue;
    sockaddr_storage to;
    socklen_t to_size = 0;
    if (!to_native(burst.front().peer, is_v6_, to, to_size)) {
      add(counters_.errors, burst.size());
      continue;
    }
    if (burst.size() > 1 && send_burst(out, burst, &to, to_size)) continue;
    for (const DatagramBatch::Entry& entry : burst) send_one(out.bytes(entry), &to, to_size);
  }
}

}  // namespace ashlar::server
