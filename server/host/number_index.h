#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "world/math/assert.h"

namespace ashlar::server {

/// Which row belongs to a number, for a fixed count of rows: open addressing in one flat array, as each
/// packet that comes asks, and the nodes of a std::unordered_map lie anywhere. Not keyed: numbers are drawn
/// by the server (ConnectionIds). One thread. Allocates in its constructor alone. Cost: some 2 ns.
class NumberIndex {
 public:
  /// @param rows_max  of numbers that are held at a time; up to twice as many are let pass
  explicit NumberIndex(std::uint32_t rows_max) : slots_(std::bit_ceil(std::size_t{4} * (rows_max + 1))) {}

  std::optional<std::uint32_t> find(std::uint32_t number) const {
    for (std::size_t at = home_of(number);; at = next(at)) {
      if (slots_[at].number == number && number != 0) return slots_[at].row;
      if (slots_[at].number == 0) return std::nullopt;
    }
  }
  /// @param number  not 0; asserted
  /// @return false: it is held already, and nothing was changed
  bool add(std::uint32_t number, std::uint32_t row) {
    ASHLAR_ASSERT(number != 0 && 2 * (size_ + 1) <= slots_.size());
    std::size_t at = home_of(number);
    for (; slots_[at].number != 0; at = next(at))
      if (slots_[at].number == number) return false;
    slots_[at] = {number, row};
    ++size_;
    return true;
  }
  /// @return false: it was not held
  bool remove(std::uint32_t number) {
    std::size_t hole = home_of(number);
    for (; slots_[hole].number != number; hole = next(hole))
      if (slots_[hole].number == 0) return false;
    if (number == 0) return false;
    // Whoever was put behind the hole for want of room before it moves back.
    for (std::size_t at = next(hole); slots_[at].number != 0; at = next(at)) {
      const std::size_t from_home = (at - home_of(slots_[at].number)) & (slots_.size() - 1);
      if (from_home < ((at - hole) & (slots_.size() - 1))) continue;
      slots_[hole] = slots_[at];
      hole = at;
    }
    slots_[hole] = {};
    --size_;
    return true;
  }
  std::size_t size() const { return size_; }

 private:
  struct Slot {
    std::uint32_t number = 0;  // 0: free
    std::uint32_t row = 0;
  };
  /// Multiplicative hashing (Knuth): its high bits depend on all of the number.
  std::size_t home_of(std::uint32_t number) const {
    return static_cast<std::size_t>((number * 0x9e3779b97f4a7c15u) >> 40) & (slots_.size() - 1);
  }
  std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
};

}  // namespace ashlar::server
