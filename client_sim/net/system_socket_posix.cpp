#if !defined(_WIN32)
#include "client_sim/net/system_socket.h"

#include <netinet/tcp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <system_error>

#include "client_sim/net/socket_address.h"

namespace ashlar::client_sim {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

SocketTrouble trouble_of(int code) {
  if (code == EAGAIN || code == EWOULDBLOCK || code == ENOBUFS || code == ENOTCONN)
    return SocketTrouble::wait;
  return code == ECONNREFUSED ? SocketTrouble::refused : SocketTrouble::broken;
}

SocketResult receive(SystemSocket socket, std::span<std::uint8_t> out, int flags) {
  for (;;) {
    const ssize_t size = ::recv(static_cast<int>(socket), out.data(), out.size(), MSG_DONTWAIT | flags);
    if (size >= 0) return {static_cast<std::size_t>(size), SocketTrouble::none};
    if (errno != EINTR) return {0, trouble_of(errno)};
  }
}

}  // namespace

std::expected<SystemSocket, std::string> connect_system_socket(const PeerAddress& server) {
  const bool tcp = server.transport == Transport::tcp;
  const int family = is_mapped_v4(server.ip) ? AF_INET : AF_INET6;
  const int type = (tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC;
  const int socket = ::socket(family, type, 0);
  if (socket < 0) return std::unexpected("no socket to be had: " + reason(errno));
  if (tcp) {
    const int on = 1;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  }
  sockaddr_storage to;
  const socklen_t size = to_system(server, to);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&to), size) != 0 && errno != EINPROGRESS) {
    const std::string why = reason(errno);
    ::close(socket);
    return std::unexpected("no way to the server: " + why);
  }
  return socket;
}

std::uint16_t system_socket_port(SystemSocket socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(static_cast<int>(socket), reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  // The port lies at the same place for both families.
  sockaddr_in v4;
  std::memcpy(&v4, &own, sizeof v4);
  return ntohs(v4.sin_port);
}

void close_system_socket(SystemSocket socket) { ::close(static_cast<int>(socket)); }

SocketResult receive_datagram(SystemSocket socket, std::span<std::uint8_t> out) {
  const SocketResult got = receive(socket, out, MSG_TRUNC);
  return got.bytes > out.size() ? SocketResult{0, SocketTrouble::too_long} : got;
}

SocketResult receive_bytes(SystemSocket socket, std::span<std::uint8_t> out) {
  return receive(socket, out, 0);
}

SocketResult send_bytes(SystemSocket socket, std::span<const std::uint8_t> bytes) {
  for (;;) {
    const ssize_t size =
        ::send(static_cast<int>(socket), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (size >= 0) return {static_cast<std::size_t>(size), SocketTrouble::none};
    if (errno != EINTR) return {0, trouble_of(errno)};
  }
}

std::expected<std::vector<PeerAddress>, std::string> look_up_host(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list); code != 0)
    return std::unexpected(std::string("the name cannot be looked up (") + gai_strerror(code) + ")");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  auto addresses = addresses_of(list, server_addresses_max);
  if (addresses.empty()) return std::unexpected("the name has no address");
  return addresses;
}

std::expected<void, std::string> raise_socket_limit(std::size_t sockets) {
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

}  // namespace ashlar::client_sim
#endif
