#pragma once
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "protocol/datagram.h"

namespace ashlar::server {

/// "192.0.2.1:7777", "[2001:db8::1]:7777" or "[fe80::1%2]:7777". For logs; allocates.
std::string to_text(const PeerAddress& peer);

/// The part of an address that limits count by: an IPv4 address whole, of an IPv6 address its /64, as one
/// household or one attacker commonly has all of that. The rest is zero.
std::array<std::uint8_t, 16> limit_key(const PeerAddress& peer);

/// Where to listen. Numbers only: a name could resolve to anything, and a server should say what it does.
struct ListenAddress {
  enum class Family : std::uint8_t { any, v4, v6 };  ///< any: all addresses of both families
  Family family = Family::any;
  std::array<std::uint8_t, 16> ip{};  ///< v4 mapped as in PeerAddress; all zero bits of the family: every one
  std::uint32_t scope = 0;            ///< as in PeerAddress
};

/// "" and "*" mean all addresses; "0.0.0.0" all of IPv4, "::" all of IPv6 alone.
/// @return or one line that names the text and the remedy
std::expected<ListenAddress, std::string> parse_listen(std::string_view text);

/// "HOST:PORT", "HOST" (then `port_default`), "[::1]:PORT"; numeric addresses and "localhost". Link-local
/// ones name their network device, by name or number: "[fe80::1%eth0]:PORT".
/// @return or one line that names the text and the remedy
std::expected<PeerAddress, std::string> parse_peer(std::string_view text, std::uint16_t port_default);

/// Between the kernel's spelling and ours; sockets of IPv4 and of IPv6 both come out mapped.
/// Fails (false) only for families that are neither.
bool from_native(const sockaddr_storage& native, PeerAddress& peer);

/// Fills `native` for a socket of the given family. False: an IPv6 peer cannot be reached from IPv4.
bool to_native(const PeerAddress& peer, bool socket_is_v6, sockaddr_storage& native, socklen_t& size);

}  // namespace ashlar::server
