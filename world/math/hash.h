#pragma once
#include <bit>
#include <cstdint>
#include <span>

#include "world/math/random.h"
#include "world/math/vec.h"

namespace ashlar {

/// 64-bit hash over the fields of a value, fed one by one (never memory, so never padding).
/// Order matters; the same fields give the same hash on every build. About 1 ns a word. Not for security.
class Hasher {
 public:
  constexpr void add(std::uint64_t v) { state_ = mix64((state_ ^ v) * 0x9e3779b97f4a7c15u + 1); }
  constexpr void add(double v) { add(std::bit_cast<std::uint64_t>(v)); }
  constexpr void add(DVec3 v) { add(v.x), add(v.y), add(v.z); }
  constexpr void add(IVec3 v) {
    add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(v.x)) << 32 | static_cast<std::uint32_t>(v.y));
    add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(v.z)));
  }
  void add_bytes(std::span<const std::uint8_t> bytes) {
    add(static_cast<std::uint64_t>(bytes.size()));
    std::uint64_t word = 0;
    unsigned filled = 0;
    for (const std::uint8_t b : bytes) {
      word |= static_cast<std::uint64_t>(b) << (8 * filled);
      if (++filled == 8) add(word), word = 0, filled = 0;
    }
    if (filled != 0) add(word);
  }
  constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3u;  // first digits of pi; any non-zero start does
};

}  // namespace ashlar
