#pragma once
#include "world/sim/game.h"

namespace ashlar::server {

/// All of ashlar-server, for a program's main(): takes the command line apart and hands over. The first word
/// may be a command: run, which is also what none means, key, token or world. Every failure is one line and
/// exit code 2; a health check that fails, and a world that is damaged, is 1.
/// @param game  makes the rules of play of each world, instead of those of --mode, as serve() has it
/// @return the exit code
int run_server(int argc, char** argv, const MakeGame& game = {});

}  // namespace ashlar::server
