// An hour of simulated play with every fault, on one core: how much faster than real time, and that nothing
// breaks. `bench_simulate [MINUTES [SEED]]`; the run's last line ends with broken=0. Exit code 1 when
// something broke or when it was slower than the target.

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "client_sim/simulation/simulation.h"
#include "world/bsp/placement.h"
#include "world/content/builtin_map.h"
#include "world/content/udmf.h"

using namespace ashlar;
using namespace ashlar::simulation;

namespace {

constexpr double speed_wanted = 50;
constexpr std::uint32_t minutes_each = 10;

/// Of this thread: the machine's other work does not count.
double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

std::shared_ptr<const PlacedMap> builtin_map() {
  const auto map = parse_udmf(builtin_map_text());
  if (!map) return nullptr;
  PlaceOptions options;
  options.name = builtin_map_name;
  options.surface_z = 24;
  options.doors_open = false;
  options.visibility = true;
  const auto placed = place_map(*map, options);
  return placed ? *placed : nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const int minutes = argc > 1 ? std::max(1, std::atoi(argv[1])) : 60;
  const int seed = argc > 2 ? std::max(1, std::atoi(argv[2])) : 1;
  SimulationConfig config;
  config.clients = 16;
  config.monsters = 50;
  if (auto map = builtin_map()) config.maps.push_back(std::move(map));
  std::printf("simulate: %u clients, %u monsters, %d simulated minutes, every fault\n", config.clients,
              config.monsters, minutes);

  std::uint64_t hash = 0, ticks = 0, faults = 0, broken = 0;
  double used_s = 0, played_s = 0;
  for (int run = 0, left = minutes; left > 0; ++run) {
    const auto part = static_cast<std::uint32_t>(std::min<int>(left, minutes_each));
    left -= static_cast<int>(part);
    config.seed = static_cast<std::uint64_t>(seed + run);
    config.seconds = 60 * part;
    const double begin = cpu_s();
    const Outcome outcome = simulate(config);
    const double took = cpu_s() - begin;
    const double played = static_cast<double>(outcome.sim_ticks) / config.tick_rate_hz;
    used_s += took;
    played_s += played;
    hash += mix64(outcome.hash ^ config.seed);
    ticks += outcome.ticks;
    faults += outcome.fault_count();
    broken += outcome.broken ? 1 : 0;
    std::printf("  seed %-4" PRIu64 " %6.0f s played in %6.2f s of processor time: %5.1f times real time%s\n",
                config.seed, played, took, played / took, outcome.broken ? ", BROKEN" : "");
    if (outcome.broken)
      std::printf("  tick %u: %s: %s: %s\n", outcome.broken->tick, outcome.broken->invariant.c_str(),
                  outcome.broken->entity.c_str(), outcome.broken->detail.c_str());
    std::fflush(stdout);
  }
  const double speed = played_s / used_s;
  std::printf("speed %.1f times real time on one core (wanted: %.0f)\n", speed, speed_wanted);
  std::printf("hash=%016" PRIx64 " ticks=%" PRIu64 " faults=%" PRIu64 " broken=%" PRIu64 "\n", hash, ticks,
              faults, broken);
  return broken == 0 && speed >= speed_wanted ? 0 : 1;
}
