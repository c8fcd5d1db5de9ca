#pragma once
// CPU time of a thread, and the spread of three runs: virtual machines are noisy.
#include <algorithm>
#include <array>
#include <ctime>
#include <functional>

namespace ashlar::bench {

/// CPU time of this thread.
inline double thread_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

/// Of three runs.
struct Spread {
  double low, median, high;
};

/// Seconds a run takes, divided by `per`.
inline Spread measure(const std::function<void()>& run, double per) {
  std::array<double, 3> s{};
  for (double& v : s) {
    const double start = thread_s();
    run();
    v = (thread_s() - start) / per;
  }
  std::sort(s.begin(), s.end());
  return {s[0], s[1], s[2]};
}

}  // namespace ashlar::bench
