#include "server/config/moment.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>

namespace ashlar::server {
namespace {

constexpr std::int64_t day_s = 24 * 3600;
constexpr std::int64_t span_s_max = 3660 * day_s;
constexpr std::int64_t unix_s_end = 253'402'300'800;  // the year 10000

struct TimeUnit {
  char letter;
  std::int64_t seconds;
};
constexpr std::array<TimeUnit, 4> time_units{{{'d', day_s}, {'h', 3600}, {'m', 60}, {'s', 1}}};

/// The number that `text` is whole; -1: it is none.
int digits(std::string_view text) {
  int value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool plain = text.find_first_not_of("0123456789") == std::string_view::npos;
  return plain && error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

}  // namespace

std::int64_t parse_utc_s(std::string_view text) {
  if (text.size() != 20 || text[4] != '-' || text[7] != '-' || text[10] != 'T' || text[13] != ':' ||
      text[16] != ':' || text[19] != 'Z')
    return -1;
  const int year = digits(text.substr(0, 4)), month = digits(text.substr(5, 2)),
            day = digits(text.substr(8, 2));
  const int hour = digits(text.substr(11, 2)), minute = digits(text.substr(14, 2)),
            second = digits(text.substr(17, 2));
  if (year < 1970 || month < 1 || day < 1 || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 59)
    return -1;
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return -1;
  return std::chrono::sys_days{date}.time_since_epoch().count() * day_s + hour * 3600 + minute * 60 + second;
}

std::expected<std::int64_t, std::string> parse_span_s(std::string_view text) {
  const auto wrong = [&] {
    return std::unexpected("\"" + std::string(text) +
                           "\" is no time: give such as 10m, 2h30m or 30d, at most 3660d");
  };
  std::string_view rest = text;
  if (rest.empty()) return wrong();
  std::int64_t total_s = 0;
  while (!rest.empty()) {
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (error != std::errc{}) return wrong();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    std::int64_t unit_s = rest.empty() && total_s == 0 ? 1 : 0;
    for (const TimeUnit& unit : time_units)
      if (rest.starts_with(unit.letter)) unit_s = unit.seconds;
    if (unit_s == 0) return wrong();
    if (!rest.empty()) rest.remove_prefix(1);
    total_s += count * unit_s;
    if (total_s > span_s_max) return wrong();
  }
  return total_s;
}

std::expected<std::int64_t, std::string> parse_moment_s(std::string_view text, std::int64_t now_s,
                                                        std::string_view most) {
  if (const std::int64_t utc_s = parse_utc_s(text); utc_s >= 0) return utc_s;
  const auto span_s = parse_span_s(text);
  if (!span_s)
    return std::unexpected("\"" + std::string(text) +
                           "\" is no time: give one from now on such as 10m, 2h30m or 30d, " +
                           std::string(most) + ", or one like 2030-01-31T12:00:00Z");
  return now_s + *span_s;
}

std::string moment_text(std::int64_t unix_s) {
  if (unix_s < 0 || unix_s >= unix_s_end) return std::to_string(unix_s) + " (Unix time)";
  const std::chrono::sys_seconds moment{std::chrono::seconds{unix_s}};
  const auto days = std::chrono::floor<std::chrono::days>(moment);
  const std::chrono::year_month_day date{days};
  const std::int64_t second = (moment - days).count();
  char text[40];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(second / 3600), static_cast<int>(second / 60 % 60),
                static_cast<int>(second % 60));
  return text;
}

std::string span_text(std::int64_t span_s) {
  std::string out;
  int parts = 0;
  for (const TimeUnit& unit : time_units) {
    const std::int64_t count = span_s / unit.seconds;
    if (count > 0) out += (out.empty() ? "" : " ") + std::to_string(count) + unit.letter, ++parts;
    span_s %= unit.seconds;
    if (parts == 2) break;
  }
  return out.empty() ? "0s" : out;
}

}  // namespace ashlar::server
