#pragma once
#include <string>

#include "client_sim/simulation/watch.h"

namespace ashlar::simulation {

/// What is seen of a match at its present tick, one line for people. Of nobody: that nobody is there.
/// @param heard  since the last line, shots included
std::string line_of(const WatchedMatch& match, const WatchedMatch::Heard& heard = {});

/// The same as a picture from above, 48 m wide: ground by its height, lines of maps, who is where and looks
/// where, shots of the tick. Cost: some milliseconds. Precondition: somebody is followed.
std::string picture_of(const WatchedMatch& match, const WatchedMatch::Heard& heard = {});

}  // namespace ashlar::simulation
