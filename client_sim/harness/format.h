#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

namespace ashlar::client_sim {

/// As printf() writes it; what is longer than 511 bytes is cut off.
template <class... Values>
std::string format(const char* pattern, Values... values) {
  char buffer[512];
  const int size = std::snprintf(buffer, sizeof buffer, pattern, values...);
  return {buffer, static_cast<std::size_t>(std::clamp(size, 0, static_cast<int>(sizeof buffer) - 1))};
}

}  // namespace ashlar::client_sim
