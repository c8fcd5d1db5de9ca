#pragma once
// What a flood is made of: the only place of bench_flood that knows the wire.

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "protocol/secure/handshake_packets.h"
#include "protocol/version.h"
#include "world/math/random.h"

namespace ashlar::bench {

/// What the datagrams of a flood look like, from the cheapest for a server to tell to the dearest.
enum class FloodKind : std::uint8_t {
  wrong_first_byte,    ///< of no version: one look
  unknown_connection,  ///< a sealed packet of a connection that nobody has: answered with a reset, now and
                       ///< then
  hello,  ///< a hello without a cookie, from an address that is not proven: answered with a retry
};

/// Bytes of each datagram of a kind.
constexpr std::size_t flood_packet_bytes(FloodKind kind) {
  return kind == FloodKind::hello ? datagram_bytes_max : std::size_t{200};
}

/// One datagram; each call another.
inline std::vector<std::uint8_t> flood_packet(FloodKind kind, Rng& rng) {
  std::vector<std::uint8_t> out(flood_packet_bytes(kind));
  for (auto& b : out) b = static_cast<std::uint8_t>(rng.next_u32());
  if (kind == FloodKind::wrong_first_byte) {
    out[0] = static_cast<std::uint8_t>(protocol_version + 100);
    return out;
  }
  if (kind == FloodKind::unknown_connection) {
    out[0] = protocol_version;
    out[1] = static_cast<std::uint8_t>(secure::PacketType::sealed);
    return out;
  }
  // As a client's first: it offers both ciphers, and has a key and no cookie.
  std::fill(out.begin() + secure::hello_cookie_at, out.end(), std::uint8_t{0});
  secure::write_open_prefix(out, protocol_version, secure::PacketType::hello, rng.next_u64());
  out[secure::hello_offer_at] = secure::offer_chacha20 | secure::offer_aes256;
  return out;
}

}  // namespace ashlar::bench
