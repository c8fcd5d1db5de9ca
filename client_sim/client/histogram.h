#pragma once
#include <array>
#include <chrono>
#include <cstdint>

namespace ashlar::client_sim {

/// Time since an arbitrary start, monotonic. Only main and the adapters read a clock.
using Micros = std::chrono::duration<std::int64_t, std::micro>;

/// Durations counted in buckets that grow by a twentieth: quantiles to within 5 %, from 1 us to over an hour.
/// Fixed memory (2 KiB), O(1) to add; histograms of many clients add up.
class Histogram {
 public:
  void add(Micros value);
  void merge(const Histogram& other);
  std::uint64_t count() const { return count_; }
  /// The value that `share` of the samples do not exceed, share in [0, 1]; 0 without samples.
  Micros quantile(double share) const;
  Micros max() const { return max_; }

 private:
  static constexpr std::size_t bucket_count = 464;
  static std::size_t bucket_of(std::int64_t us);
  static std::int64_t upper_of(std::size_t bucket);

  std::array<std::uint32_t, bucket_count> buckets_{};
  std::uint64_t count_ = 0;
  Micros max_{0};
};

}  // namespace ashlar::client_sim
