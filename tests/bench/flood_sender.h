#pragma once
// Datagrams by the hundred thousand a second: the kernel cuts each message into up to 64 of them.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/bench/flood_packets.h"

namespace ashlar::bench {

/// Sends a flood over sockets of its own, from 127.0.0.2 and on. One thread.
class FloodSender {
 public:
  static constexpr std::size_t sockets = 8, messages = 8;

  /// @param port  of the server on 127.0.0.1
  FloodSender(std::uint16_t port, FloodKind kind, std::uint64_t per_s) : per_s_(per_s) {
    segment_bytes_ = flood_packet_bytes(kind);
    segments_ = std::min<std::size_t>(64, 65'000 / segment_bytes_);
    Rng rng = rng_for(7, 0xf100d);
    for (auto& message : bytes_)
      for (std::size_t i = 0; i < segments_; ++i) {
        const auto packet = flood_packet(kind, rng);
        message.insert(message.end(), packet.begin(), packet.end());
      }
    for (std::size_t i = 0; i < sockets; ++i) open(port, static_cast<std::uint32_t>(i));
  }
  ~FloodSender() {
    for (const int socket : sockets_) ::close(socket);
  }
  FloodSender(const FloodSender&) = delete;
  FloodSender& operator=(const FloodSender&) = delete;

  /// Sends what is due since the last call; what a pause of more than 20 ms missed is not made up for.
  void turn(std::chrono::steady_clock::time_point now) {
    using namespace std::chrono;
    if (sockets_.empty()) return;
    last_ = std::max(last_, now - milliseconds(20));
    owed_ += duration<double>(now - last_).count() * static_cast<double>(per_s_);
    last_ = now;
    while (owed_ >= static_cast<double>(segments_)) {
      const auto wanted = static_cast<std::size_t>(owed_ / static_cast<double>(segments_));
      const std::size_t taken = send(std::min(wanted, messages));
      owed_ -= static_cast<double>(taken * segments_);
      sent_ += taken * segments_;
      if (taken == 0) {  // no room, or refused: not owed any more
        ++refused_;
        owed_ = 0;
      }
    }
  }

  std::uint64_t sent() const { return sent_; }        ///< datagrams
  std::uint64_t refused() const { return refused_; }  ///< calls that the system took nothing of

 private:
  void open(std::uint16_t port, std::uint32_t number) {
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) return;
    sockaddr_in from{}, to{};
    from.sin_family = to.sin_family = AF_INET;
    from.sin_addr.s_addr = htonl(0x7f000002u + number);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    to.sin_port = htons(port);
    const int size = static_cast<int>(segment_bytes_), room = 4 << 20;
    (void)::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&from), sizeof from) == 0 &&
        ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
        ::setsockopt(socket, SOL_UDP, UDP_SEGMENT, &size, sizeof size) == 0)
      sockets_.push_back(socket);
    else
      ::close(socket);
  }

  /// @return messages that the system took
  std::size_t send(std::size_t count) {
    std::array<iovec, messages> parts{};
    std::array<mmsghdr, messages> calls{};
    for (std::size_t i = 0; i < count; ++i) {
      parts[i] = {bytes_[i].data(), bytes_[i].size()};
      calls[i].msg_hdr.msg_iov = &parts[i];
      calls[i].msg_hdr.msg_iovlen = 1;
    }
    const int socket = sockets_[next_++ % sockets_.size()];
    // An answer that nobody was there to read shows as an error once: the next call goes through.
    const int taken = ::sendmmsg(socket, calls.data(), static_cast<unsigned>(count), MSG_DONTWAIT);
    return taken < 0 ? 0 : static_cast<std::size_t>(taken);
  }

  std::uint64_t per_s_;
  std::size_t segment_bytes_ = 0, segments_ = 0, next_ = 0;
  std::array<std::vector<std::uint8_t>, messages> bytes_;
  std::vector<int> sockets_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  double owed_ = 0;
  std::uint64_t sent_ = 0, refused_ = 0;
};

}  // namespace ashlar::bench
