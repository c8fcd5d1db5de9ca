#pragma once
// Between PeerAddress and the system's own structs, which have the same fields everywhere.
#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <winsock2.h>
#include <ws2tcpip.h>
#else
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "protocol/datagram.h"
#include "protocol/mapped_address.h"

namespace ashlar::client_sim {

/// The address as the system spells it; returns its size.
inline socklen_t to_system(const PeerAddress& peer, sockaddr_storage& out) {
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

/// The IPv4 and IPv6 addresses of a list that getaddrinfo() made, each once, at most so many.
inline std::vector<PeerAddress> addresses_of(const addrinfo* list, std::size_t most) {
  std::vector<PeerAddress> out;
  for (const addrinfo* a = list; a != nullptr && out.size() < most; a = a->ai_next) {
    PeerAddress peer;
    if (a->ai_family == AF_INET) {
      sockaddr_in v4;
      std::memcpy(&v4, a->ai_addr, sizeof v4);
      std::copy(mapped_prefix.begin(), mapped_prefix.end(), peer.ip.begin());
      std::memcpy(peer.ip.data() + 12, &v4.sin_addr, 4);
    } else if (a->ai_family == AF_INET6) {
      sockaddr_in6 v6;
      std::memcpy(&v6, a->ai_addr, sizeof v6);
      std::memcpy(peer.ip.data(), &v6.sin6_addr, 16);
      peer.scope = v6.sin6_scope_id;
    } else {
      continue;
    }
    if (std::find(out.begin(), out.end(), peer) == out.end()) out.push_back(peer);
  }
  return out;
}

}  // namespace ashlar::client_sim
