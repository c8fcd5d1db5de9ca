#pragma once

namespace ashlar::simulation {

/// `ashlar-sim simulate`: plays whole matches in this process. argv[0] is the word itself.
/// @return 0 when all held, 1 when something broke, 2 for bad arguments
int simulate_main(int argc, const char* const* argv);

}  // namespace ashlar::simulation
