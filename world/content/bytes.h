#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace ashlar {

/// Little-endian numbers out of bytes, independent of the machine. Precondition: at + size <= bytes.size().
inline std::uint16_t read_u16(std::span<const std::uint8_t> bytes, std::size_t at) {
  return static_cast<std::uint16_t>(bytes[at] | bytes[at + 1] << 8);
}
inline std::int16_t read_i16(std::span<const std::uint8_t> bytes, std::size_t at) {
  return static_cast<std::int16_t>(read_u16(bytes, at));
}
inline std::uint32_t read_u32(std::span<const std::uint8_t> bytes, std::size_t at) {
  return static_cast<std::uint32_t>(read_u16(bytes, at)) | static_cast<std::uint32_t>(read_u16(bytes, at + 2))
                                                               << 16;
}

}  // namespace ashlar
