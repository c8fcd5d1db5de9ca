#pragma once
#include <string>

namespace ashlar::server {

/// "0.1.0": of the build, from the project's CMakeLists.
std::string version();

/// What --version prints: name, version, protocol, compiler.
std::string version_text();

}  // namespace ashlar::server
