#if defined(_WIN32)
#include "client_sim/net/system_socket.h"

#include <memory>
#include <system_error>

#include "client_sim/net/socket_address.h"

namespace ashlar::client_sim {
namespace {

std::string reason(int code) { return std::system_category().message(code); }

/// Windows wants its library of sockets started once, before the first of them.
void start_sockets() {
  static const int started = [] {
    WSADATA about;
    return WSAStartup(MAKEWORD(2, 2), &about);
  }();
  static_cast<void>(started);  // what failed here fails again where a socket is asked for, and is told there
}

SocketTrouble trouble_of(int code) {
  switch (code) {
    case WSAEWOULDBLOCK:
    case WSAENOBUFS:
    case WSAENOTCONN: return SocketTrouble::wait;
    case WSAEMSGSIZE: return SocketTrouble::too_long;
    case WSAECONNREFUSED:
    case WSAENETRESET: return SocketTrouble::refused;
    default: return SocketTrouble::broken;
  }
}

SOCKET handle(SystemSocket socket) { return static_cast<SOCKET>(socket); }

/// Of a TCP connection that does not stand it is said alike whether it is under way or was refused: what came
/// of it lies at the socket.
SocketTrouble stream_trouble(SystemSocket socket, int code) {
  int outcome = 0;
  socklen_t size = sizeof outcome;
  const bool told = code == WSAENOTCONN && getsockopt(handle(socket), SOL_SOCKET, SO_ERROR,
                                                      reinterpret_cast<char*>(&outcome), &size) == 0;
  return trouble_of(told && outcome != 0 ? outcome : code);
}

int receive(SystemSocket socket, std::span<std::uint8_t> out) {
  return ::recv(handle(socket), reinterpret_cast<char*>(out.data()), static_cast<int>(out.size()), 0);
}

}  // namespace

std::expected<SystemSocket, std::string> connect_system_socket(const PeerAddress& server) {
  start_sockets();
  const bool tcp = server.transport == Transport::tcp;
  const int family = is_mapped_v4(server.ip) ? AF_INET : AF_INET6;
  const SOCKET socket = ::socket(family, tcp ? SOCK_STREAM : SOCK_DGRAM, 0);
  if (socket == INVALID_SOCKET) return std::unexpected("no socket to be had: " + reason(WSAGetLastError()));
  u_long nonblocking = 1;
  bool fine = ioctlsocket(socket, static_cast<long>(FIONBIO), &nonblocking) == 0;
  if (tcp) {
    const BOOL on = TRUE;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, reinterpret_cast<const char*>(&on), sizeof on);
  }
  sockaddr_storage to;
  const socklen_t size = to_system(server, to);
  fine = fine && (::connect(socket, reinterpret_cast<const sockaddr*>(&to), size) == 0 ||
                  WSAGetLastError() == WSAEWOULDBLOCK);
  if (!fine) {
    const std::string why = reason(WSAGetLastError());
    closesocket(socket);
    return std::unexpected("no way to the server: " + why);
  }
  return static_cast<SystemSocket>(socket);
}

std::uint16_t system_socket_port(SystemSocket socket) {
  sockaddr_storage own{};
  socklen_t size = sizeof own;
  if (::getsockname(handle(socket), reinterpret_cast<sockaddr*>(&own), &size) != 0) return 0;
  // The port lies at the same place for both families.
  sockaddr_in v4;
  std::memcpy(&v4, &own, sizeof v4);
  return ntohs(v4.sin_port);
}

void close_system_socket(SystemSocket socket) { closesocket(handle(socket)); }

SocketResult receive_datagram(SystemSocket socket, std::span<std::uint8_t> out) {
  const int size = receive(socket, out);
  if (size >= 0) return {static_cast<std::size_t>(size), SocketTrouble::none};
  const int code = WSAGetLastError();
  // So Windows says that an earlier datagram met nobody.
  return {0, code == WSAECONNRESET ? SocketTrouble::refused : trouble_of(code)};
}

SocketResult receive_bytes(SystemSocket socket, std::span<std::uint8_t> out) {
  const int size = receive(socket, out);
  if (size >= 0) return {static_cast<std::size_t>(size), SocketTrouble::none};
  return {0, stream_trouble(socket, WSAGetLastError())};
}

SocketResult send_bytes(SystemSocket socket, std::span<const std::uint8_t> bytes) {
  const int size =
      ::send(handle(socket), reinterpret_cast<const char*>(bytes.data()), static_cast<int>(bytes.size()), 0);
  if (size >= 0) return {static_cast<std::size_t>(size), SocketTrouble::none};
  return {0, stream_trouble(socket, WSAGetLastError())};
}

std::expected<std::vector<PeerAddress>, std::string> look_up_host(const std::string& host) {
  start_sockets();
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_DGRAM;
  addrinfo* list = nullptr;
  if (const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &list); code != 0)
    return std::unexpected("the name cannot be looked up (" + reason(code) + ")");
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  auto addresses = addresses_of(list, server_addresses_max);
  if (addresses.empty()) return std::unexpected("the name has no address");
  return addresses;
}

std::expected<void, std::string> raise_socket_limit(std::size_t) { return {}; }  // there is none

}  // namespace ashlar::client_sim
#endif
