#include "client_sim/harness/parse.h"

#include <array>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace ashlar::client_sim {
namespace {

/// A finite number that is not negative, and what stands behind it.
std::optional<std::pair<double, std::string_view>> split(std::string_view text) {
  double value = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || !(value >= 0) || value > 1e15) return std::nullopt;
  return std::pair{value, text.substr(static_cast<std::size_t>(stopped - text.data()))};
}

std::unexpected<std::string> no(std::string_view text, const char* understood) {
  return std::unexpected("'" + std::string(text) + "' is not " + understood);
}

}  // namespace

std::expected<Micros, std::string> parse_duration(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> units{
      {{"us", 1}, {"ms", 1e3}, {"s", 1e6}, {"", 1e6}, {"m", 60e6}, {"h", 3600e6}}};
  constexpr double week_us = 7 * 24 * 3600e6;
  constexpr const char* understood = "a duration; write it like 30s, 500ms, 2m or 1h, up to a week";
  const auto parts = split(text);
  if (!parts) return no(text, understood);
  for (const auto& [unit, us] : units)
    if (parts->second == unit && parts->first * us <= week_us)
      return Micros{static_cast<std::int64_t>(parts->first * us + 0.5)};
  return no(text, understood);
}

std::expected<double, std::string> parse_share(std::string_view text) {
  constexpr const char* understood = "a share; write it like 2% or 0.02, between 0 and 1";
  const auto parts = split(text);
  if (!parts || (parts->second != "%" && !parts->second.empty())) return no(text, understood);
  const double share = parts->second == "%" ? parts->first / 100 : parts->first;
  if (share > 1) return no(text, understood);
  return share;
}

std::expected<std::uint64_t, std::string> parse_rate(std::string_view text) {
  constexpr const char* understood = "a rate; write bytes a second like 9600, 200k or 1.5M";
  const auto parts = split(text);
  if (!parts) return no(text, understood);
  double scale = 1;
  if (parts->second == "k")
    scale = 1e3;
  else if (parts->second == "M")
    scale = 1e6;
  else if (!parts->second.empty())
    return no(text, understood);
  const double rate = parts->first * scale;
  if (rate > 1e10 || (rate > 0 && rate < 1)) return no(text, understood);
  return static_cast<std::uint64_t>(rate);
}

std::string check_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [stopped, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  const bool good = error == std::errc{} && stopped == text.data() + text.size();
  return good ? "" : "'" + text + "' is not a seed; write a whole number of 0 to 18446744073709551615";
}

}  // namespace ashlar::client_sim
