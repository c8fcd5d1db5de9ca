#pragma once
#include <array>
#include <compare>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "protocol/datagram.h"

namespace ashlar::server {

/// All addresses that begin alike: one host, or a provider's.
struct Network {
  std::array<std::uint8_t, 16> ip{};  ///< as in PeerAddress; zero behind its bits
  std::uint8_t bits = 128;            ///< of those 128 that count: of IPv4 96 more than people write
  friend bool operator==(const Network&, const Network&) = default;
  friend auto operator<=>(const Network&, const Network&) = default;
};

/// Fewer bits than these are half the world: of IPv4 and of IPv6.
inline constexpr int network_bits_least_v4 = 8, network_bits_least_v6 = 16;

/// The network of so many of the 128 bits that an address lies in; at most 128, asserted.
Network network_of(const PeerAddress& peer, std::uint8_t bits);

/// Has the text the letters of an address alone? Then it is meant as one, right or wrong.
bool looks_like_network(std::string_view text);

/// "192.0.2.1", "192.0.2.0/24", "2001:db8::/32". An IPv6 address without a prefix is its /64, which one
/// household commonly has all of.
/// @return or the part of a line that says what is wrong and what would do
std::expected<Network, std::string> parse_network(std::string_view text);

/// As parse_network() reads it; a single IPv4 address without a prefix.
std::string to_text(const Network& network);

}  // namespace ashlar::server
