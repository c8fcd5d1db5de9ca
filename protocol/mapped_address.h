#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

namespace ashlar {

/// How an IPv4 address begins as PeerAddress stores it.
inline constexpr std::array<std::uint8_t, 12> mapped_prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/// Is that an IPv4 address? Its own four bytes are the last ones.
constexpr bool is_mapped_v4(const std::array<std::uint8_t, 16>& ip) {
  return std::equal(mapped_prefix.begin(), mapped_prefix.end(), ip.begin());
}

}  // namespace ashlar
