#pragma once
#include <string>

#include "world/sim/kinds.h"

namespace ashlar::simulation {

/// "0x00100003" or "1048579": an entity's id as logs, findings and snapshots show it. @return false: it is
/// none
bool read_entity(const std::string& text, EntityId& out);

/// `ashlar-sim replay`: plays a recorded match again and compares every tick's hash. argv[0] is the word
/// itself.
/// @return 0 when every hash agrees, 1 when one does not, 2 for bad arguments and recordings that cannot be
/// read
int replay_main(int argc, const char* const* argv);

}  // namespace ashlar::simulation
