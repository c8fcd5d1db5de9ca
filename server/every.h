#pragma once
#include <chrono>

namespace ashlar::server {

/// Something to be done in an interval. After a stall it is done once, not once for each time it was missed.
class Every {
 public:
  using Micros = std::chrono::microseconds;

  /// @param period  above 0
  Every(Micros first, Micros period) : next_(first), period_(period) {}

  /// Is it time? Then the next time is a period later, or from now on when that is past, too.
  bool due(Micros now) {
    if (now < next_) return false;
    next_ += period_;
    if (next_ <= now) next_ = now + period_;
    return true;
  }

 private:
  Micros next_, period_;
};

}  // namespace ashlar::server
