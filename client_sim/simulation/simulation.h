#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include "client_sim/simulation/config.h"

namespace ashlar::simulation {

/// Server and clients in one process on simulated time: plays the match that `config` describes, with every
/// fault in it, and checks what must hold after each tick. The first thing that does not hold ends the run.
/// Needs no clock, socket or disk. Preconditions: the limits in config.h; a tick rate of 10 to 128.
Outcome simulate(const SimulationConfig& config);

/// What shrink_run() came to.
struct ShrunkOutcome {
  std::vector<Fault> faults;  ///< a short list that still breaks the same thing
  std::size_t runs = 0;
  Broken broken;  ///< what the shrunk list breaks
};

/// Looks for a short list of faults that still breaks what `outcome` broke, in at most `runs_max` runs.
/// Each run ends within two seconds of where the first one broke. Precondition: outcome.broken holds
/// (asserted).
ShrunkOutcome shrink_run(const SimulationConfig& config, const Outcome& outcome, std::size_t runs_max);

}  // namespace ashlar::simulation
