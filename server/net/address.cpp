#include "server/net/address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "protocol/mapped_address.h"

namespace ashlar::server {
namespace {

bool is_link_local(const std::array<std::uint8_t, 16>& ip) { return ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80; }

struct Ip {
  std::array<std::uint8_t, 16> bytes{};  ///< an IPv4 one mapped
  std::uint32_t scope = 0;
  bool v4 = false;
};

/// The network device behind a "%", by name or number; 0: there is none.
std::uint32_t parse_scope(const std::string& text) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? number : if_nametoindex(text.c_str());
}

/// Numeric text to an address, or what is wrong with it.
std::expected<Ip, const char*> parse_ip(const std::string& text) {
  Ip ip;
  in_addr four{};
  if (inet_pton(AF_INET, text.c_str(), &four) == 1) {
    std::copy(mapped_prefix.begin(), mapped_prefix.end(), ip.bytes.begin());
    std::memcpy(ip.bytes.data() + 12, &four, 4);
    ip.v4 = true;
    return ip;
  }
  const std::size_t percent = text.find('%');
  in6_addr six{};
  if (inet_pton(AF_INET6, text.substr(0, percent).c_str(), &six) != 1)
    return std::unexpected("is no address");
  std::memcpy(ip.bytes.data(), &six, 16);
  ip.v4 = is_mapped_v4(ip.bytes);
  if (percent != std::string::npos) {
    ip.scope = parse_scope(text.substr(percent + 1));
    if (!is_link_local(ip.bytes) || ip.scope == 0)
      return std::unexpected(ip.scope == 0 ? "names a network device that is not there"
                                           : "names a network device, which only link-local addresses do");
  } else if (is_link_local(ip.bytes)) {
    return std::unexpected("is link-local and has to name its network device, as in fe80::1%eth0");
  }
  return ip;
}

}  // namespace

std::string to_text(const PeerAddress& peer) {
  char text[INET6_ADDRSTRLEN] = {};
  if (is_mapped_v4(peer.ip)) {
    inet_ntop(AF_INET, peer.ip.data() + 12, text, sizeof text);
    return std::string(text) + ":" + std::to_string(peer.port);
  }
  inet_ntop(AF_INET6, peer.ip.data(), text, sizeof text);
  const std::string scope = peer.scope == 0 ? "" : "%" + std::to_string(peer.scope);
  return "[" + std::string(text) + scope + "]:" + std::to_string(peer.port);
}

std::array<std::uint8_t, 16> limit_key(const PeerAddress& peer) {
  std::array<std::uint8_t, 16> key = peer.ip;
  if (!is_mapped_v4(key)) std::fill(key.begin() + 8, key.end(), std::uint8_t{0});
  return key;
}

std::expected<ListenAddress, std::string> parse_listen(std::string_view text) {
  ListenAddress listen;
  if (text.empty() || text == "*") return listen;
  if (text.starts_with('[') && text.ends_with(']')) text = text.substr(1, text.size() - 2);
  const auto ip = parse_ip(std::string(text));
  if (!ip)
    return std::unexpected("cannot listen on \"" + std::string(text) + "\", which " + ip.error() +
                           ": give an address in numbers, such as 127.0.0.1 or ::1, or * for all");
  listen.ip = ip->bytes;
  listen.scope = ip->scope;
  listen.family = ip->v4 ? ListenAddress::Family::v4 : ListenAddress::Family::v6;
  return listen;
}

std::expected<PeerAddress, std::string> parse_peer(std::string_view text, std::uint16_t port_default) {
  const auto wrong = [&](const char* what) {
    return std::unexpected("\"" + std::string(text) + "\" " + what +
                           ": give ADDRESS:PORT in numbers, such as 127.0.0.1:7777 or [::1]:7777");
  };
  std::string_view host = text;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    if (end == std::string_view::npos) return wrong("has no closing bracket");
    host = text.substr(1, end - 1);
    const std::string_view rest = text.substr(end + 1);
    if (!rest.empty() && rest[0] != ':') return wrong("has something other than a port after its bracket");
    if (!rest.empty()) port = rest.substr(1);
  } else if (std::count(text.begin(), text.end(), ':') == 1) {
    const std::size_t colon = text.find(':');
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
    if (port.empty()) return wrong("has no port after its colon");
  }

  PeerAddress peer;
  peer.port = port_default;
  const auto ip = parse_ip(host == "localhost" ? "127.0.0.1" : std::string(host));
  if (!ip) return wrong(ip.error());
  peer.ip = ip->bytes;
  peer.scope = ip->scope;
  if (!port.empty()) {
    const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), peer.port);
    if (error != std::errc{} || end != port.data() + port.size() || peer.port == 0)
      return wrong("has no port from 1 to 65535");
  }
  return peer;
}

bool from_native(const sockaddr_storage& native, PeerAddress& peer) {
  if (native.ss_family == AF_INET6) {
    const auto& six = reinterpret_cast<const sockaddr_in6&>(native);
    std::memcpy(peer.ip.data(), &six.sin6_addr, 16);
    peer.scope = six.sin6_scope_id;
    peer.port = ntohs(six.sin6_port);
    return true;
  }
  if (native.ss_family != AF_INET) return false;
  const auto& four = reinterpret_cast<const sockaddr_in&>(native);
  std::copy(mapped_prefix.begin(), mapped_prefix.end(), peer.ip.begin());
  std::memcpy(peer.ip.data() + 12, &four.sin_addr, 4);
  peer.scope = 0;
  peer.port = ntohs(four.sin_port);
  return true;
}

bool to_native(const PeerAddress& peer, bool socket_is_v6, sockaddr_storage& native, socklen_t& size) {
  native = {};
  if (socket_is_v6) {
    auto& six = reinterpret_cast<sockaddr_in6&>(native);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(peer.port);
    std::memcpy(&six.sin6_addr, peer.ip.data(), 16);
    six.sin6_scope_id = peer.scope;
    size = sizeof(sockaddr_in6);
    return true;
  }
  if (!is_mapped_v4(peer.ip)) return false;
  auto& four = reinterpret_cast<sockaddr_in&>(native);
  four.sin_family = AF_INET;
  four.sin_port = htons(peer.port);
  std::memcpy(&four.sin_addr, peer.ip.data() + 12, 4);
  size = sizeof(sockaddr_in);
  return true;
}

}  // namespace ashlar::server
