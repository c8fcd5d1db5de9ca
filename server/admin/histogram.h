#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

namespace ashlar::server {

/// Durations in buckets that grow with the value: any quantile to within 1/16 of it. Fixed size, no
/// allocation; adding is a few instructions.
class Histogram {
 public:
  /// Any value. A bucket's count wraps beyond 2^32 - 1.
  void add(std::uint64_t ns) {
    ++counts_[bucket(ns)];
    ++count_;
    max_ = std::max(max_, ns);
  }

  void clear() { *this = Histogram(); }           ///< as new; writes all 4 KiB
  std::uint64_t count() const { return count_; }  ///< values added
  std::uint64_t max() const { return max_; }      ///< the largest, exact; 0 when there are none

  /// The upper end of the bucket that holds the q-th of all values, never above max(); 0 when there are none.
  std::uint64_t quantile(double q) const {
    if (count_ == 0) return 0;
    const auto last = static_cast<double>(count_ - 1);
    const auto rank = static_cast<std::uint64_t>(q * last + 0.5);
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > rank) return std::min(max_, upper_end(i));
    }
    return max_;
  }

 private:
  static constexpr int sub_bits = 4;
  static constexpr std::size_t sub_count = std::size_t{1} << sub_bits;
  static constexpr std::size_t bucket_count = (64 - sub_bits + 1) * sub_count;

  /// Values below 16 have a bucket each; above, an octave has 16.
  static constexpr std::size_t bucket(std::uint64_t value) {
    if (value < sub_count) return static_cast<std::size_t>(value);
    const int octave = 63 - std::countl_zero(value) - sub_bits;
    return (static_cast<std::size_t>(octave) + 1) * sub_count +
           static_cast<std::size_t>((value >> octave) & (sub_count - 1));
  }
  static constexpr std::uint64_t upper_end(std::size_t index) {
    if (index < sub_count) return index;
    const auto octave = static_cast<int>(index / sub_count) - 1;
    const std::uint64_t sub = index % sub_count + sub_count;
    return ((sub + 1) << octave) - 1;
  }

  std::array<std::uint32_t, bucket_count> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

}  // namespace ashlar::server
