#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "world/math/hash.h"
#include "world/math/random.h"
#include "world/math/vec.h"

namespace ashlar {

/// Who placed which blocks of a match, by numbers (MatchPlayer::builder) that outlive a player's stay. Holds
/// blocks_max of them; allocates at construction alone.
class PlacedBlocks {
 public:
  static constexpr std::size_t blocks_max = std::size_t{1} << 16;

  PlacedBlocks() : key_(slots, 0), by_(slots) {}

  /// @return who placed what stands there; nullopt: nobody in this match
  std::optional<std::uint32_t> owner(IVec3 block) const {
    const std::size_t at = find(key_of(block));
    if (key_[at] == 0) return std::nullopt;
    return by_[at];
  }
  /// @return false: it is somebody's already, or blocks_max are held
  bool add(IVec3 block, std::uint32_t by) {
    const std::uint64_t key = key_of(block);
    const std::size_t at = find(key);
    if (key_[at] != 0 || count_ == blocks_max) return false;
    key_[at] = key, by_[at] = by;
    ++count_;
    sum_ += mix_of(at);
    return true;
  }
  void remove(IVec3 block) {
    std::size_t hole = find(key_of(block));
    if (key_[hole] == 0) return;
    --count_;
    sum_ -= mix_of(hole);
    // Whoever was put further on because of it comes back, so that no search ends too early.
    for (std::size_t at = next(hole); key_[at] != 0; at = next(at)) {
      const std::size_t from_home = (at - home(key_[at])) % slots;
      if (from_home < (at - hole) % slots) continue;
      key_[hole] = key_[at], by_[hole] = by_[at];
      hole = at;
    }
    key_[hole] = 0;
  }
  void clear() {
    key_.assign(slots, 0);
    count_ = 0, sum_ = 0;
  }
  std::size_t count() const { return count_; }
  /// Those of one. Cost: about 0.1 ms.
  std::size_t count_of(std::uint32_t by) const {
    std::size_t sum = 0;
    for (std::size_t at = 0; at < slots; ++at) sum += key_[at] != 0 && by_[at] == by ? 1 : 0;
    return sum;
  }
  /// Calls use(block, by) for each, in an order that depends on how they came. Cost: likewise.
  template <typename Use>
  void each(Use&& use) const {
    for (std::size_t at = 0; at < slots && count_ > 0; ++at)
      if (key_[at] != 0) use(block_of(key_[at]), by_[at]);
  }
  /// Of what it holds, whatever way it came to that. Cost: two numbers.
  void add_to_hash(StripeHasher& hash) const {
    hash.add(static_cast<std::uint64_t>(count_));
    hash.add(sum_);
  }

 private:
  static constexpr std::size_t slots = 2 * blocks_max;  // half of them stay free: searches are short

  /// Never 0: x and y of a world's blocks have 21 bits, z has 13.
  static std::uint64_t key_of(IVec3 b) {
    constexpr std::uint64_t side = (std::uint64_t{1} << 24) - 1, up = (std::uint64_t{1} << 15) - 1;
    return std::uint64_t{1} << 63 | (static_cast<std::uint64_t>(b.x) & side) << 39 |
           (static_cast<std::uint64_t>(b.y) & side) << 15 | (static_cast<std::uint64_t>(b.z) & up);
  }
  static IVec3 block_of(std::uint64_t key) {
    const auto number = [key](unsigned low, unsigned bits) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(key >> low) << (32 - bits)) >> (32 - bits);
    };
    return {number(39, 24), number(15, 24), number(0, 15)};
  }
  static std::size_t home(std::uint64_t key) { return static_cast<std::size_t>(mix64(key)) % slots; }
  static std::size_t next(std::size_t at) { return (at + 1) % slots; }
  std::size_t find(std::uint64_t key) const {
    std::size_t at = home(key);
    while (key_[at] != 0 && key_[at] != key) at = next(at);
    return at;
  }
  std::uint64_t mix_of(std::size_t at) const { return mix64(key_[at] ^ mix64(by_[at])); }

  std::vector<std::uint64_t> key_;  // 0: free
  std::vector<std::uint32_t> by_;
  std::size_t count_ = 0;
  std::uint64_t sum_ = 0;  // of mix_of: an order of no matter
};

}  // namespace ashlar
