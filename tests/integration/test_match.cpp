// A whole match in one process: the Host and eight clients over lossy links.

#include "client_sim/simulation/simulation.h"
#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"

using namespace ashlar;
using namespace ashlar::simulation;

namespace {

constexpr std::uint32_t match_seconds = test::slowness == 1 ? 60 : 12;

SimulationConfig lossy_match() {
  SimulationConfig config;
  config.seed = 41;
  config.clients = 8;
  config.monsters = 30;
  config.seconds = match_seconds;
  config.faults.emplace();
  for (std::uint16_t i = 0; i < config.clients; ++i)
    config.faults->push_back({0, match_seconds * 60, FaultKind::loss, i, 10});
  PlaceOptions options;
  options.surface_z = 24;
  options.doors_open = false;
  options.visibility = true;
  config.maps.push_back(testing::must_place(testing::builtin_map(), options));
  return config;
}

}  // namespace

TEST_CASE("a minute of eight clients over lossy links ends in the same hash twice", "[integration][match]") {
  // Within it no body ever overlaps solid space without being recovered: that is one of the checks of a run.
  const SimulationConfig config = lossy_match();
  const Outcome first = simulate(config);
  const std::string broken = first.broken ? first.broken->invariant + ": " + first.broken->detail : "";
  CHECK(broken == "");
  CHECK(first.joins >= 7);
  CHECK(first.links.lost > first.links.taken / 20);
  CHECK(first.replayed_ticks == first.ticks);
  const Outcome second = simulate(config);
  CHECK(second.hash == first.hash);
  CHECK(second.links.delivered == first.links.delivered);
}
