#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ashlar {

/// The offsets from begin up to, not including, end.
struct Interval {
  std::uint64_t begin = 0, end = 0;
  std::uint64_t size() const { return end - begin; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// Offsets as sorted intervals that neither overlap nor touch. Searches are logarithmic, changes move what
/// lies behind them: meant for some hundreds of intervals. The caller bounds how many there are.
class IntervalSet {
 public:
  /// Adds offsets; those that are held already stay. An empty interval changes nothing.
  void insert(Interval added);
  /// Removes offsets, held or not.
  void erase(Interval removed);
  /// Removes everything below an offset.
  void erase_below(std::uint64_t offset) { erase({0, offset}); }
  /// How many intervals there would be after insert(added).
  std::size_t count_with(Interval added) const;
  /// Whether all of it is held.
  bool covers(Interval asked) const;

  /// In rising order; valid until the next change.
  std::span<const Interval> list() const { return list_; }
  bool empty() const { return list_.empty(); }
  std::uint64_t bytes() const;
  void clear() { list_.clear(); }
  std::size_t memory_bytes() const { return list_.capacity() * sizeof(Interval); }

 private:
  /// Index of the first interval that ends at or after an offset.
  std::size_t first_ending_from(std::uint64_t offset) const;
  std::vector<Interval> list_;
};

}  // namespace ashlar
