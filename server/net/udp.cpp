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

UdpPort::UdpPort(int socket, TransportCounters& counters)
    : socket_(socket), slots_(std::make_unique<ReceiveSlots>()), counters_(counters) {
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

void UdpPort::read_kernel_drops() {
  std::uint32_t info[SK_MEMINFO_VARS] = {};
  socklen_t size = sizeof info;
  if (getsockopt(socket_, SOL_SOCKET, SO_MEMINFO, info, &size) != 0) return;
  const std::uint32_t drops = info[SK_MEMINFO_DROPS];
  counters_.udp_dropped_kernel += drops - kernel_drops_seen_;  // the kernel's counter wraps at 32 bits
  kernel_drops_seen_ = drops;
}

}  // namespace ashlar::server
