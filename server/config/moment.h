#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

// Times as people write them.

namespace ashlar::server {

/// "10m", "2h30m", "30d", "90s", a number of seconds alone; at most ten years. Seconds.
std::expected<std::int64_t, std::string> parse_span_s(std::string_view text);

/// A UTC time like 2030-01-31T12:00:00Z (from 1970 to 9999) as Unix time in seconds; -1: the text is none.
std::int64_t parse_utc_s(std::string_view text);

/// A span from now on, or a UTC time like 2030-01-31T12:00:00Z (from 1970 to 9999). Unix time in seconds.
/// @param most  what the line that refuses says of the longest span
std::expected<std::int64_t, std::string> parse_moment_s(std::string_view text, std::int64_t now_s,
                                                        std::string_view most = "at most 3660d");

/// "2030-01-31T12:00:00Z"; the number itself where it is of no such year, as foreign bytes may say.
std::string moment_text(std::int64_t unix_s);

/// "1h 5m", the two largest parts of a span of at least 0.
std::string span_text(std::int64_t span_s);

}  // namespace ashlar::server
