#pragma once
#include <cstddef>
#include <cstdint>

namespace ashlar {

/// Asks the processor for memory that is needed a microsecond from now; changes nothing. For walks over what
/// lies far apart, where each step would wait for the one before.
/// @param bytes  from `at` on
inline void prefetch(const void* at, std::size_t bytes) {
  constexpr std::size_t line_bytes = 64;
  if (bytes == 0) return;
  const auto* const first = static_cast<const char*>(at);
  // Of what begins within a line the end is in one more.
  bytes += reinterpret_cast<std::uintptr_t>(first) % line_bytes;
  const char* const line = first - reinterpret_cast<std::uintptr_t>(first) % line_bytes;
  for (std::size_t off = 0; off < bytes; off += line_bytes) __builtin_prefetch(line + off);
}

}  // namespace ashlar
