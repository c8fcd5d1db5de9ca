#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

namespace ashlar::server {

/// A settings file as its TOML parser gets to see it: every byte beyond ASCII is "~" and two hexadecimal
/// digits, and so is every "~". Lines stay where they are; where TOML allows ASCII alone, a "~" is as wrong
/// as what it stands for.
///
/// toml++ 3.3 asks of characters whether they are white space by a function that is undefined for most of
/// them beyond ASCII, within quotes (after a backslash at a line's end) as well as outside.
/// @return or the line, from 1, of the first byte that is not UTF-8. A byte order mark in front is left out
std::expected<std::string, std::uint32_t> to_ascii(std::string_view text);

/// Back again, for each text and key by itself. (A file that spells "~" as \u007E in front of two hexadecimal
/// digits gets the byte that they name: the price of leaving the quotes to the parser.)
std::string from_ascii(std::string_view armoured);

/// Whether this line, from 1, has a byte beyond ASCII.
bool beyond_ascii(std::string_view text, std::uint32_t line);

}  // namespace ashlar::server
