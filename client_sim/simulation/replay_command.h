#pragma once

namespace ashlar::simulation {

/// `ashlar-sim replay`: plays a recorded match again and compares every tick's hash. argv[0] is the word
/// itself.
/// @return 0 when every hash agrees, 1 when one does not, 2 for bad arguments and recordings that cannot be
/// read
int replay_main(int argc, const char* const* argv);

}  // namespace ashlar::simulation
