#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

// The TOML parser as every source that reads TOML includes it, so that all of them have the same one.
//
// It asserts in places that a broken text reaches ("[[[" in toml++ 3.3), and with NDEBUG makes promises to
// the compiler of them. Here each is an exception, and the text is refused like any other that is wrong. To
// be included before anything that includes the parser, and by few sources: it takes seconds to compile.

namespace ashlar {
/// Thrown where the parser asserts.
struct TomlAssertion {};
constexpr void require_of_toml_parser(bool holds) {
  if (!holds) throw TomlAssertion{};
}
}  // namespace ashlar
#undef NDEBUG
#define TOML_HEADER_ONLY 1
#define TOML_ASSERT(expression) ashlar::require_of_toml_parser(static_cast<bool>(expression))
#include <toml++/toml.h>

namespace ashlar {

/// What the parser complains of.
struct TomlError {
  std::uint32_t line;
  std::string what;
};

/// Does the parser come to one of its assertions in this text?
inline bool breaks_toml_parser(std::string_view text) {
  try {
    (void)toml::parse(text);
  } catch (const toml::parse_error&) {
    return false;
  } catch (const TomlAssertion&) {
    return true;
  }
  return false;
}

/// The line at which it does. It reads from front to back and tells no place, so the lines are halved until
/// one is left. Precondition: breaks_toml_parser(text).
inline std::uint32_t line_that_breaks(std::string_view text) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') ends.push_back(i + 1);
  ends.push_back(text.size());
  std::size_t low = 0, high = ends.size() - 1;
  while (low < high) {
    const std::size_t middle = (low + high) / 2;
    if (breaks_toml_parser(text.substr(0, ends[middle])))
      high = middle;
    else
      low = middle + 1;
  }
  return static_cast<std::uint32_t>(low + 1);
}

/// @param text  ASCII: the parser's tables for other letters are at odds with some compilers
/// @param name  of the file
inline std::expected<toml::table, TomlError> parse_toml(std::string_view text, std::string_view name) {
  try {
    return toml::parse(text, name);
  } catch (const toml::parse_error& error) {
    return std::unexpected(TomlError{error.source().begin.line, std::string(error.description())});
  } catch (const TomlAssertion&) {
    return std::unexpected(TomlError{line_that_breaks(text), "its brackets or quotes do not match"});
  }
}

/// What some editors begin files with.
inline std::string_view without_utf8_mark(std::string_view text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.remove_prefix(mark.size());
  return text;
}

/// What is said of the line that line_beyond_ascii() names.
inline constexpr const char* letters_refused =
    "has a letter beyond ASCII, which only comments may have: write names with the letters a to z";

/// The first line with a letter beyond ASCII outside its comment; 0: there is none.
inline std::uint32_t line_beyond_ascii(std::string_view text) {
  text = without_utf8_mark(text);
  std::uint32_t line = 1;
  bool comment = false;
  std::string_view quotes;  // that end the text that it is in; empty: it is in none
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 128 && !comment) return line;
    if (c == '\n') {
      ++line;
      comment = false;
      if (quotes.size() == 1) quotes = {};
    } else if (comment) {
      continue;
    } else if (!quotes.empty()) {
      if (c == '\\' && quotes.front() == '"' && i + 1 < text.size() && text[i + 1] != '\n')
        i += static_cast<unsigned char>(text[i + 1]) < 128 ? 1 : 0;
      else if (text.substr(i).starts_with(quotes)) {
        i += quotes.size() - 1;
        // Over several lines up to two quotes may stand before those that end it: """a"""" is a".
        for (int more = 0; more < 2 && quotes.size() == 3 && text.substr(i + 1).starts_with(quotes[0]);
             ++more)
          ++i;
        quotes = {};
      }
    } else if (c == '"' || c == '\'') {
      const std::string_view three = text.substr(i, 3);
      quotes = three == "\"\"\"" || three == "'''" ? three : three.substr(0, 1);
      i += quotes.size() - 1;
    } else {
      comment = c == '#';
    }
  }
  return 0;
}

/// The text with a question mark for each byte of a letter beyond ASCII, for those in comments.
inline std::string ascii_only(std::string_view text) {
  text = without_utf8_mark(text);
  std::string out(text);
  for (char& c : out)
    if (static_cast<unsigned char>(c) >= 128) c = '?';
  return out;
}

}  // namespace ashlar
