#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/little_endian.h"

namespace ashlar {

/// What a server says of itself in a pong (secure/open_packets.h).
struct PongInfo {
  std::uint32_t tick = 0;     ///< of the simulation: two answers tell whether it runs
  std::uint32_t clients = 0;  ///< who play now
  std::uint32_t clients_max = 0;
  friend bool operator==(const PongInfo&, const PongInfo&) = default;
};
inline constexpr std::size_t pong_info_bytes = 12;

/// As it travels.
inline std::array<std::uint8_t, pong_info_bytes> encode(const PongInfo& info) {
  std::array<std::uint8_t, pong_info_bytes> out;
  put_little(&out[0], info.tick);
  put_little(&out[4], info.clients);
  put_little(&out[8], info.clients_max);
  return out;
}

/// What is behind, a newer server may say; what is shorter says nothing.
inline std::optional<PongInfo> decode_pong_info(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < pong_info_bytes) return std::nullopt;
  return PongInfo{get_little<std::uint32_t>(&bytes[0]), get_little<std::uint32_t>(&bytes[4]),
                  get_little<std::uint32_t>(&bytes[8])};
}

}  // namespace ashlar
