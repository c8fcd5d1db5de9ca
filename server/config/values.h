#pragma once
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "protocol/messages.h"

// Texts of values to values. Each error is the part of a line that says what is wrong and what would do.

namespace ashlar::server {

/// Maps in one world; as many as a welcome message can name.
inline constexpr std::size_t map_requests_max = placed_maps_max;

/// Decimal digits alone, from low to high, both included. Negative ones are out of range.
std::expected<std::uint64_t, std::string> parse_whole(std::string_view text, std::uint64_t low,
                                                      std::uint64_t high);

/// Finite only, from low to high; "0.5" or "5e-1".
std::expected<double, std::string> parse_real(std::string_view text, double low, double high);

/// The shortest text that reads back as the same number.
std::string real_text(double value);

/// At most `bytes_max` bytes of UTF-8 without control characters: it ends up in logs and messages.
std::expected<void, std::string> check_text(std::string_view text, std::size_t bytes_max);

/// The text with control characters replaced by '?': errors repeat what was typed and stay one line.
std::string one_line(std::string text);

}  // namespace ashlar::server
