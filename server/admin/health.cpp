#include "server/admin/health.h"

#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "protocol/pong_info.h"
#include "protocol/secure/open_packets.h"
#include "protocol/version.h"
#include "server/net/address.h"

namespace ashlar::server {
namespace {

using Clock = std::chrono::steady_clock;
using Verdict = std::expected<std::string, std::string>;

constexpr std::chrono::milliseconds repeat_every{400};

/// A socket that knows only the one server.
class Line {
 public:
  explicit Line(const PeerAddress& server) {
    sockaddr_storage native;
    socklen_t size = 0;
    const bool v4 = to_native(server, false, native, size);
    if (!v4) to_native(server, true, native, size);
    descriptor_ = ::socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor_ >= 0 && ::connect(descriptor_, reinterpret_cast<sockaddr*>(&native), size) != 0)
      error_ = errno;
    if (descriptor_ < 0) error_ = errno;
  }
  ~Line() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;

  int error() const { return error_; }
  void send(std::span<const std::uint8_t> bytes) {
    (void)::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  }
  /// The next datagram, or nothing within the time. `refused`: the machine says that nobody listens there.
  std::span<const std::uint8_t> receive(std::chrono::milliseconds wait, bool& refused) {
    pollfd poll{descriptor_, POLLIN, 0};
    if (::poll(&poll, 1, static_cast<int>(wait.count())) <= 0) return {};
    const ssize_t size = ::recv(descriptor_, buffer_, sizeof buffer_, MSG_DONTWAIT);
    refused = size < 0 && errno == ECONNREFUSED;
    return {buffer_, size > 0 ? static_cast<std::size_t>(size) : 0};
  }

 private:
  int descriptor_ = -1;
  int error_ = 0;
  alignas(8) std::uint8_t buffer_[datagram_bytes_max]{};
};

}  // namespace

Verdict ask_health(const PeerAddress& server, std::chrono::milliseconds patience) {
  const std::string where = to_text(server);
  Line line(server);
  if (line.error() != 0) return std::unexpected("cannot ask " + where + ": " + std::strerror(line.error()));
  std::uint64_t nonce = 0;
  if (::getrandom(&nonce, sizeof nonce, 0) != sizeof nonce)
    return std::unexpected("cannot ask " + where + ": the system gives no random numbers");

  // As long as the longest pong may be asked with: what a newer server says beside it has room.
  std::array<std::uint8_t, secure::ping_bytes_max> ping;
  secure::write_ping(protocol_version, nonce, ping.size(), ping);
  const auto give_up = Clock::now() + patience;
  auto next_ping = Clock::now();
  bool refused = false;
  while (Clock::now() < give_up) {
    if (Clock::now() >= next_ping) {
      line.send(ping);
      next_ping = Clock::now() + repeat_every;
    }
    const auto until = std::min(next_ping, give_up) - Clock::now();
    const auto wait = std::chrono::ceil<std::chrono::milliseconds>(until);
    const auto bytes = line.receive(std::max(wait, std::chrono::milliseconds(1)), refused);
    if (refused) return std::unexpected("nothing listens on " + where);
    const auto said = secure::read_pong(bytes, protocol_version, nonce);
    const auto pong = said ? decode_pong_info(*said) : std::nullopt;
    if (!pong) continue;
    return where + " answers: tick " + std::to_string(pong->tick) + ", " + std::to_string(pong->clients) +
           " of " + std::to_string(pong->clients_max) + " clients";
  }
  return std::unexpected(where + " does not answer within " + std::to_string(patience.count()) + " ms");
}

}  // namespace ashlar::server
