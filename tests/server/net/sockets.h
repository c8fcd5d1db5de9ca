#pragma once
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "server/net/address.h"
#include "server/net/transports.h"

// A peer as the kernel offers it, so that the transports are tested against plain sockets and not themselves.

namespace ashlar::server::test {

using Bytes = std::vector<std::uint8_t>;
using namespace std::chrono_literals;

inline Bytes bytes_of(const std::string& text) { return {text.begin(), text.end()}; }

class Socket {
 public:
  Socket(int family, int type) : descriptor_(::socket(family, type | SOCK_CLOEXEC, 0)) {}
  ~Socket() { close(); }
  Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&&) = delete;

  void close() {
    if (descriptor_ >= 0) ::close(descriptor_);
    descriptor_ = -1;
  }
  bool connect_to(const std::string& where, std::uint16_t port) {
    const auto peer = parse_peer(where, port);
    if (!peer) return false;
    sockaddr_storage native;
    socklen_t size = 0;
    return to_native(*peer, where.find(':') != std::string::npos, native, size) &&
           ::connect(descriptor_, reinterpret_cast<sockaddr*>(&native), size) == 0;
  }
  bool send(std::span<const std::uint8_t> bytes) {
    return ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
           static_cast<ssize_t>(bytes.size());
  }
  bool readable(int wait_ms = 0) {
    pollfd poll{descriptor_, POLLIN, 0};
    return ::poll(&poll, 1, wait_ms) == 1;
  }
  /// What is there now; empty on end of stream or nothing (`ended` tells which).
  Bytes receive(bool* ended = nullptr) {
    Bytes bytes(65536);
    const ssize_t size = ::recv(descriptor_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (ended != nullptr) *ended = size == 0 || (size < 0 && errno == ECONNRESET);
    bytes.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return bytes;
  }
  int native() const { return descriptor_; }

 private:
  int descriptor_;
};

inline Socket udp_to(std::uint16_t port, const std::string& where = "127.0.0.1") {
  Socket socket(where.find(':') == std::string::npos ? AF_INET : AF_INET6, SOCK_DGRAM);
  if (!socket.connect_to(where, port)) throw std::runtime_error("cannot open a UDP socket to " + where);
  return socket;
}

inline Socket tcp_to(std::uint16_t port, const std::string& where = "127.0.0.1") {
  Socket socket(where.find(':') == std::string::npos ? AF_INET : AF_INET6, SOCK_STREAM);
  if (!socket.connect_to(where, port)) throw std::runtime_error("cannot connect to " + where);
  return socket;
}

inline Bytes framed(std::span<const std::uint8_t> packet) {
  Bytes bytes{static_cast<std::uint8_t>(packet.size() & 0xff), static_cast<std::uint8_t>(packet.size() >> 8)};
  bytes.insert(bytes.end(), packet.begin(), packet.end());
  return bytes;
}

/// Opens on a free port of the loopback, or throws with the reason.
inline Transports open_on_loopback(TransportConfig config = {}, const std::string& where = "127.0.0.1") {
  config.port = 0;
  config.listen = *parse_listen(where);
  auto transports = Transports::open(config);
  if (!transports) throw std::runtime_error(transports.error());
  return std::move(*transports);
}

/// Polls with a simulated clock until `done`, or gives up after five seconds of real time: the kernel hands
/// loopback traffic over at once or nearly so, and the bound only ends a test that has failed.
inline bool poll_until(Transports& transports, DatagramBatch& in, const std::function<bool()>& done,
                       std::chrono::microseconds now = 0us) {
  const auto give_up = std::chrono::steady_clock::now() + 5s;
  while (true) {
    transports.poll(now, in);
    if (done()) return true;
    if (std::chrono::steady_clock::now() > give_up) return false;
    ::usleep(200);
  }
}

inline Bytes entry_bytes(const DatagramBatch& batch, std::size_t index) {
  const auto bytes = batch.bytes(batch.entries()[index]);
  return {bytes.begin(), bytes.end()};
}

}  // namespace ashlar::server::test
