#pragma once
#include <expected>
#include <string>
#include <string_view>

#include "world/sim/protected_zone.h"

namespace ashlar::server {

/// `X0,Y0,Z0,X1,Y1,Z1[=NAME]`: from one corner block to the other, both of them in the zone, in any order.
/// @return the reason when it is no zone's
std::expected<ProtectedZone, std::string> parse_zone(std::string_view text);
std::string to_text(const ProtectedZone& zone);

}  // namespace ashlar::server
