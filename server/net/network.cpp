#include "server/net/network.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "protocol/mapped_address.h"
#include "server/net/address.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

constexpr int v4_bits_before = 96;

std::array<std::uint8_t, 16> masked(std::array<std::uint8_t, 16> ip, int bits) {
  for (int i = 0; i < 16; ++i) {
    const int kept = std::clamp(bits - 8 * i, 0, 8);
    ip[static_cast<std::size_t>(i)] &= static_cast<std::uint8_t>(0xff00 >> kept);
  }
  return ip;
}

bool read_ip(const std::string& text, std::array<std::uint8_t, 16>& ip) {
  if (inet_pton(AF_INET6, text.c_str(), ip.data()) == 1) return true;
  std::copy(mapped_prefix.begin(), mapped_prefix.end(), ip.begin());
  return inet_pton(AF_INET, text.c_str(), ip.data() + mapped_prefix.size()) == 1;
}

}  // namespace

Network network_of(const PeerAddress& peer, std::uint8_t bits) {
  ASHLAR_ASSERT(bits <= 128);
  return {masked(peer.ip, bits), bits};
}

bool looks_like_network(std::string_view text) {
  const bool letters = text.find_first_not_of("0123456789abcdefABCDEF.:/") == std::string_view::npos;
  return letters && (text.find(':') != std::string_view::npos || std::ranges::count(text, '.') == 3);
}

std::expected<Network, std::string> parse_network(std::string_view text) {
  constexpr const char* remedy = ": give one such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32";
  const std::size_t slash = text.find('/');
  Network network;
  if (!read_ip(std::string(text.substr(0, slash)), network.ip))
    return std::unexpected("\"" + std::string(text) + "\" is no address in numbers" + remedy);
  const bool v4 = is_mapped_v4(network.ip);
  const int most = v4 ? 32 : 128, least = v4 ? network_bits_least_v4 : network_bits_least_v6;
  int bits = v4 ? 32 : 64;
  if (slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(prefix.data(), prefix.data() + prefix.size(), bits);
    if (error != std::errc{} || end != prefix.data() + prefix.size() || bits < least || bits > most)
      return std::unexpected("\"" + std::string(text) + "\" has no prefix from /" + std::to_string(least) +
                             " to /" + std::to_string(most) + remedy);
  }
  network.bits = static_cast<std::uint8_t>(bits + (v4 ? v4_bits_before : 0));
  const auto begin = masked(network.ip, network.bits);
  const bool whole = begin == network.ip;
  network.ip = begin;
  if (!whole && slash != std::string_view::npos)
    return std::unexpected("\"" + std::string(text) + "\" goes on behind its prefix: give " +
                           to_text(network));
  return network;
}

std::string to_text(const Network& network) {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_mapped_v4(network.ip) && network.bits >= v4_bits_before) {
    inet_ntop(AF_INET, network.ip.data() + mapped_prefix.size(), text, sizeof text);
    const int bits = network.bits - v4_bits_before;
    return bits == 32 ? text : std::string(text) + "/" + std::to_string(bits);
  }
  inet_ntop(AF_INET6, network.ip.data(), text, sizeof text);
  return std::string(text) + "/" + std::to_string(network.bits);
}

}  // namespace ashlar::server
