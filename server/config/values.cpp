#include "server/config/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "protocol/text.h"
#include "server/config/settings.h"
#include "world/math/ascii.h"

namespace ashlar::server {
namespace {

constexpr std::int64_t duration_ms_max = 1000LL * 3600 * 1000;

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string bounds(const std::string& low, const std::string& high) {
  return " is out of range: give " + low + " to " + high;
}

/// Edits (insert, delete, replace, swap of neighbours) from one name to the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  std::iota(d[0].begin(), d[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = d[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == '-' && out.empty()) continue;  // a flag's dashes
    out += c == '-' ? '_' : lower_ascii(c);
  }
  return out;
}

}  // namespace

std::expected<std::uint64_t, std::string> parse_whole(std::string_view text, std::uint64_t low,
                                                      std::uint64_t high) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() ||
      !std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; }))
    return std::unexpected(quoted(text) + " is not a whole number: give " + std::to_string(low) + " to " +
                           std::to_string(high));
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < low || value > high)
    return std::unexpected(std::string(text) + bounds(std::to_string(low), std::to_string(high)));
  return value;
}

std::expected<double, std::string> parse_real(std::string_view text, double low, double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || end != text.data() + text.size() ||
      (error != std::errc{} && error != std::errc::result_out_of_range))
    return std::unexpected(quoted(text) + " is not a number: give " + real_text(low) + " to " +
                           real_text(high));
  if (error != std::errc{} || !std::isfinite(value) || value < low || value > high)
    return std::unexpected(std::string(text) + bounds(real_text(low), real_text(high)));
  return value;
}

std::string real_text(double value) {
  char text[32];
  const auto result = std::to_chars(text, text + sizeof text, value);
  return {text, result.ptr};
}

std::expected<void, std::string> check_text(std::string_view text, std::size_t bytes_max) {
  if (text.size() > bytes_max)
    return std::unexpected("is " + std::to_string(text.size()) + " bytes long: give at most " +
                           std::to_string(bytes_max));
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) return std::unexpected("holds a control character: leave it out");
  }
  if (!text.empty() && printable_length(text) == std::string_view::npos)
    return std::unexpected("holds what is not printable UTF-8: leave it out");
  return {};
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

std::string nearest_name(std::string_view wrong, std::span<const std::string> names) {
  if (wrong.size() > 64) return {};
  const std::string key = folded(wrong);
  std::string best;
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  for (const std::string& name : names) {
    const std::string other = folded(name);
    std::size_t distance = edit_distance(key, other);
    // "clients" for "max_clients": a word that was left out counts as one edit.
    const bool part =
        key.size() >= 4 && (other.find(key) != std::string::npos || key.find(other) != std::string::npos);
    if (part) distance = std::min<std::size_t>(distance, 2);
    if (distance < best_distance) best = name, best_distance = distance;
  }
  const std::size_t near = std::max<std::size_t>(1, key.size() / 3);
  return best_distance <= std::min<std::size_t>(near, 3) ? best : std::string();
}

std::expected<MapRequest, std::string> parse_map_request(std::string_view text) {
  const auto wrong = [&](const char* what) {
    return std::unexpected(quoted(text) + " " + what + ": give NAME or NAME@X,Y, such as MAP01@100,-200");
  };
  MapRequest map;
  const std::size_t at = text.find('@');
  map.name = text.substr(0, at);
  if (map.name.empty()) return wrong("names no map");
  if (map.name.size() > map_name_bytes_max) return wrong("has a name longer than 16 characters");
  for (const char c : map.name)
    if (c <= 0x20 || c == 0x7f || c == ',') return wrong("has a name with a character that no map's has");
  if (at == std::string_view::npos) return map;

  const std::string_view place = text.substr(at + 1);
  const std::size_t comma = place.find(',');
  if (comma == std::string_view::npos) return wrong("has no X,Y after the @");
  IVec2 block{};
  const auto number = [](std::string_view digits, std::int32_t& value) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return error == std::errc{} && end == digits.data() + digits.size() && !digits.empty();
  };
  if (!number(place.substr(0, comma), block.x) || !number(place.substr(comma + 1), block.y))
    return wrong("has no two whole numbers after the @");
  // Room for the map itself is checked when it is placed.
  const auto extent = static_cast<std::int32_t>(world_extent_m);
  if (block.x <= -extent || block.x >= extent || block.y <= -extent || block.y >= extent)
    return wrong("lies outside the world");
  map.at = block;
  return map;
}

std::string to_text(const MapRequest& map) {
  if (!map.at) return map.name;
  return map.name + "@" + std::to_string(map.at->x) + "," + std::to_string(map.at->y);
}

std::expected<std::chrono::milliseconds, std::string> parse_duration(std::string_view text) {
  const auto wrong = [&] {
    return std::unexpected(quoted(text) + " is no time: give such as 30s, 5m, 1h30m or 250ms, at most 1000h");
  };
  std::int64_t total_ms = 0;
  std::string_view rest = text;
  if (rest.empty()) return wrong();
  while (!rest.empty()) {
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (error != std::errc{}) return wrong();
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    std::int64_t unit_ms = 0;
    if (rest.starts_with("ms"))
      unit_ms = 1, rest.remove_prefix(2);
    else if (rest.starts_with('s') || (rest.empty() && total_ms == 0))
      unit_ms = 1000;
    else if (rest.starts_with('m'))
      unit_ms = 60 * 1000;
    else if (rest.starts_with('h'))
      unit_ms = 3600 * 1000;
    else
      return wrong();
    if (unit_ms >= 1000 && !rest.empty()) rest.remove_prefix(1);
    total_ms += count * unit_ms;
    if (total_ms > duration_ms_max) return wrong();
  }
  return std::chrono::milliseconds(total_ms);
}

std::string to_text(std::chrono::milliseconds duration) {
  const std::int64_t ms = duration.count();
  if (ms % 1000 != 0) return std::to_string(ms) + "ms";
  if (ms != 0 && ms % 3600000 == 0) return std::to_string(ms / 3600000) + "h";
  if (ms != 0 && ms % 60000 == 0) return std::to_string(ms / 60000) + "m";
  return std::to_string(ms / 1000) + "s";
}

}  // namespace ashlar::server
