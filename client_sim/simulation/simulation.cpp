#include "client_sim/simulation/simulation.h"

#include <algorithm>

#include "client_sim/simulation/match.h"
#include "client_sim/simulation/shrink.h"
#include "world/math/assert.h"

namespace ashlar::simulation {

Outcome simulate(const SimulationConfig& config) {
  ASHLAR_ASSERT(config.clients >= 1 && config.clients <= clients_limit);
  ASHLAR_ASSERT(config.seconds >= 1 && config.seconds <= seconds_limit);
  ASHLAR_ASSERT(config.tick_rate_hz >= 10 && config.tick_rate_hz <= 128);
  ASHLAR_ASSERT(config.snapshot_every_ticks >= 1 && config.snapshot_every_ticks <= config.tick_rate_hz);
  ASHLAR_ASSERT(config.key_age_s >= 1 && config.key_age_s <= key_age_limit);
  Match match(config);
  return match.finish();
}

ShrunkOutcome shrink_run(const SimulationConfig& config, const Outcome& outcome, std::size_t runs_max) {
  ASHLAR_ASSERT(outcome.broken.has_value());
  const Broken& original = *outcome.broken;
  SimulationConfig again = config;
  again.keep_recording = false;
  if (again.ground == nullptr) again.ground = std::make_shared<GroundMemo>();
  const std::uint32_t hz = config.tick_rate_hz;
  again.seconds = std::clamp(original.tick / hz + 2, 1u, config.seconds);
  std::vector<Fault> faults =
      config.faults ? *config.faults
                    : plan_faults(config.seed, config.rates, config.clients, config.seconds * hz, hz);
  // What begins after the break did not cause it.
  std::erase_if(faults, [&original](const Fault& f) { return f.tick > original.tick; });

  ShrunkOutcome out;
  out.broken = original;
  const Shrunk shrunk = shrink(std::move(faults), runs_max, [&](std::span<const Fault> subset) {
    again.faults = std::vector<Fault>(subset.begin(), subset.end());
    const Outcome tried = simulate(again);
    if (!tried.broken || tried.broken->invariant != original.invariant) return false;
    out.broken = *tried.broken;
    return true;
  });
  out.faults = shrunk.faults;
  out.runs = shrunk.runs;
  return out;
}

}  // namespace ashlar::simulation
