#include "client_sim/client/histogram.h"

#include <algorithm>

namespace ashlar::client_sim {
namespace {

/// Upper bounds of the buckets, each about a twentieth above the last and at least 1 us.
template <std::size_t N>
constexpr std::array<std::int64_t, N> make_bounds() {
  std::array<std::int64_t, N> bounds{};
  std::int64_t bound = 1;
  for (auto& b : bounds) {
    b = bound;
    bound += std::max<std::int64_t>(1, bound / 20);
  }
  return bounds;
}

}  // namespace

std::int64_t Histogram::upper_of(std::size_t bucket) {
  static constexpr auto bounds = make_bounds<bucket_count>();
  static_assert(bounds.back() > 3'600'000'000);
  return bounds[bucket];
}

std::size_t Histogram::bucket_of(std::int64_t us) {
  std::size_t low = 0;
  std::size_t high = bucket_count - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (upper_of(middle) < us)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void Histogram::add(Micros value) {
  ++buckets_[bucket_of(value.count())];
  ++count_;
  max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < bucket_count; ++i) buckets_[i] += other.buckets_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
}

Micros Histogram::quantile(double share) const {
  if (count_ == 0) return Micros{0};
  const double wanted = share * static_cast<double>(count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < bucket_count; ++i) {
    seen += buckets_[i];
    if (buckets_[i] > 0 && static_cast<double>(seen) >= wanted) return std::min(Micros{upper_of(i)}, max_);
  }
  return max_;
}

}  // namespace ashlar::client_sim
