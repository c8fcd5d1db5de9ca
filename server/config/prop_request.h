#pragma once
#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/messages.h"
#include "world/collide/prop.h"

namespace ashlar::server {

/// A static prop to place: `FILE@X,Y[,Z[,YAW[,SCALE[,UP]]]]`, or a [[prop]] table with these keys.
struct PropRequest {
  std::string file;
  DVec2 at_m;
  std::optional<double> z_m;  ///< without: on the ground there
  double yaw_deg = 0;         ///< counter-clockwise
  double scale = 1;
  ModelUp up = ModelUp::y;
  friend bool operator==(const PropRequest&, const PropRequest&) = default;
};

/// Props in one world; what a welcome can name.
inline constexpr std::size_t prop_requests_max = placed_props_max;

/// Empty fields keep their defaults: "crate.obj@4,-2,,90" stands on the ground, turned to the left. The @ is
/// the last one, as files may have one in their names. The reason when it is no prop's.
std::expected<PropRequest, std::string> parse_prop_request(std::string_view text);
/// As short as it reads back the same.
std::string to_text(const PropRequest& prop);

/// The angle in the steps that travel: 1/65536 turn.
Turn16 turn_of_degrees(double degrees);

}  // namespace ashlar::server
