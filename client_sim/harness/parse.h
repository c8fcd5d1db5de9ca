#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "client_sim/client/histogram.h"

namespace ashlar::client_sim {

/// "500us", "20ms", "30s", "2m", "1h"; a number alone is seconds. At most a week.
/// @return or one line that names the text and what is understood
std::expected<Micros, std::string> parse_duration(std::string_view text);

/// "2%" or "0.02": a share in [0, 1].
std::expected<double, std::string> parse_share(std::string_view text);

/// "200k", "1.5M", "9600": bytes a second, k and M by thousands.
std::expected<std::uint64_t, std::string> parse_rate(std::string_view text);

/// What is wrong with the text of a seed, 0 to 2^64 - 1; empty: nothing. (A parser of flags would take -1 for
/// the largest.)
std::string check_seed(const std::string& text);

}  // namespace ashlar::client_sim
