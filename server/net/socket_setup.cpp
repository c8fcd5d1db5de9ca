#include "server/net/socket_setup.h"

#include <asio/ip/v6_only.hpp>
#include <cstring>
#include <utility>

namespace ashlar::server {
namespace {

constexpr int any_port_attempts_max = 32;

/// Which socket failed and why, so that the caller can tell a taken port from a missing family.
struct SetupError {
  const char* transport;
  asio::error_code code;
};

asio::ip::address to_asio(const ListenAddress& listen, bool v6) {
  if (!v6) {
    asio::ip::address_v4::bytes_type bytes{};
    if (listen.family == ListenAddress::Family::v4) std::memcpy(bytes.data(), listen.ip.data() + 12, 4);
    return asio::ip::address_v4(bytes);
  }
  asio::ip::address_v6::bytes_type bytes{};
  if (listen.family == ListenAddress::Family::v6) std::memcpy(bytes.data(), listen.ip.data(), 16);
  return asio::ip::address_v6(bytes, listen.scope);
}

template <class Socket>
asio::error_code bind_socket(Socket& socket, const typename Socket::endpoint_type& at, bool dual) {
  asio::error_code error;
  socket.open(at.protocol(), error);
  if (!error && at.address().is_v6()) socket.set_option(asio::ip::v6_only(!dual), error);
  // Only TCP: a restarted server must not wait for old connections' TIME_WAIT. On UDP the same option would
  // let two servers share a port, each hearing half.
  if constexpr (std::is_same_v<Socket, asio::ip::tcp::acceptor>)
    if (!error) socket.set_option(asio::ip::tcp::acceptor::reuse_address(true), error);
  if (!error) socket.bind(at, error);
  if (!error) socket.non_blocking(true, error);
  return error;
}

std::expected<ListenSockets, SetupError> open_at(asio::io_context& io, const asio::ip::address& address,
                                                 std::uint16_t port, bool dual) {
  ListenSockets sockets{asio::ip::udp::socket(io), asio::ip::tcp::acceptor(io), 0, address.is_v6()};
  if (const auto error = bind_socket(sockets.udp, {address, port}, dual))
    return std::unexpected(SetupError{"UDP", error});
  asio::error_code error;
  sockets.port = sockets.udp.local_endpoint(error).port();
  if (error) return std::unexpected(SetupError{"UDP", error});
  if (const auto bound = bind_socket(sockets.tcp, {address, sockets.port}, dual))
    return std::unexpected(SetupError{"TCP", bound});
  sockets.tcp.listen(asio::socket_base::max_listen_connections, error);
  if (error) return std::unexpected(SetupError{"TCP", error});
  return sockets;
}

std::string explain(const SetupError& error, const asio::ip::address& address, std::uint16_t port) {
  const std::string where =
      "port " + std::to_string(port) + " (" + error.transport + ", " + address.to_string() + ")";
  if (error.code == asio::error::address_in_use)
    return where + " is taken, perhaps by another server: stop that one, or choose a port with --port";
  if (error.code == asio::error::access_denied)
    return where + " needs privileges: choose one above 1023 with --port";
  if (error.code.value() == EADDRNOTAVAIL)
    return "cannot listen on " + address.to_string() +
           ": no network device of this machine has that address; see --listen";
  return "cannot listen on " + where + ": " + error.code.message() + "; see --listen and --port";
}

}  // namespace

std::expected<ListenSockets, std::string> open_sockets(asio::io_context& io, const ListenAddress& listen,
                                                       std::uint16_t port) {
  using Family = ListenAddress::Family;
  bool v6 = listen.family != Family::v4;
  const bool dual = listen.family == Family::any;
  for (int attempt = 0;; ++attempt) {
    const asio::ip::address address = to_asio(listen, v6);
    auto sockets = open_at(io, address, port, dual);
    if (sockets) return std::move(*sockets);
    const asio::error_code code = sockets.error().code;
    const bool no_v6 = code == asio::error::address_family_not_supported || code.value() == EADDRNOTAVAIL ||
                       code.value() == EPROTONOSUPPORT;
    if (dual && v6 && no_v6) {
      v6 = false;
      continue;
    }
    // A port that is free for UDP may be taken for TCP: another one then, when any will do.
    if (port == 0 && code == asio::error::address_in_use && attempt < any_port_attempts_max) continue;
    return std::unexpected(explain(sockets.error(), address, port));
  }
}

}  // namespace ashlar::server
