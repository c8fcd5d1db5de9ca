#pragma once

#include <vector>

#include "server/config/settings.h"

namespace ashlar::server {

/// The rows of what stands in the world, without their group: WADs, maps and their rotation, props, protected
/// zones.
std::vector<Setting> content_settings();

}  // namespace ashlar::server
