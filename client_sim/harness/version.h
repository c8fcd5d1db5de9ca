#pragma once
#include <string_view>

namespace ashlar::client_sim {

/// "0.1.0": of the build, from the project's CMakeLists.
constexpr std::string_view version() { return ASHLAR_VERSION; }

}  // namespace ashlar::client_sim
