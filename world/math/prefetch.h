#pragma once
#include <cstddef>

namespace ashlar {

/// Asks the processor for memory that is needed a microsecond from now; changes nothing. For walks over what
/// lies far apart, where each step would wait for the one before.
/// @param bytes  from `at` on
inline void prefetch(const void* at, std::size_t bytes) {
  constexpr std::size_t line_bytes = 64;
  const auto* const first = static_cast<const char*>(at);
  for (std::size_t off = 0; off < bytes; off += line_bytes) __builtin_prefetch(first + off);
}

}  // namespace ashlar
