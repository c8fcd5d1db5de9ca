// What monsters cost a tick: 100, 1 000 and 10 000 of them asleep, wandering, hunting one player and hunting
// a hundred, beside W1's sweep in the same run (asked: asleep at most 50 ns, awake at most 4 sweeps in all);
// and ways through a map of Freedoom's: fields a second, leaves a second. CPU time of the thread.
//   bench_monsters [--ticks N]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tests/bench/timing.h"
#include "tests/bench/walkers.h"
#include "tests/bench/workload.h"
#include "tests/wads.h"
#include "world/bsp/placement.h"
#include "world/content/udmf.h"
#include "world/nav/way_field.h"
#include "world/sim/combat.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::bench;

namespace {

enum class Scene { asleep, wander, hunt_one, hunt_hundred };
constexpr const char* scene_names[] = {"asleep", "wandering", "hunting one", "hunting a hundred"};

/// Time of the parts that are the monsters' own.
class MonsterParts final : public StepWatch {
 public:
  void begins(StepPart part) override {
    const double now = thread_s();
    const bool theirs = current_ == StepPart::think || current_ == StepPart::monsters ||
                        current_ == StepPart::crowd || current_ == StepPart::fight ||
                        current_ == StepPart::lines;
    if (theirs) s += now - since_;
    current_ = part;
    since_ = now;
  }
  double s = 0;

 private:
  StepPart current_ = StepPart::inputs;
  double since_ = 0;
};

void step(World& world, std::span<const std::uint32_t> joins, std::span<const AdminCommand> admin,
          StepWatch* watch = nullptr) {
  world.step({.joins = joins,
              .leaves = {},
              .commands = {},
              .admin = admin,
              .edits = {},
              .chunks_ready = {},
              .chunks_dropped = {}},
             watch);
}

/// ns a monster and tick of the parts that are theirs.
void measure_scene(Scene scene, std::uint32_t monsters, std::uint32_t ticks, double w1_s) {
  WorldSetup setup;
  setup.seed = 7;
  setup.monsters = setup.monsters_max = monsters;
  setup.players_max = scene == Scene::hunt_hundred ? 100 : 1;
  setup.rules.player_health = 10000;
  setup.rules.monsters_fight = scene == Scene::wander ? Switch::off : Switch::on;
  World world(setup);
  const std::vector<std::uint32_t> tokens(setup.players_max, 1);
  step(world, tokens, {});
  // Whom nobody can see wakes nobody.
  std::vector<AdminCommand> hidden;
  if (scene == Scene::asleep)
    for (const Joined& joined : world.joined()) hidden.push_back({AdminAction::noclip_on, joined.id, {}});
  step(world, {}, hidden);
  for (int t = 0; t < 120; ++t) step(world, {}, {});
  MonsterParts parts;
  std::uint64_t hunting = 0;
  const std::uint64_t attacks = world.combat().counters().attacks;
  const double start = thread_s();
  for (std::uint32_t t = 0; t < ticks; ++t) step(world, {}, {}, &parts);
  const double all_s = thread_s() - start;
  for (const MonsterMood mood : world.monsters().mood) hunting += mood == MonsterMood::chase;
  const double each = parts.s / ticks / std::max(1u, world.monster_count());
  std::printf(
      "%-18s %6u in the world, %6llu hunt: %8.1f ns a monster, %5.2f sweeps; step %8.1f us, %llu attacks\n",
      scene_names[static_cast<int>(scene)], world.monster_count(), static_cast<unsigned long long>(hunting),
      each * 1e9, each / w1_s, all_s / ticks * 1e6,
      static_cast<unsigned long long>(world.combat().counters().attacks - attacks));
}

void measure_ways() {
  const auto wad = ashlar::testing::find_wad("freedoom2.wad");
  if (!wad) return static_cast<void>(std::printf("ways: no freedoom2.wad\n"));
  for (const char* name : {"MAP01", "MAP15"}) {
    const auto source = read_map(*wad, name);
    if (!source) continue;
    const auto map = place_map(*source, {});
    if (!map) continue;
    const double start = thread_s();
    const LeafGraph graph(**map, {});
    const double built_s = thread_s() - start;
    const std::vector<std::uint8_t> doors((*map)->source().sectors.size(), 0);
    const WayRules rules{(*map)->initial_heights(), map->get(), doors};
    WayField field(graph.leaf_count(), graph.join_count());
    std::uint64_t leaves = 0, fields = 0;
    const double from = thread_s();
    for (const PlacedThing& thing : (*map)->things()) {
      if (thing.sector == no_index) continue;
      field.begin(graph, xy(thing.position_m), 0);
      while (!field.whole()) leaves += field.advance(graph, rules, 1500);
      ++fields;
    }
    const double s = thread_s() - from;
    std::printf(
        "ways in %s: graph of %u leaves and %u joins in %.1f ms; a field %.1f us, %.0f fields and %.1f "
        "million leaves a second\n",
        name, graph.leaf_count(), graph.join_count(), built_s * 1e3, s / static_cast<double>(fields) * 1e6,
        static_cast<double>(fields) / s, static_cast<double>(leaves) / s * 1e-6);
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t ticks = 300;
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], "--ticks") == 0)
      ticks = static_cast<std::uint32_t>(std::max(1, std::atoi(argv[i + 1])));
  const WorkloadWorld ground = make_workload_world();
  const VoxelVolume volume = make_workload_volume(ground);
  const Spread w1 = measure([&] { walk_players(ground, volume, Solver::sweep, nullptr, nullptr); },
                            double{walkers} * walk_ticks);
  std::printf("W1 sweep, per character and tick: %.1f ns\n", w1.median * 1e9);
  for (const Scene scene : {Scene::asleep, Scene::wander, Scene::hunt_one, Scene::hunt_hundred})
    for (const std::uint32_t monsters : {100u, 1000u, 10000u})
      measure_scene(scene, monsters, ticks, w1.median);
  measure_ways();
  return 0;
}
