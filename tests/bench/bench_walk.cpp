// The walk test, whole: 500 movers, two players to a monster, 2 simulated minutes, on every map of the WADs
// and in dense random voxels, with either solver. Exit code 1 where anybody is out, in solid, stuck or hangs
// in the air.
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
    rules.player_solver = rules.monster_solver = solver;
    const auto ticks = static_cast<std::uint32_t>(options.minutes * 60 * rules.tick_rate_hz);
    const double start = cpu_s();
    const WalkResult r = run_walk(world.space(), rules, world.bounds, world.starts, options.movers, ticks, 1);
    const double us =
        1e6 * (cpu_s() - start) / static_cast<double>(std::max<std::uint64_t>(1, r.player_ticks));
    std::printf(
        "%-22s %-7s starts %3zu  player-ticks %9llu (monsters %llu)  out %llu  overlapping %llu  stuck %llu  "
        "hanging %llu  recovered %llu  "
        "frozen %llu  lost %llu  jumps %llu  steps %llu  pairs %llu  km %.1f  us %.2f",
        world.name.c_str(), solver == Solver::sweep ? "sweep" : "correct", world.starts.size(),
        static_cast<unsigned long long>(r.player_ticks), static_cast<unsigned long long>(r.monster_ticks),
        static_cast<unsigned long long>(r.out), static_cast<unsigned long long>(r.overlapping),
        static_cast<unsigned long long>(r.stuck), static_cast<unsigned long long>(r.hanging),
        static_cast<unsigned long long>(r.recovered), static_cast<unsigned long long>(r.frozen),
        static_cast<unsigned long long>(r.lost), static_cast<unsigned long long>(r.jumps),
        static_cast<unsigned long long>(r.steps), static_cast<unsigned long long>(r.pairs), r.metres / 1000,
        us);
    const bool bad = r.out + r.overlapping + r.stuck + r.hanging > 0;
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

/// Bodies that are in solid on purpose, and how each of them ends.
struct EmbedCounts {
  std::uint64_t tried = 0, freed = 0, back = 0, spawn = 0, stuck = 0;
  double longest_s = 0;
};

void embed_one(const Space& space, const Rules& rules, Body body, EmbedCounts& counts) {
  // Where nothing is loaded a body is frozen, not stuck.
  if (space_unloaded(space, rules.player, body.position_m)) return;
  if (!space_overlaps(space, rules.player, body.position_m)) return;
  ++counts.tried;
  const DVec3 home = body.last_free_m;
  const std::uint32_t ticks_max = 2u * rules.tick_rate_hz;
  for (std::uint32_t tick = 1; tick <= ticks_max; ++tick) {
    if (player_move(space, rules, {}, body).lost) {
      ++counts.spawn;
      return;
    }
    if (deeper_than(space, rules.player, body.position_m, 0.001)) continue;
    ++(body.position_m == home ? counts.back : counts.freed);
    counts.longest_s = std::max(counts.longest_s, tick * rules.tick_s());
    return;
  }
  ++counts.stuck;
}

/// No-clip that ends in rock, blocks set on bodies, and sealed cells.
bool embed(WalkWorld& world) {
  const Rules rules;
  Rng rng = rng_for(1, 99);
  EmbedCounts noclip, placed, sealed;
  const Space space = world.space();
  const auto count = static_cast<std::uint32_t>(world.starts.size());
  for (int i = 0; i < 2000; ++i) {
    Body body;
    body.last_free_m = world.starts[rng.below(count)];
    body.position_m = body.last_free_m;
    body.position_m.x += rng.between(-8, 8);
    body.position_m.y += rng.between(-8, 8);
    body.position_m.z += rng.between(-4, 4);
    embed_one(space, rules, body, noclip);
  }
  const auto with_blocks = [&](const std::vector<IVec3>& blocks, const Body& body, EmbedCounts& counts) {
    std::vector<BlockId> before;
    for (const IVec3& b : blocks) {
      before.push_back(world.volume.block(b));
      world.volume.set_block(b, BlockId::stone);
    }
    embed_one(space, rules, body, counts);
    for (std::size_t i = 0; i < blocks.size(); ++i) world.volume.set_block(blocks[i], before[i]);
  };
  for (int i = 0; i < 500; ++i) {
    Body body;
    body.position_m = body.last_free_m = world.starts[rng.below(count)];
    const IVec3 feet = block_at(body.position_m);
    const auto layer = static_cast<std::int32_t>(rng.below(2));
    with_blocks({feet + IVec3{0, 0, layer}}, body, placed);
    std::vector<IVec3> cell;
    for (int z = -2; z <= 5; ++z)
      for (int y = -2; y <= 2; ++y)
        for (int x = -2; x <= 2; ++x) cell.push_back(feet + IVec3{x, y, z});
    with_blocks(cell, body, sealed);
  }
  const auto line = [&](const char* what, const EmbedCounts& c) {
    std::printf("%-22s %-16s embedded %llu  freed %llu  back %llu  spawn %llu  stuck %llu  longest %.2f s\n",
                world.name.c_str(), what, static_cast<unsigned long long>(c.tried),
                static_cast<unsigned long long>(c.freed), static_cast<unsigned long long>(c.back),
                static_cast<unsigned long long>(c.spawn), static_cast<unsigned long long>(c.stuck),
                c.longest_s);
  };
  line("no-clip ended", noclip);
  line("block set on body", placed);
  line("sealed cell", sealed);
  return noclip.stuck + placed.stuck + sealed.stuck == 0;
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
      if (density < 0.3) good = embed(world) && good;
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
      if (name == "MAP01" || name == "E1M1") good = embed(world) && good;
    }
  }
  std::printf(
      "total: player-ticks %llu  out %llu  overlapping %llu  stuck %llu  hanging %llu  recovered %llu\n",
      static_cast<unsigned long long>(total.player_ticks), static_cast<unsigned long long>(total.out),
      static_cast<unsigned long long>(total.overlapping), static_cast<unsigned long long>(total.stuck),
      static_cast<unsigned long long>(total.hanging), static_cast<unsigned long long>(total.recovered));
  return good ? 0 : 1;
}
