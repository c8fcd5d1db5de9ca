#include "server/host/magnitude_sort.h"

#include <algorithm>
#include <array>
#include <bit>

namespace ashlar::server {
namespace {

constexpr std::uint32_t octave_bits = 3;  // steps to a doubling
constexpr std::uint32_t steps = 256;
constexpr std::uint32_t mantissa_bits = 23;
/// What is less than this is in the first step, and what is 2^32 times as much in the last.
constexpr float least_magnitude = 1.0f / 256;
/// Fewer are sooner compared than steps are counted; more may share a step, and comparing all of those would
/// take longer than any sort.
constexpr std::size_t counted_min = 20, counted_max = 128;

std::uint32_t step_of(std::uint64_t key) {
  constexpr std::uint32_t first =
      std::bit_cast<std::uint32_t>(least_magnitude) >> (mantissa_bits - octave_bits);
  const auto at = static_cast<std::uint32_t>(key >> (32 + mantissa_bits - octave_bits));
  return std::min(at < first ? 0 : at - first, steps - 1);
}

}  // namespace

void MagnitudeSort::sort(std::span<std::uint64_t> keys) {
  if (keys.size() < counted_min || keys.size() > counted_max) {
    std::ranges::sort(keys);
    return;
  }
  std::array<std::uint16_t, steps + 1> first{};
  for (const std::uint64_t key : keys) ++first[step_of(key) + 1];
  for (std::size_t i = 1; i < steps; ++i) first[i] = static_cast<std::uint16_t>(first[i] + first[i - 1]);
  counted_.resize(keys.size());
  for (const std::uint64_t key : keys) counted_[first[step_of(key)]++] = key;
  // Most are where they belong by now.
  keys[0] = counted_[0];
  for (std::size_t i = 1; i < keys.size(); ++i) {
    const std::uint64_t key = counted_[i];
    std::size_t at = i;
    for (; at > 0 && keys[at - 1] > key; --at) keys[at] = keys[at - 1];
    keys[at] = key;
  }
}

}  // namespace ashlar::server
