#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace ashlar::server {

/// Sorts whole numbers whose upper halves are the bits of floats that are not negative. Of a few dozen
/// distances which one of two is less can hardly be foreseen, and a sort by comparing waits for each of them:
/// they are put into steps of an eighth of a doubling by counting, and the few that share a step are
/// compared. No allocation once grown. Cost: some 5 ns a number where distances are spread over a few
/// doublings.
class MagnitudeSort {
 public:
  void sort(std::span<std::uint64_t> keys);

 private:
  std::vector<std::uint64_t> counted_;  // scratch
};

}  // namespace ashlar::server
