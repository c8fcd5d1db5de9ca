#pragma once

namespace ashlar::simulation {

/// `ashlar-sim watch`: what a player of a recorded match saw, as lines or as pictures. Not thread-safe.
/// @return 0 watched to the end; 2 bad arguments, or a recording that cannot be watched
int watch_main(int argc, const char* const* argv);

}  // namespace ashlar::simulation
