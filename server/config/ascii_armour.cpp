#include "server/config/ascii_armour.h"

#include <algorithm>

#include "protocol/text.h"

namespace ashlar::server {
namespace {

constexpr std::string_view hex_digits = "0123456789ABCDEF";
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

bool is_beyond(char c) { return static_cast<unsigned char>(c) >= 0x80; }

void append_armoured(std::string& out, char c) {
  const auto byte = static_cast<unsigned char>(c);
  out += {'~', hex_digits[byte >> 4], hex_digits[byte & 15]};
}

}  // namespace

std::expected<std::string, std::uint32_t> to_ascii(std::string_view text) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::string out;
  out.reserve(text.size());
  std::uint32_t line = 1;
  while (!text.empty()) {
    const std::size_t length = first_code_point(text).length;
    if (length == 0) return std::unexpected(line);
    const char c = text[0];
    if (c == '\n') ++line;
    if (length == 1 && c != '~')
      out += c;
    else
      for (const char part : text.substr(0, length)) append_armoured(out, part);
    text.remove_prefix(length);
  }
  return out;
}

std::string from_ascii(std::string_view armoured) {
  std::string out;
  out.reserve(armoured.size());
  for (std::size_t i = 0; i < armoured.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return at < armoured.size() ? hex_digits.find(armoured[at]) : std::string_view::npos;
    };
    const std::size_t high = digit(i + 1);
    const std::size_t low = digit(i + 2);
    if (armoured[i] != '~' || high == std::string_view::npos || low == std::string_view::npos) {
      out += armoured[i];
      continue;
    }
    out += static_cast<char>(high << 4 | low);
    i += 2;
  }
  return out;
}

bool beyond_ascii(std::string_view text, std::uint32_t line) {
  for (; line > 1 && !text.empty(); --line)
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  return std::ranges::any_of(text.substr(0, text.find('\n')), is_beyond);
}

}  // namespace ashlar::server
