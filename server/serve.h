#pragma once
#include <expected>
#include <string>

#include "server/config/load.h"

namespace ashlar::server {

/// Runs the server until a signal or its time is up: content, port, world's folder, world, loop, in this
/// order, so that what can fail fails before anything is made or announced.
/// @return or one line why it did not start
std::expected<void, std::string> serve(const CommandLine& line, const LoadedConfig& loaded);

/// --check-config: everything that serve() would read, without binding, writing or making a world.
/// @return what would run, in one line, or why it would not start
std::expected<std::string, std::string> check(const LoadedConfig& loaded);

/// The address that --health asks when none is given: the port and, where one is set, the address of this
/// configuration; else the loopback.
std::string health_address(const Config& config);

}  // namespace ashlar::server
