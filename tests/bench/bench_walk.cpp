// The walk test, whole: 500 movers, 2 simulated minutes, on every map of the WADs and in dense random voxels,
// with either solver. Exit code 1 where anybody is out, in solid or stuck.
//   bench_walk [--minutes M] [--movers N] [--solver sweep|correct] [--map NAME] [--wad FILE]...
//   [--voxels-only]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "tests/walk_worlds.h"

using namespace ashlar;
using namespace ashlar::test;

namespace {

struct Options {
  double minutes = 2;
  std::size_t movers = 500;
  std::optional<Solver> solver;
  std::string map;
  std::vector<std::string> wads;
  bool voxels_only = false;
};

double cpu_s() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

bool run(WalkWorld& world, const Options& options, WalkResult& total) {
  bool good = true;
  for (const Solver solver : {Solver::sweep, Solver::correct}) {
    if (options.solver && *options.solver != solver) continue;
    Rules rules;
    rules.player_solver = solver;
    const auto ticks = static_cast<std::uint32_t>(options.minutes * 60 * rules.tick_rate_hz);
    const double start = cpu_s();
    const WalkResult r = run_walk(world.space(), rules, world.bounds, world.starts, options.movers, ticks, 1);
    const double us =
        1e6 * (cpu_s() - start) / static_cast<double>(std::max<std::uint64_t>(1, r.player_ticks));
    std::printf(
        "%-22s %-7s starts %3zu  player-ticks %9llu  out %llu  overlapping %llu  stuck %llu  recovered %llu  "
        "frozen %llu  lost %llu  jumps %llu  steps %llu  pairs %llu  km %.1f  us %.2f",
        world.name.c_str(), solver == Solver::sweep ? "sweep" : "correct", world.starts.size(),
        static_cast<unsigned long long>(r.player_ticks), static_cast<unsigned long long>(r.out),
        static_cast<unsigned long long>(r.overlapping), static_cast<unsigned long long>(r.stuck),
        static_cast<unsigned long long>(r.recovered), static_cast<unsigned long long>(r.frozen),
        static_cast<unsigned long long>(r.lost), static_cast<unsigned long long>(r.jumps),
        static_cast<unsigned long long>(r.steps), static_cast<unsigned long long>(r.pairs), r.metres / 1000,
        us);
    const bool bad = r.out + r.overlapping + r.stuck > 0;
    if (bad)
      std::printf("  WRONG at (%.9f, %.9f, %.9f) tick %u mover %u", r.example.x, r.example.y, r.example.z,
                  r.example_tick, r.example_mover);
    std::printf("\n");
    std::fflush(stdout);
    good = good && !bad;
    total.add(r);
  }
  return good;
}

[[noreturn]] void usage(const char* wrong) {
  std::fprintf(stderr,
               "bench_walk: unknown or incomplete argument %s; use --minutes M, --movers N, --solver "
               "sweep|correct, --map NAME, --wad FILE, --voxels-only\n",
               wrong);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 >= argc) usage(argv[i]);
      return argv[++i];
    };
    if (a == "--minutes") {
      o.minutes = std::atof(value().c_str());
    } else if (a == "--movers") {
      o.movers = static_cast<std::size_t>(std::atoi(value().c_str()));
    } else if (a == "--solver") {
      o.solver = value() == "correct" ? Solver::correct : Solver::sweep;
    } else if (a == "--map") {
      o.map = value();
    } else if (a == "--wad") {
      o.wads.push_back(value());
    } else if (a == "--voxels-only") {
      o.voxels_only = true;
    } else {
      usage(argv[i]);
    }
  }
  if (o.wads.empty()) o.wads = {"/usr/share/games/doom/freedoom1.wad", "/usr/share/games/doom/freedoom2.wad"};
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  WalkResult total;
  bool good = true;
  if (options.map.empty()) {
    for (const double density : {0.1, 0.2, 0.35, 0.5}) {
      WalkWorld world;
      make_random_voxels(world, 1, density, 4, density == 0.2 ? DVec3{1000000, -1000000, 0} : DVec3{});
      good = run(world, options, total) && good;
    }
  }
  for (const std::string& path : options.wads) {
    if (options.voxels_only) break;
    auto bytes = read_bytes(path);
    if (bytes.empty()) {
      std::printf("%s: not there, left out (Debian package freedoom has it)\n", path.c_str());
      continue;
    }
    auto wad = open_wad(std::move(bytes), path);
    if (!wad) {
      std::fprintf(stderr, "%s: not a WAD\n", path.c_str());
      return 2;
    }
    WadStack stack;
    stack.files.push_back(std::move(*wad));
    for (const std::string& name : map_names(stack)) {
      if (!options.map.empty() && options.map != name) continue;
      const auto source = read_map(stack, name);
      PlaceOptions place;
      place.name = name;
      place.surface_z = 20;
      const auto placed =
          source ? place_map(*source, place) : std::unexpected(PlacementError{name, "unreadable"});
      if (!placed) {
        std::printf("%s: not placed: %s\n", name.c_str(), placed.error().reason.c_str());
        good = false;
        continue;
      }
      WalkWorld world;
      make_map_world(world, *placed, 1);
      good = run(world, options, total) && good;
    }
  }
  std::printf("total: player-ticks %llu  out %llu  overlapping %llu  stuck %llu  recovered %llu\n",
              static_cast<unsigned long long>(total.player_ticks), static_cast<unsigned long long>(total.out),
              static_cast<unsigned long long>(total.overlapping),
              static_cast<unsigned long long>(total.stuck), static_cast<unsigned long long>(total.recovered));
  return good ? 0 : 1;
}
