#pragma once
#include <string>
#include <string_view>

// Case of names in files and settings: ASCII alone, whatever the locale says.

namespace ashlar {

/// A to Z become a to z; every other byte stays.
constexpr char lower_ascii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
/// a to z become A to Z; every other byte stays.
constexpr char upper_ascii(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

/// The same for each byte of a copy: what is beyond ASCII, as of UTF-8, stays.
inline std::string lower_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = lower_ascii(c);
  return out;
}
/// Likewise.
inline std::string upper_ascii(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = upper_ascii(c);
  return out;
}

}  // namespace ashlar
