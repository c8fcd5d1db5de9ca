#include "protocol/text.h"

namespace ashlar {
namespace {

struct Range {
  std::uint32_t first, last;
};

/// Unicode 15.1, DerivedCoreProperties: Default_Ignorable_Code_Point, which holds Bidi_Control, the fillers
/// and the variation selectors; and of general category Cf what is not drawn either (13430, FFF9).
constexpr Range not_drawn[] = {{0xad, 0xad},       {0x34f, 0x34f},    {0x61c, 0x61c},     {0x115f, 0x1160},
                               {0x17b4, 0x17b5},   {0x180b, 0x180f},  {0x200b, 0x200f},   {0x202a, 0x202e},
                               {0x2060, 0x206f},   {0x3164, 0x3164},  {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
                               {0xffa0, 0xffa0},   {0xfff0, 0xfffb},  {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
                               {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};

/// Drawn as nothing: every space (general category Zs) but U+0020, and letters and signs that are empty.
constexpr Range blank[] = {{0xa0, 0xa0},     {0x1680, 0x1680},   {0x2000, 0x200a},
                           {0x202f, 0x202f}, {0x205f, 0x205f},   {0x2800, 0x2800},
                           {0x3000, 0x3000}, {0x16fe4, 0x16fe4}, {0x1d159, 0x1d159}};

template <std::size_t count>
constexpr bool among(std::uint32_t c, const Range (&ranges)[count]) {
  for (const Range& range : ranges)
    if (c >= range.first && c <= range.last) return true;
  return false;
}

bool is_printable(std::uint32_t c) {
  const auto in = [c](std::uint32_t low, std::uint32_t high) { return c >= low && c <= high; };
  const bool control = c < 0x20 || in(0x7f, 0x9f);
  const bool separator = in(0x2028, 0x2029);
  // A variation selector chooses the picture of the sign before it: emoji and Mongolian cannot do without.
  const bool selector = in(0xfe00, 0xfe0f) || in(0x180b, 0x180d) || c == 0x180f;
  const bool noncharacter = (c & 0xfffe) == 0xfffe || in(0xfdd0, 0xfdef);
  return !control && !separator && !noncharacter && (selector || !among(c, not_drawn));
}

/// Two names must not look alike because of what cannot be seen, and none may look like nobody.
bool fits_name(std::uint32_t c) { return is_printable(c) && !among(c, not_drawn) && !among(c, blank); }

}  // namespace

CodePoint first_code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  if (text.empty()) return {};
  const std::uint32_t b = byte(0);
  if (b < 0x80) return {b, 1};
  if (b < 0xc2 || b > 0xf4) return {};  // a tail byte, an overlong pair, or above U+10FFFF
  if (!tail(1)) return {};
  if (b < 0xe0) return {(b & 0x1f) << 6 | (byte(1) & 0x3f), 2};
  if (!tail(2)) return {};
  if (b < 0xf0) {
    const std::uint32_t v = (b & 0x0f) << 12 | (byte(1) & 0x3f) << 6 | (byte(2) & 0x3f);
    const bool surrogate = v >= 0xd800 && v <= 0xdfff;
    return v < 0x800 || surrogate ? CodePoint{} : CodePoint{v, 3};
  }
  if (!tail(3)) return {};
  const std::uint32_t v =
      (b & 0x07) << 18 | (byte(1) & 0x3f) << 12 | (byte(2) & 0x3f) << 6 | (byte(3) & 0x3f);
  return v < 0x10000 || v > 0x10ffff ? CodePoint{} : CodePoint{v, 4};
}

std::size_t printable_length(std::string_view text) {
  std::size_t count = 0;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.length == 0 || !is_printable(c.value)) return std::string_view::npos;
    text.remove_prefix(c.length);
    ++count;
  }
  return count;
}

bool valid_player_name(std::string_view text) {
  if (text.size() > 4 * player_name_chars_max) return false;
  const std::size_t count = printable_length(text);
  if (count == std::string_view::npos || count < 1 || count > player_name_chars_max) return false;
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint c = first_code_point(rest);
    if (!fits_name(c.value)) return false;
    rest.remove_prefix(c.length);
  }
  return text.front() != ' ' && text.back() != ' ';
}

bool valid_text(std::string_view text, std::size_t bytes_min, std::size_t bytes_max) {
  return text.size() >= bytes_min && text.size() <= bytes_max &&
         printable_length(text) != std::string_view::npos;
}

std::optional<std::string> shown_text(std::string_view text, std::size_t bytes_min, std::size_t bytes_max) {
  if (text.size() < bytes_min || text.size() > bytes_max) return std::nullopt;
  std::string out;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    if (c.length == 0) return std::nullopt;
    if (is_printable(c.value))
      out.append(text.substr(0, c.length));
    else if (!among(c.value, not_drawn))
      out.push_back('?');
    text.remove_prefix(c.length);
  }
  return out;
}

std::string make_printable(std::string_view text, std::size_t bytes_max) {
  std::string out;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const bool good = c.length != 0 && is_printable(c.value);
    const std::size_t length = c.length == 0 ? 1 : c.length;
    if (out.size() + (good ? length : 1) > bytes_max) break;
    if (good)
      out.append(text.substr(0, length));
    else
      out.push_back('?');
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace ashlar
