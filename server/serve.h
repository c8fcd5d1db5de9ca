#pragma once
#include <expected>
#include <string>

#include "server/config/load.h"
#include "world/sim/game.h"

namespace ashlar::server {

/// Starts (startup.h) and runs the server until a signal or its time is up. What can fail quickly fails
/// before a line is logged, everything else before anything of it stays on the disk.
/// @param game  makes the rules of play of each world, instead of those of the mode, which still says what of
/// the maps' things lies there; called on other threads too where maps rotate. Empty: the mode's
/// @return or one line why it did not start
std::expected<void, std::string> serve(const CommandLine& line, const LoadedConfig& loaded,
                                       const MakeGame& game = {});

/// --check-config: starts as serve() does and lets go of it again, without a trace.
/// @return what would run, in one line, or why it would not start
std::expected<std::string, std::string> check(const LoadedConfig& loaded, const MakeGame& game = {});

/// The address that --health asks when none is given: the port and, where one is set, the address of this
/// configuration; else the loopback.
std::string health_address(const Config& config);

}  // namespace ashlar::server
