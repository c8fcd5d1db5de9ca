#include "server/config/zone.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "server/config/values.h"

namespace ashlar::server {

std::expected<ProtectedZone, std::string> parse_zone(std::string_view text) {
  const auto wrong = [&](const std::string& what) {
    return std::unexpected(
        "\"" + std::string(text) + "\" " + what +
        ": give X0,Y0,Z0,X1,Y1,Z1 or X0,Y0,Z0,X1,Y1,Z1=NAME, such as -8,-8,0,8,8,40=spawn");
  };
  const std::size_t equals = text.find('=');
  ProtectedZone zone;
  if (equals != std::string_view::npos) zone.name = text.substr(equals + 1);
  if (const auto good = check_text(zone.name, zone_name_bytes_max); !good)
    return wrong("has a name that " + good.error());
  std::array<std::int32_t, 6> numbers{};
  const std::string_view corners = text.substr(0, equals);
  const char* at = corners.data();
  const char* const end = at + corners.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) {
      if (at == end || *at != ',') return wrong("has no six whole numbers");
      ++at;
    }
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc()) return wrong("has no six whole numbers");
    at = next;
  }
  if (at != end) return wrong("has more than six whole numbers");
  for (const std::int32_t number : numbers)
    if (number < -zone_xy_max || number >= zone_xy_max) return wrong("reaches out of the world");
  zone.box.min = {std::min(numbers[0], numbers[3]), std::min(numbers[1], numbers[4]),
                  std::min(numbers[2], numbers[5])};
  zone.box.max = {std::max(numbers[0], numbers[3]) + 1, std::max(numbers[1], numbers[4]) + 1,
                  std::max(numbers[2], numbers[5]) + 1};
  if (!zone_box_sane(zone.box)) return wrong("reaches out of the world");
  return zone;
}

std::string to_text(const ProtectedZone& zone) {
  const BlockBox& box = zone.box;
  std::string text;
  for (const std::int32_t v : {box.min.x, box.min.y, box.min.z, box.max.x - 1, box.max.y - 1, box.max.z - 1})
    text += (text.empty() ? "" : ",") + std::to_string(v);
  return zone.name.empty() ? text : text + "=" + zone.name;
}

}  // namespace ashlar::server
