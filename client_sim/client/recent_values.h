#pragma once
#include <algorithm>
#include <array>
#include <cstddef>

namespace ashlar::client_sim {

/// The last so many of a row of measured values, and their quantiles. A value takes the place of the oldest:
/// some 20 ns, a quantile costs nothing. A value itself; one thread.
template <std::size_t values_max>
class RecentValues {
 public:
  void clear() { count_ = next_ = 0; }
  std::size_t count() const { return count_; }

  void add(float value) {
    const auto begin = sorted_.begin();
    auto end = begin + static_cast<std::ptrdiff_t>(count_);
    if (count_ == values_max) {
      const auto gone = std::lower_bound(begin, end, ring_[next_]);
      std::copy(gone + 1, end, gone);
      --end;
    } else {
      ++count_;
    }
    const auto at = std::upper_bound(begin, end, value);
    std::copy_backward(at, end, end + 1);
    *at = value;
    ring_[next_] = value;
    next_ = (next_ + 1) % values_max;
  }

  /// The value that a share of them does not exceed. Precondition: there is one.
  float quantile(double share) const {
    return sorted_[static_cast<std::size_t>(share * static_cast<double>(count_ - 1))];
  }

 private:
  std::array<float, values_max> ring_{}, sorted_{};
  std::size_t count_ = 0, next_ = 0;
};

}  // namespace ashlar::client_sim
