// What World::step costs: 1 000 players and 1 000 monsters spread over 800 x 800 m of terrain, beside W1's
// sweep in the same run (asked: at most 3 times as much a body), with the share of each part of the step;
// then worlds with few players or none, which should cost next to nothing. CPU time of the thread. Exit code
// 1 where the bodies are not spread, or where a world of the same inputs ends in another hash.
//   bench_step [--ticks N] [--only big|idle]
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "tests/bench/timing.h"
#include "tests/bench/walkers.h"
#include "tests/bench/workload.h"
#include "world/bsp/placement.h"
#include "world/content/builtin_map.h"
#include "world/content/udmf.h"
#include "world/math/hash.h"
#include "world/sim/ground_generator.h"
#include "world/sim/world.h"
#include "world/voxel/terrain.h"

using namespace ashlar;
using namespace ashlar::bench;

namespace {

constexpr double side_m = 800;
constexpr std::uint32_t warm_ticks = 120;  // falls and first turns are over

constexpr const char* part_names[step_part_count] = {"inputs",   "sectors", "shots", "players", "think",
                                                     "monsters", "crowd",   "fight", "lines",   "hash"};

/// Adds up the CPU time of each part. The clock itself costs about 0.3 us a call.
class PartTimes final : public StepWatch {
 public:
  void begins(StepPart part) override {
    const double now = thread_s();
    if (running_) s[current_] += now - since_;
    current_ = static_cast<std::size_t>(part);
    since_ = now;
    running_ = true;
  }
  void ends() {
    s[current_] += thread_s() - since_;
    running_ = false;
  }
  std::array<double, step_part_count> s{};

 private:
  std::size_t current_ = 0;
  double since_ = 0;
  bool running_ = false;
};

std::shared_ptr<const PlacedMap> courtyard(IVec2 at) {
  PlaceOptions options;
  options.origin_block = at;
  options.surface_z = 24;
  options.doors_open = false;
  auto map = place_map(*parse_udmf(builtin_map_text()), options);
  if (!map) std::printf("%s\n", map.error().line().c_str()), std::exit(1);
  return *map;
}

/// The built-in map in two corners of the square, so that the ground between them is loaded from the start
/// and belongs to the monsters' region.
WorldSetup wide_world(std::uint32_t players, std::uint32_t monsters) {
  WorldSetup setup;
  setup.seed = 7;
  setup.players_max = players;
  setup.monsters_max = monsters;
  setup.monsters = monsters;
  setup.maps = {courtyard({-304, -304}), courtyard({272, 272})};
  return setup;
}

/// Walks about as W1's characters do: a new heading twice a second, a jump where it is held up.
struct Crowdlet {
  std::vector<EntityId> ids;
  std::vector<PlayerInput> commands;
  std::vector<DVec3> before;

  void walk(const World& world) {
    commands.clear();
    const PlayerTable& table = world.players();
    const std::uint32_t tick = number(world.tick());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      const auto row = static_cast<std::size_t>(world.player_row(ids[i]));
      const Body& body = table.body[row];
      PlayerCommand c;
      c.forward = 1;
      c.yaw = Turn16{static_cast<std::uint16_t>(hash4(11, static_cast<std::uint32_t>(i), tick / 30, 0))};
      const DVec2 moved = xy(body.position_m - before[i]);
      if (body.grounded != 0 && dot(moved, moved) < 0.05 * 0.05) c.buttons = button::jump;
      before[i] = body.position_m;
      commands.push_back({ids[i], c});
    }
  }
};

/// All players join in one tick and are put on the ground of a grid over the square.
Crowdlet join(World& world, std::uint32_t players) {
  Crowdlet crowd;
  std::vector<std::uint32_t> tokens(players);
  world.step({.joins = tokens,
              .leaves = {},
              .commands = {},
              .admin = {},
              .edits = {},
              .chunks_ready = {},
              .chunks_dropped = {}});
  std::vector<AdminCommand> put;
  const auto across = static_cast<std::uint32_t>(std::ceil(std::sqrt(static_cast<double>(players))));
  for (std::uint32_t i = 0; i < players; ++i) {
    const EntityId id = world.joined()[i].id;
    const double step = (side_m - 80) / across;
    const DVec2 at{-side_m / 2 + 40 + (i % across + 0.5) * step,
                   -side_m / 2 + 40 + (i / across + 0.5) * step};
    const IVec3 block = block_at({at.x, at.y, 0});
    const double top = surface_height(world.ground()->terrain(), block.x, block.y) + 12.0;
    const auto ground = space_ground_below(world.space(), at, 0.45, top, 64);
    if (ground) put.push_back({AdminAction::teleport, id, {at.x, at.y, *ground}});
    crowd.ids.push_back(id);
  }
  world.step({.joins = {},
              .leaves = {},
              .commands = {},
              .admin = put,
              .edits = {},
              .chunks_ready = {},
              .chunks_dropped = {}});
  crowd.before.resize(players);
  return crowd;
}

void step(World& world, Crowdlet& crowd, StepWatch* watch = nullptr) {
  world.step({.joins = {},
              .leaves = {},
              .commands = crowd.commands,
              .admin = {},
              .edits = {},
              .chunks_ready = {},
              .chunks_dropped = {}},
             watch);
}

struct Figures {
  Spread tick_s;
  std::array<double, step_part_count> part_s{};
  std::uint64_t hash = 0;
  std::uint64_t positions = 0;  // of where the bodies are alone, to compare worlds that hash differently
};

Figures run(const WorldSetup& setup, std::uint32_t players, std::uint32_t ticks, double* spread_m = nullptr) {
  World world(setup);
  Crowdlet crowd;
  if (players > 0) crowd = join(world, players);
  const auto go = [&](std::uint32_t n, PartTimes* parts) {
    double s = 0;
    for (std::uint32_t t = 0; t < n; ++t) {
      crowd.walk(world);
      const double start = thread_s();
      step(world, crowd, parts);
      s += thread_s() - start;
      if (parts != nullptr) parts->ends();
    }
    return s / n;
  };
  go(warm_ticks, nullptr);
  Figures out;
  std::array<double, 3> s{};
  for (double& v : s) v = go(ticks, nullptr);
  std::sort(s.begin(), s.end());
  out.tick_s = {s[0], s[1], s[2]};
  PartTimes parts;
  go(ticks, &parts);
  for (std::size_t i = 0; i < step_part_count; ++i) out.part_s[i] = parts.s[i] / ticks;
  out.hash = world.hash();
  Hasher positions;
  for (const Body& b : world.players().body) positions.add(b.position_m), positions.add(b.velocity_mps);
  for (const Body& b : world.monsters().body) positions.add(b.position_m), positions.add(b.velocity_mps);
  out.positions = positions.value();
  if (spread_m != nullptr) {
    DVec2 low{1e9, 1e9}, high{-1e9, -1e9};
    for (std::size_t i = 0; i < world.monsters().rows(); ++i) {
      const DVec3 p = world.monsters().body[i].position_m;
      low = {std::min(low.x, p.x), std::min(low.y, p.y)};
      high = {std::max(high.x, p.x), std::max(high.y, p.y)};
    }
    *spread_m = std::min(high.x - low.x, high.y - low.y);
  }
  return out;
}

bool big(std::uint32_t ticks) {
  const WorkloadWorld ground = make_workload_world();
  const VoxelVolume volume = make_workload_volume(ground);
  const Spread w1 = measure([&] { walk_players(ground, volume, Solver::sweep, nullptr, nullptr); },
                            double{walkers} * walk_ticks);
  constexpr std::uint32_t players = 1000, monsters = 1000;
  constexpr double bodies = players + monsters;
  const WorldSetup setup = wide_world(players, monsters);
  double spread_m = 0;
  const Figures all = run(setup, players, ticks, &spread_m);
  const Spread& t = all.tick_s;
  std::printf("%-46s %8s %8s %8s\n", "us", "min", "median", "max");
  std::printf("%-46s %8.3f %8.3f %8.3f\n", "W1 sweep, per character and tick", w1.low * 1e6, w1.median * 1e6,
              w1.high * 1e6);
  std::printf("%-46s %8.3f %8.3f %8.3f\n", "step of 1000 + 1000, per body and tick", t.low * 1e6 / bodies,
              t.median * 1e6 / bodies, t.high * 1e6 / bodies);
  std::printf("step / W1 sweep: %.2f (asked: at most 3)\n", t.median / bodies / w1.median);
  double sum = 0;
  for (const double s : all.part_s) sum += s;
  for (std::size_t i = 0; i < step_part_count; ++i)
    std::printf("  %-10s %8.1f us a tick  %5.1f %%  %7.3f us a body\n", part_names[i], all.part_s[i] * 1e6,
                100 * all.part_s[i] / sum, all.part_s[i] * 1e6 / bodies);
  std::printf("bodies over %.0f m, hash after %u ticks %016" PRIx64 "\n", spread_m,
              warm_ticks + 4 * ticks + 2, all.hash);
  if (spread_m < side_m * 0.75) return std::printf("WRONG: the bodies are not spread\n"), false;
  return true;
}

bool idle(std::uint32_t ticks) {
  std::printf("%-46s %8s %8s %8s\n", "us a tick", "min", "median", "max");
  const struct {
    const char* name;
    std::uint32_t players_max, players, monsters;
  } cases[] = {{"nobody in 4096 slots, no monster", 4096, 0, 0},
               {"nobody in 4096 slots, 1000 monsters", 4096, 0, 1000},
               {"1 player in 4096 slots, 1000 monsters", 4096, 1, 1000}};
  for (const auto& c : cases) {
    WorldSetup setup = wide_world(c.players_max, c.monsters);
    setup.monsters_max = std::max(1u, c.monsters);
    const Figures f = run(setup, c.players, ticks);
    std::printf("%-46s %8.2f %8.2f %8.2f  (%.2f %% of a core at 60 Hz)\n", c.name, f.tick_s.low * 1e6,
                f.tick_s.median * 1e6, f.tick_s.high * 1e6, f.tick_s.median * 60 * 100);
    for (std::size_t i = 0; i < step_part_count; ++i)
      std::printf("  %s %.2f", part_names[i], f.part_s[i] * 1e6);
    std::printf("\n");
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t ticks = 600;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--ticks") == 0)
      ticks = static_cast<std::uint32_t>(std::max(1, std::atoi(argv[i + 1])));
    if (std::strcmp(argv[i], "--only") == 0) only = argv[i + 1];
  }
  bool good = true;
  if (only != "idle") good = big(ticks) && good;
  if (only != "big") good = idle(ticks) && good;
  return good ? 0 : 1;
}
