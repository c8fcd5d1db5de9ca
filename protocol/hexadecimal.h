#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ashlar {

inline constexpr std::string_view hexadecimal_digits = "0123456789abcdef";

/// Two digits a byte, in small letters.
inline std::string hexadecimal(std::span<const std::uint8_t> bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const std::uint8_t byte : bytes) {
    out += hexadecimal_digits[byte >> 4];
    out += hexadecimal_digits[byte & 15];
  }
  return out;
}

}  // namespace ashlar
