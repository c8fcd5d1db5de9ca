#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

// What a fuzz target that plays a whole end has in common with the other.

namespace ashlar::fuzz {

inline void require(bool condition) {
  if (!condition) std::abort();
}

/// Bytes of the input, zeros behind its end.
struct Script {
  const std::uint8_t* data;
  std::size_t size;
  std::uint8_t u8() { return size == 0 ? std::uint8_t{0} : (--size, *data++); }
  std::span<const std::uint8_t> take(std::size_t count) {
    count = std::min(count, size);
    const std::span<const std::uint8_t> taken(data, count);
    data += count, size -= count;
    return taken;
  }
};

}  // namespace ashlar::fuzz
