#pragma once
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/ip/udp.hpp>
#include <cstdint>
#include <expected>
#include <string>

#include "server/net/address.h"

// Opens and binds the two listening sockets. Only the .cpp files of net/ include this: Asio stays out of
// headers that others include. Set-up goes through Asio; reading and writing use the native handles.

namespace ashlar::server {

/// The two sockets of a server, bound to one port; they close with this.
struct ListenSockets {
  asio::ip::udp::socket udp;
  asio::ip::tcp::acceptor tcp;
  std::uint16_t port = 0;
  bool is_v6 = false;  ///< an IPv6 socket; it carries IPv4 as well when all addresses are listened on
};

/// Binds UDP and TCP to one port number; 0 takes a port that is free for both. Both sockets come out
/// non-blocking and TCP listening. Where the machine has no IPv6, "all addresses" means all of IPv4.
/// @return or one line that names address, port and remedy
std::expected<ListenSockets, std::string> open_sockets(asio::io_context& io, const ListenAddress& listen,
                                                       std::uint16_t port);

}  // namespace ashlar::server
