#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "world/math/assert.h"

namespace ashlar {

/// What a search over a window still has to look at, the nearest first: a ring of buckets, one a distance
/// (R. B. Dial, Algorithm 360, 1969). Of places equally near comes first which was put there last. A place
/// is in it once at most. Nothing allocates after construction; to put, to bring nearer and to take the
/// nearest cost some ns each.
class DistanceQueue {
 public:
  /// All that is in it lies within so much of the nearest, less one.
  static constexpr std::uint32_t spread_max = 1024;
  static constexpr std::uint16_t none = 0xffff;

  /// @param places_max  places are numbers below that, less than `none`
  explicit DistanceQueue(std::uint32_t places_max) : before_(places_max), after_(places_max) { clear(); }
  void clear() {
    first_.fill(none);
    some_.fill(0);
    count_ = 0, nearest_ = 0;
  }
  bool empty() const { return count_ == 0; }

  /// A place that is not in it. No nearer than what was taken last.
  void put(std::uint16_t place, std::uint32_t distance) {
    ASHLAR_ASSERT_SLOW(distance >= nearest_ && distance - nearest_ < spread_max);
    const std::size_t at = distance % spread_max;
    const std::uint16_t first = first_[at];
    before_[place] = none, after_[place] = first;
    if (first != none) before_[first] = place;
    first_[at] = place;
    some_[at / 64] |= std::uint64_t{1} << (at % 64);
    ++count_;
  }
  /// One that is in it at a distance, now at a nearer one.
  void bring(std::uint16_t place, std::uint32_t from, std::uint32_t to) {
    take(place, from);
    put(place, to);
  }
  /// One of the nearest; it is not empty.
  std::uint16_t take_nearest() {
    ASHLAR_ASSERT_SLOW(count_ > 0);
    std::size_t word = nearest_ % spread_max / 64;
    std::uint64_t bits = some_[word] & (~std::uint64_t{0} << (nearest_ % 64));
    // Round, so that what of the first word lies before the nearest comes last.
    while (bits == 0) word = (word + 1) % some_.size(), bits = some_[word];
    const std::size_t at = word * 64 + static_cast<std::size_t>(std::countr_zero(bits));
    nearest_ += static_cast<std::uint32_t>((at + spread_max - nearest_ % spread_max) % spread_max);
    const std::uint16_t place = first_[at];
    take(place, nearest_);
    return place;
  }

 private:
  void take(std::uint16_t place, std::uint32_t distance) {
    const std::size_t at = distance % spread_max;
    const std::uint16_t before = before_[place], after = after_[place];
    if (after != none) before_[after] = before;
    if (before != none)
      after_[before] = after;
    else if ((first_[at] = after) == none)
      some_[at / 64] &= ~(std::uint64_t{1} << (at % 64));
    --count_;
  }

  std::array<std::uint16_t, spread_max> first_{};
  std::array<std::uint64_t, spread_max / 64> some_{};  // a bit a bucket that is not empty
  std::vector<std::uint16_t> before_, after_;          // by place: the others of its bucket
  std::uint32_t count_ = 0;
  std::uint32_t nearest_ = 0;  // that was taken last
};

}  // namespace ashlar
