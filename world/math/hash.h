#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "world/math/random.h"
#include "world/math/vec.h"

namespace ashlar {

/// Calls use(word) for every 64 bits of a list of unsigned numbers, the first number in the low bits; the
/// last word is filled up with zeros, so the list's size is for the caller to tell.
template <typename T, typename Use>
constexpr void in_words(std::span<const T> list, Use&& use) {
  constexpr unsigned bits = 8 * sizeof(T);
  static_assert(std::is_unsigned_v<T> && bits < 64);
  std::uint64_t word = 0;
  unsigned filled = 0;
  for (const T v : list) {
    word |= static_cast<std::uint64_t>(v) << filled;
    filled += bits;
    if (filled == 64) use(word), word = 0, filled = 0;
  }
  if (filled != 0) use(word);
}

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
    in_words(bytes, [this](std::uint64_t word) { add(word); });
  }
  constexpr std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3u;  // first digits of pi; any non-zero start does
};

/// The same for many words a tick: four lanes that do not wait for each other, so a word takes a quarter of
/// the time. Each lane's round is that of xxHash64 (Yann Collet's description of the algorithm): for a given
/// lane every word gives another state, so that two values which differ in one word never hash alike.
class StripeHasher {
 public:
  constexpr void add(std::uint64_t v) {
    std::uint64_t& lane = lanes_[count_++ % lanes_.size()];
    lane = std::rotl(lane + v * prime_2, 31) * prime_1;
  }
  constexpr void add(double v) { add(std::bit_cast<std::uint64_t>(v)); }
  constexpr void add(DVec3 v) { add(v.x), add(v.y), add(v.z); }
  /// A list of unsigned numbers and its size.
  template <typename T>
  constexpr void add_list(const std::vector<T>& list) {
    add(static_cast<std::uint64_t>(list.size()));
    in_words(std::span<const T>(list), [this](std::uint64_t word) { add(word); });
  }
  /// Of everything that was added, its order and its number.
  constexpr std::uint64_t value() const {
    Hasher all;
    for (const std::uint64_t lane : lanes_) all.add(lane);
    all.add(count_);
    return all.value();
  }

 private:
  static constexpr std::uint64_t prime_1 = 0x9e3779b185ebca87u, prime_2 = 0xc2b2ae3d27d4eb4fu;
  std::array<std::uint64_t, 4> lanes_{prime_1 + prime_2, prime_2, 0, 0 - prime_1};
  std::uint64_t count_ = 0;
};

}  // namespace ashlar
