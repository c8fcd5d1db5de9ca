#include "server/store/edit_query.h"

#include <array>
#include <charconv>

#include "server/config/moment.h"

namespace ashlar::server {
namespace {

constexpr std::int32_t horizontal_end = 1 << 20, vertical_end = 1 << 12;

bool within(std::int32_t value, std::int32_t end) { return value > -end && value < end; }

}  // namespace

std::expected<EditArea, std::string> parse_edit_area(std::string_view text, std::int32_t radius_m_max) {
  const auto wrong = std::unexpected("give X,Y,R or X,Y,Z,R: a place of the world and at most " +
                                     std::to_string(radius_m_max) + " metres, such as 100,-20,32");
  std::array<std::int32_t, 4> numbers{};
  std::size_t count = 0;
  for (const char *at = text.data(), *end = at + text.size();;) {
    if (count == numbers.size()) return wrong;
    const auto [next, error] = std::from_chars(at, end, numbers[count++]);
    if (error != std::errc()) return wrong;
    if (next == end) break;
    if (*next != ',') return wrong;
    at = next + 1;
  }
  if (count < 3) return wrong;
  const std::int32_t x = numbers[0], y = numbers[1], r = numbers[count - 1];
  const bool good = within(x, horizontal_end) && within(y, horizontal_end) &&
                    (count == 3 || within(numbers[2], vertical_end)) && r >= 0 && r <= radius_m_max;
  if (!good) return wrong;
  EditArea area{{x - r, y - r, -vertical_end}, {x + r, y + r, vertical_end}};
  if (count == 4) area.low.z = numbers[2] - r, area.high.z = numbers[2] + r;
  return area;
}

std::expected<std::int64_t, std::string> parse_past_s(std::string_view text, std::int64_t now_s) {
  if (const auto span = parse_span_s(text)) return now_s - *span;
  auto moment = parse_moment_s(text, now_s);
  if (moment) return moment;
  return std::unexpected("give a span (10m, 2h, 3d) or a time (2030-01-31T12:00:00Z), not " +
                         std::string(text));
}

}  // namespace ashlar::server
