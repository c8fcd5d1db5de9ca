#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "world/math/assert.h"
#include "world/math/prefetch.h"

namespace ashlar {

/// A queue whose elements keep their index for good: the first ever pushed is 0. Grows by doubling, up to a
/// limit that the caller holds; allocates only while it grows.
template <typename T>
class GrowRing {
 public:
  /// Indices that are held: [first, end).
  std::uint64_t first() const { return first_; }
  std::uint64_t end() const { return end_; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - first_); }
  bool empty() const { return first_ == end_; }

  /// Precondition: `index` is held.
  T& operator[](std::uint64_t index) {
    ASHLAR_ASSERT_SLOW(index >= first_ && index < end_);
    return rows_[static_cast<std::size_t>(index) & (rows_.size() - 1)];
  }
  const T& operator[](std::uint64_t index) const {
    ASHLAR_ASSERT_SLOW(index >= first_ && index < end_);
    return rows_[static_cast<std::size_t>(index) & (rows_.size() - 1)];
  }

  /// Appends; the only call that may allocate.
  void push_back(const T& value) {
    if (size() == rows_.size()) grow();
    rows_[static_cast<std::size_t>(end_++) & (rows_.size() - 1)] = value;
  }
  /// Precondition: not empty.
  void pop_front() {
    ASHLAR_ASSERT(first_ < end_);
    ++first_;
  }
  /// Forgets all below `index`, which is at most end().
  void pop_until(std::uint64_t index) {
    ASHLAR_ASSERT(index <= end_);
    if (index > first_) first_ = index;
  }
  std::size_t memory_bytes() const { return rows_.capacity() * sizeof(T); }
  /// Asks the processor for the oldest one, and for where the next one goes; changes nothing.
  void prefetch_ends() const { prefetch_at(first_), prefetch_at(end_); }
  /// For one that may be held or not.
  void prefetch_at(std::uint64_t index) const {
    if (!rows_.empty()) prefetch(&rows_[static_cast<std::size_t>(index) & (rows_.size() - 1)], sizeof(T));
  }

 private:
  void grow() {
    std::vector<T> larger(rows_.empty() ? 8 : 2 * rows_.size());
    for (std::uint64_t i = first_; i < end_; ++i)
      larger[static_cast<std::size_t>(i) & (larger.size() - 1)] = (*this)[i];
    rows_.swap(larger);
  }

  std::vector<T> rows_;  // a power of two of them, or none
  std::uint64_t first_ = 0, end_ = 0;
};

}  // namespace ashlar
