#pragma once
#include <cstddef>
#include <cstdint>

namespace ashlar {

/// Asks the processor for memory that is needed a microsecond from now; changes nothing. For walks over what
/// lies far apart, where each step would wait for the one before.
/// @param bytes  from `at` on
[[gnu::always_inline]] inline void prefetch(const void* at, std::size_t bytes) {
  constexpr std::size_t line_bytes = 64;
  // To GCC a function that only asks for memory has no effect, and it leaves out the calls: this has one.
  __asm__ volatile("");
  if (bytes == 0) return;
  const auto* const first = static_cast<const char*>(at);
  // What begins within a line ends in one more.
  const std::size_t before = reinterpret_cast<std::uintptr_t>(first) % line_bytes;
  for (std::size_t off = 0; off < before + bytes; off += line_bytes) __builtin_prefetch(first - before + off);
}

/// The same from one member of an object to another behind it, which is not asked for.
[[gnu::always_inline]] inline void prefetch_until(const void* from, const void* until) {
  prefetch(from, static_cast<std::size_t>(static_cast<const char*>(until) - static_cast<const char*>(from)));
}

}  // namespace ashlar
