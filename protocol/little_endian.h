#pragma once
#include <cstddef>
#include <cstdint>

namespace ashlar {

/// Unsigned numbers, lowest byte first. The caller sees to the room.
template <class T>
void put_little(std::uint8_t* out, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) out[i] = static_cast<std::uint8_t>(value >> (8 * i));
}

/// The caller sees to sizeof(T) bytes.
template <class T>
T get_little(const std::uint8_t* in) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value = static_cast<T>(value | static_cast<T>(static_cast<T>(in[i]) << (8 * i)));
  return value;
}

}  // namespace ashlar
