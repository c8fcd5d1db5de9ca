#include "server/config/prop_request.h"

#include <array>
#include <cmath>

#include "server/config/values.h"
#include "world/sim/rules.h"

namespace ashlar::server {
namespace {

constexpr std::size_t file_bytes_max = 4096;
constexpr std::size_t fields_max = 6;

std::string_view base_name(std::string_view file) {
  const std::size_t slash = file.rfind('/');
  return slash == std::string_view::npos ? file : file.substr(slash + 1);
}

}  // namespace

std::expected<PropRequest, std::string> parse_prop_request(std::string_view text) {
  const auto wrong = [&](const std::string& what) {
    return std::unexpected("\"" + std::string(text) + "\" " + what +
                           ": give FILE@X,Y[,Z[,YAW[,SCALE[,y|z]]]], such as crate.obj@4,-2.5");
  };
  PropRequest prop;
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos) return wrong("says no place after an @");
  prop.file = text.substr(0, at);
  if (base_name(prop.file).empty()) return wrong("names no file");
  if (auto good = check_text(prop.file, file_bytes_max); !good)
    return wrong("has a file name that " + good.error());
  if (base_name(prop.file).size() > prop_name_bytes_max)
    return wrong("has a file name longer than " + std::to_string(prop_name_bytes_max) + " bytes");

  std::array<std::string_view, fields_max> fields{};
  std::string_view rest = text.substr(at + 1);
  std::size_t count = 0;
  while (true) {
    if (count == fields_max) return wrong("has more than six values after the @");
    const std::size_t comma = rest.find(',');
    fields[count++] = rest.substr(0, comma);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (fields[0].empty() || fields[1].empty()) return wrong("has no X,Y after the @");
  std::string reason;
  const auto number = [&](std::size_t field, const char* what, double low, double high, double otherwise) {
    if (fields[field].empty()) return otherwise;
    const auto value = parse_real(fields[field], low, high);
    if (!value && reason.empty()) reason = "has a wrong " + std::string(what) + " (" + value.error() + ")";
    return value.value_or(otherwise);
  };
  prop.at_m.x = number(0, "x", -world_extent_m, world_extent_m, 0);
  prop.at_m.y = number(1, "y", -world_extent_m, world_extent_m, 0);
  if (!fields[2].empty()) prop.z_m = number(2, "z", -world_height_m, world_height_m, 0);
  prop.yaw_deg = number(3, "yaw", -360, 360, 0);
  // What travels is a float: the world is made of what clients are told.
  prop.scale = static_cast<float>(number(4, "scale", 0.001, 1000, 1));
  if (!reason.empty()) return wrong(reason);
  if (fields[5] == "z")
    prop.up = ModelUp::z;
  else if (!fields[5].empty() && fields[5] != "y")
    return wrong("has an upward axis that is neither y nor z");
  return prop;
}

std::string to_text(const PropRequest& prop) {
  std::array<std::string, fields_max> fields{real_text(prop.at_m.x), real_text(prop.at_m.y)};
  if (prop.z_m) fields[2] = real_text(*prop.z_m);
  if (prop.yaw_deg != 0) fields[3] = real_text(prop.yaw_deg);
  if (prop.scale != 1) fields[4] = real_text(prop.scale);
  if (prop.up == ModelUp::z) fields[5] = "z";
  std::size_t count = fields_max;
  while (count > 2 && fields[count - 1].empty()) --count;
  std::string text = prop.file + "@";
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : ",") + fields[i];
  return text;
}

Turn16 turn_of_degrees(double degrees) {
  const double turns = degrees / 360;
  return Turn16{static_cast<std::uint16_t>(std::lround((turns - std::floor(turns)) * 65536) & 0xffff)};
}

}  // namespace ashlar::server
