#pragma once
#include <algorithm>
#include <array>
#include <cstddef>

#include "world/math/prefetch.h"

namespace ashlar::client_sim {

/// The last so many of a row of measured values, and their quantiles. A value takes the place of the oldest:
/// some 20 ns, a quantile costs nothing. A value itself; one thread.
template <std::size_t values_max>
class RecentValues {
 public:
  void clear() { count_ = next_ = 0; }
  std::size_t count() const { return count_; }

  /// Before add(), where others ran meanwhile.
  void prefetch() const {
    ashlar::prefetch(&ring_[next_], sizeof(float));
    ashlar::prefetch(sorted_.data(), count_ * sizeof(float));
  }

  void add(float value) {
    float& oldest = ring_[next_];
    next_ = (next_ + 1) % values_max;
    const auto begin = sorted_.begin(), end = begin + static_cast<std::ptrdiff_t>(count_);
    if (count_ == values_max) {
      // Those between both places move up or down by one: few, as a value is like the one that goes.
      if (oldest != value) {
        const auto gone = std::lower_bound(begin, end, oldest), at = std::upper_bound(begin, end, value);
        if (gone < at)
          *std::move(gone + 1, at, gone) = value;
        else
          std::move_backward(at, gone, gone + 1), *at = value;
      }
    } else {
      const auto at = std::upper_bound(begin, end, value);
      std::move_backward(at, end, end + 1);
      *at = value;
      ++count_;
    }
    oldest = value;
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
