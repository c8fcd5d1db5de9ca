#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ashlar {

inline constexpr std::size_t player_name_chars_max = 24;
inline constexpr std::size_t chat_bytes_max = 200;

/// One code point and its length in bytes; length 0: not well formed, or no text.
struct CodePoint {
  std::uint32_t value = 0;
  std::size_t length = 0;
};

/// At the start of the text, as UTF-8: no overlong forms, no surrogates, nothing above U+10FFFF.
/// Source: RFC 3629, section 4, for the well-formed byte sequences.
CodePoint first_code_point(std::string_view text);

/// Number of code points of valid, printable UTF-8; npos otherwise. Overlong forms, surrogates, control
/// characters, line separators, marks that reorder text and what else is never drawn are not printable; of
/// those variation selectors are.
std::size_t printable_length(std::string_view text);

/// A player's name: 1 to 24 code points that are drawn, no variation selector among them, of all blank ones
/// only U+0020, and that at neither end.
bool valid_player_name(std::string_view text);

/// Any other text: printable and between the bounds, in bytes.
bool valid_text(std::string_view text, std::size_t bytes_min, std::size_t bytes_max);

/// Somebody else's line as it is shown: UTF-8 between the bounds is taken, what is never drawn (joiners in
/// emoji and Persian, soft hyphens) left out, and what else is not printable a '?'. Nothing: it is no such
/// text. What is left may be empty.
std::optional<std::string> shown_text(std::string_view text, std::size_t bytes_min, std::size_t bytes_max);

/// The text with what is not printable replaced by '?', cut to bytes_max at a code point's edge: for texts
/// of our own that carry foreign parts (paths, names) into a message that must be valid.
std::string make_printable(std::string_view text, std::size_t bytes_max);

}  // namespace ashlar
