#include "client_sim/net/socket.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <memory>
#include <system_error>
#include <utility>

namespace ashlar::client_sim {
namespace {

constexpr std::uint16_t default_port = 7777;
// A call that finds more than this in a socket leaves the rest for the next one: other clients wait.
constexpr int datagrams_per_call_max = 256;

std::string reason(int code) { return std::generic_category().message(code); }

bool is_mapped_v4(const std::array<std::uint8_t, 16>& ip) {
  static constexpr std::array<std::uint8_t, 12> prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(prefix.begin(), prefix.end(), ip.begin());
}

/// The address as the system spells it; returns its size.
socklen_t to_native(const PeerAddress& peer, sockaddr_storage& out) {
  out = {};
  if (is_mapped_v4(peer.ip)) {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(peer.port);
    std::memcpy(&v4.sin_addr, peer.ip.data() + 12, 4);
    std::memcpy(&out, &v4, sizeof v4);
    return sizeof v4;
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(peer.port);
  std::memcpy(&v6.sin6_addr, peer.ip.data(), 16);
  v6.sin6_scope_id = peer.scope;
  std::memcpy(&out, &v6, sizeof v6);
  return sizeof v6;
}

}  // namespace

std::expected<PeerAddress, std::string> resolve_server(std::string_view text, Transport transport) {
  const std::string whole(text);
  const auto fail = [&](const std::string& why) {
    return std::unexpected("no server address in '" + whole + "': " + why +
                           "; give HOST:PORT, like 127.0.0.1:7777 or [::1]:7777");
  };
  std::string host = whole;
  std::string port_text;
  if (host.starts_with('[')) {
    const std::size_t end = host.find(']');
    if (end == std::string::npos) return fail("the bracket is not closed");
    const std::string rest = host.substr(end + 1);
    host = host.substr(1, end - 1);
    if (!rest.empty() && rest.front() != ':') return fail("there is something behind the bracket");
    if (!rest.empty()) port_text = rest.substr(1);
    if (!rest.empty() && port_text.empty()) return fail("the port is missing");
  } else if (const std::size_t colon = host.rfind(':');
             colon != std::string::npos && host.find(':') == colon) {
    port_text = host.substr(colon + 1);
    host = host.substr(0, colon);
    if (port_text.empty()) return fail("the port is missing");
  }
  if (host.empty()) return fail("the host is missing");
  std::uint16_t port = default_port;
  if (!port_text.empty()) {
    const char* end = port_text.data() + port_text.size();
    const auto [stopped, error] = std::from_chars(port_text.data(), end, port);
    if (error != std::errc{} || stopped != end || port == 0)
      return fail("the port is not a number of 1 to 65535");
  }

  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (const int code = getaddrinfo(host.c_str(), nullptr, &hints, &list); code != 0)
    return fail(std::string("the name cannot be looked up (") + gai_strerror(code) + ")");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  PeerAddress peer;
  peer.port = port;
  peer.transport = transport;
  for (const addrinfo* a = list; a != nullptr; a = a->ai_next) {
    if (a->ai_family == AF_INET) {
      sockaddr_in v4;
      std::memcpy(&v4, a->ai_addr, sizeof v4);
      peer.ip[10] = peer.ip[11] = 0xff;
      std::memcpy(peer.ip.data() + 12, &v4.sin_addr, 4);
      return peer;
    }
    if (a->ai_family == AF_INET6) {
      sockaddr_in6 v6;
      std::memcpy(&v6, a->ai_addr, sizeof v6);
      std::memcpy(peer.ip.data(), &v6.sin6_addr, 16);
      peer.scope = v6.sin6_scope_id;
      return peer;
    }
  }
  return fail("the name has no address");
}

std::expected<void, std::string> allow_sockets(std::size_t sockets) {
  constexpr rlim_t others = 64;  // files, standard streams, libraries
  const rlim_t wanted = sockets + others;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return {};
  if (limit.rlim_max < wanted)
    return std::unexpected("this system allows " + std::to_string(limit.rlim_max) + " open files, " +
                           std::to_string(wanted) +
                           " are needed: raise it with ulimit -Hn, or use fewer clients");
  limit.rlim_cur = wanted;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
    return std::unexpected("the limit of open files cannot be raised to " + std::to_string(wanted) + ": " +
                           reason(errno));
  return {};
}

std::expected<ClientSocket, std::string> ClientSocket::open(const PeerAddress& server) {
  const bool tcp = server.transport == Transport::tcp;
  const int family = is_mapped_v4(server.ip) ? AF_INET : AF_INET6;
  const int type = (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const int socket = ::socket(family, type, 0);
  if (socket < 0) return std::unexpected("no socket to be had: " + reason(errno));
  ClientSocket out(socket, server);
  if (tcp) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  sockaddr_storage to;
  const socklen_t size = to_native(server, to);
  if (connect(socket, reinterpret_cast<const sockaddr*>(&to), size) != 0 && errno != EINPROGRESS)
    return std::unexpected("no way to the server: " + reason(errno));
  return out;
}

ClientSocket::ClientSocket(ClientSocket&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)),
      server_(other.server_),
      failed_(other.failed_),
      told_closed_(other.told_closed_),
      deframer_(other.deframer_),
      queue_(std::move(other.queue_)),
      queue_sent_(other.queue_sent_),
      counters_(other.counters_) {}

ClientSocket& ClientSocket::operator=(ClientSocket&& other) noexcept {
  if (this == &other) return *this;
  close();
  socket_ = std::exchange(other.socket_, -1);
  server_ = other.server_;
  failed_ = other.failed_;
  told_closed_ = other.told_closed_;
  deframer_ = other.deframer_;
  queue_ = std::move(other.queue_);
  queue_sent_ = other.queue_sent_;
  counters_ = other.counters_;
  return *this;
}

ClientSocket::~ClientSocket() { close(); }

void ClientSocket::close() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
}

void ClientSocket::receive(DatagramBatch& in) {
  if (socket_ < 0) return;
  server_.transport == Transport::tcp ? receive_stream(in) : receive_datagrams(in);
  if (failed_ && !told_closed_) {
    told_closed_ = true;
    in.add_closed(server_);
    close();
  }
}

void ClientSocket::receive_datagrams(DatagramBatch& in) {
  alignas(8) std::array<std::uint8_t, datagram_bytes_max> buffer;
  for (int i = 0; i < datagrams_per_call_max; ++i) {
    const ssize_t size = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_TRUNC);
    if (size < 0) {
      if (errno == EINTR) continue;
      // An earlier datagram met nobody: the client's own timeouts decide what that means.
      if (errno == ECONNREFUSED) ++counters_.send_errors;
      return;
    }
    if (static_cast<std::size_t>(size) > buffer.size()) {
      ++counters_.dropped_long;
      continue;
    }
    in.add(server_, {buffer.data(), static_cast<std::size_t>(size)});
  }
}

void ClientSocket::receive_stream(DatagramBatch& in) {
  std::array<std::uint8_t, 16 * 1024> buffer;
  for (int i = 0; i < datagrams_per_call_max; ++i) {
    const ssize_t size = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (size < 0) {
      if (errno == EINTR) continue;
      // ENOTCONN: still on its way to stand.
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOTCONN) fail();
      return;
    }
    if (size == 0) return fail();
    const auto sink = [&](std::span<const std::uint8_t> packet) { in.add(server_, packet); };
    if (!deframer_.feed({buffer.data(), static_cast<std::size_t>(size)}, sink)) {
      ++counters_.broken_streams;
      return fail();
    }
    if (static_cast<std::size_t>(size) < buffer.size()) return;
  }
}

void ClientSocket::flush() {
  while (queue_sent_ < queue_.size()) {
    const ssize_t size = ::send(socket_, queue_.data() + queue_sent_, queue_.size() - queue_sent_,
                                MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != EWOULDBLOCK && errno != ENOTCONN) fail();
      return;
    }
    queue_sent_ += static_cast<std::size_t>(size);
  }
  queue_.clear();
  queue_sent_ = 0;
}

void ClientSocket::send(const DatagramBatch& out) {
  if (socket_ < 0 || failed_) return;
  for (const DatagramBatch::Entry& entry : out.entries()) {
    if (entry.peer != server_) continue;
    const auto bytes = out.bytes(entry);
    if (server_.transport == Transport::tcp) {
      if (bytes.empty()) continue;  // a frame of length 0 would break the stream
      if (queue_.size() - queue_sent_ + bytes.size() + frame_prefix_bytes > queue_bytes_max) {
        ++counters_.send_full;
        continue;
      }
      const auto prefix = frame_prefix(bytes.size());
      queue_.insert(queue_.end(), prefix.begin(), prefix.end());
      queue_.insert(queue_.end(), bytes.begin(), bytes.end());
      continue;
    }
    ssize_t sent = -1;
    do sent = ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent < 0) {
      const bool full = errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS;
      ++(full ? counters_.send_full : counters_.send_errors);
    }
  }
  if (server_.transport == Transport::tcp) {
    flush();
    // What was sent of a long queue is cut off now and then, so that it stays within its bound.
    if (queue_sent_ > queue_bytes_max / 2) {
      queue_.erase(queue_.begin(), queue_.begin() + static_cast<std::ptrdiff_t>(queue_sent_));
      queue_sent_ = 0;
    }
  }
}

std::uint16_t ClientSocket::local_port() const {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (socket_ < 0 || ::getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  // The port lies at the same place for both families.
  sockaddr_in v4;
  std::memcpy(&v4, &own, sizeof v4);
  return ntohs(v4.sin_port);
}

}  // namespace ashlar::client_sim
