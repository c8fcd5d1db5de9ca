#pragma once
#include <cstdint>

#include "world/math/assert.h"

namespace ashlar {

/// Mixes 64 bits so that each input bit moves about half of the output's.
/// Source: the finaliser of SplitMix64 (Steele, Lea, Flood 2014), variant 13 of Stafford.
constexpr std::uint64_t mix64(std::uint64_t v) {
  v ^= v >> 30;
  v *= 0xbf58476d1ce4e5b9u;
  v ^= v >> 27;
  v *= 0x94d049bb133111ebu;
  return v ^ (v >> 31);
}

/// SplitMix64: a counter through mix64. Its whole state is one number, part of the world's hash.
/// One call per full expression: the order of evaluating operands differs between compilers.
struct Rng {
  std::uint64_t state = 0;

  /// The next number; each of 2^64 comes once before the first comes again.
  constexpr std::uint64_t next_u64() { return mix64(state += 0x9e3779b97f4a7c15u); }
  /// The high half of next_u64().
  constexpr std::uint32_t next_u32() { return static_cast<std::uint32_t>(next_u64() >> 32); }
  /// Uniform in [0, bound) to within 2^-32. Precondition: bound > 0.
  constexpr std::uint32_t below(std::uint32_t bound) {
    ASHLAR_ASSERT_SLOW(bound > 0);
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(next_u32()) * bound) >> 32);
  }
  /// Uniform in [0, 1), 53 bits.
  constexpr double unit() { return static_cast<double>(next_u64() >> 11) * 0x1.0p-53; }
  /// Uniform in [low, high).
  constexpr double between(double low, double high) { return low + (high - low) * unit(); }
};

/// A generator of its own for each purpose and row, so that one more draw here moves nothing there.
constexpr Rng rng_for(std::uint64_t seed, std::uint64_t purpose, std::uint64_t row = 0) {
  return Rng{mix64(seed ^ mix64(purpose ^ mix64(row + 0x9e3779b97f4a7c15u)))};
}

}  // namespace ashlar
