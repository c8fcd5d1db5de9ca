// What monsters cost a tick: 100, 1 000 and 10 000 of them asleep, wandering, hunting one player and hunting
// a hundred, beside W1's sweep in the same run (asked: asleep at most 50 ns, awake at most 4 sweeps in all);
// 10 000 of which some 1 000 are awake, with a hundred players (asked: p95 under 16.7 ms); 500 that hunt 32
// players in MAP15, and the parts of a step there; ways through maps of Freedoom's and over blocks: fields
// and places a second, what a door that opened and a block that changed cost; ways by regions of the ground.
// CPU time of the thread.
//   bench_monsters [--ticks N] [--only asleep | wandering | one | hundred | crowd | map15 | ways]
//                  [--monsters N] [--w1 NS, as an earlier run said: for profiles]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/timing.h"
#include "tests/bench/walkers.h"
#include "tests/bench/workload.h"
#include "tests/wads.h"
#include "world/bsp/placement.h"
#include "world/content/udmf.h"
#include "world/nav/region_ways.h"
#include "world/nav/way_field.h"
#include "world/sim/block_navigation.h"
#include "world/sim/combat.h"
#include "world/sim/game.h"
#include "world/sim/thing_table.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::bench;

namespace {

enum class Scene { asleep, wander, hunt_one, hunt_hundred };
constexpr const char* scene_names[] = {"asleep", "wandering", "hunting one", "hunting a hundred"};

constexpr const char* scene_options[] = {"asleep", "wandering", "one", "hundred"};

constexpr const char* part_names[step_part_count] = {
    "inputs", "sectors", "shots", "players", "think", "monsters", "crowd", "fight", "lines", "game", "hash"};

/// What asking for the time takes, of which each part of a step has one: a fifth of a hundred sleepers.
double clock_s() {
  static const double s = [] {
    constexpr int times = 100'000;
    const double start = thread_s();
    for (int i = 1; i < times; ++i) thread_s();
    return (thread_s() - start) / times;
  }();
  return s;
}

/// Time of each part of a step.
class Parts final : public StepWatch {
 public:
  void begins(StepPart part) override {
    const double now = thread_s();
    if (since_ > 0) s[static_cast<std::size_t>(current_)] += now - since_ - clock_s_;
    current_ = part;
    since_ = now;
  }
  void ends() { begins(StepPart::inputs), since_ = 0; }
  double of(StepPart part) const { return s[static_cast<std::size_t>(part)]; }
  /// Of the parts that are the monsters' own.
  double theirs() const {
    return of(StepPart::think) + of(StepPart::monsters) + of(StepPart::crowd) + of(StepPart::fight) +
           of(StepPart::lines);
  }
  double s[step_part_count] = {};

 private:
  const double clock_s_ = clock_s();
  StepPart current_ = StepPart::inputs;
  double since_ = 0;
};

/// W1's sweep for each character and tick, measured between the parts of a scene: machines have faster and
/// slower minutes, and what is beside it has the same ones.
class SweepTime {
 public:
  explicit SweepTime(double given_s) : given_s_(given_s) {}
  /// Once more.
  void look() {
    if (given_s_ > 0) return;
    const double start = thread_s();
    walk_players(ground_, volume_, Solver::sweep, nullptr, nullptr);
    sum_s_ += (thread_s() - start) / (double{walkers} * walk_ticks);
    ++looks_;
  }
  /// The mean of what was looked at since the last call.
  double take_s() {
    if (given_s_ > 0) return given_s_;
    const double mean_s = sum_s_ / looks_;
    sum_s_ = looks_ = 0;
    return mean_s;
  }

 private:
  const WorkloadWorld ground_ = make_workload_world();
  const VoxelVolume volume_ = make_workload_volume(ground_);
  double given_s_ = 0, sum_s_ = 0, looks_ = 0;
};

constexpr std::uint32_t looks_per_scene = 4;

void step(World& world, std::span<const std::uint32_t> joins, std::span<const AdminCommand> admin,
          Parts* watch = nullptr, std::span<const PlayerInput> commands = {}) {
  world.step({.joins = joins,
              .leaves = {},
              .commands = commands,
              .admin = admin,
              .edits = {},
              .chunks_ready = {},
              .chunks_dropped = {}},
             watch);
  if (watch != nullptr) watch->ends();
}

/// Everybody goes where a monster is, or so near as may be, and shoots: who hears it hunts.
void set_to_hunt(World& world, std::span<const EntityId> players) {
  std::vector<AdminCommand> there;
  const MonsterTable& m = world.monsters();
  std::vector<std::size_t> alive;
  for (std::size_t row = 0; row < m.rows(); ++row)
    if (m.id[row] != EntityId{0}) alive.push_back(row);
  if (alive.empty()) return;
  for (std::size_t i = 0; i < players.size(); ++i) {
    const std::size_t row = alive[i * alive.size() / players.size()];
    there.push_back({AdminAction::teleport, players[i], m.body[row].position_m + DVec3{1.5, 1.5, 0.1}});
  }
  step(world, {}, there);
  for (int t = 0; t < 60; ++t) {
    std::vector<PlayerInput> shots;
    for (const EntityId id : players) {
      PlayerCommand command;
      command.buttons = t % 2 == 0 ? button::attack : std::uint16_t{0};
      command.pitch = Turn16{16000};  // into the air: it is the noise that is wanted
      shots.push_back({id, command});
    }
    step(world, {}, {}, nullptr, shots);
  }
}

std::uint64_t hunting_in(const World& world) {
  std::uint64_t n = 0;
  const MonsterTable& m = world.monsters();
  for (std::size_t row = 0; row < m.rows(); ++row)
    n += m.id[row] != EntityId{0} && m.mood[row] == MonsterMood::chase ? 1 : 0;
  return n;
}

std::vector<EntityId> join(World& world, std::size_t count) {
  const std::vector<std::uint32_t> tokens(count, 1);
  step(world, tokens, {});
  std::vector<EntityId> out;
  for (const Joined& joined : world.joined()) out.push_back(joined.id);
  return out;
}

/// ns a monster and tick of the parts that are theirs.
void measure_scene(Scene scene, std::uint32_t monsters, std::uint32_t ticks, SweepTime& w1) {
  WorldSetup setup;
  setup.seed = 7;
  setup.monsters = setup.monsters_max = monsters;
  setup.players_max = scene == Scene::hunt_hundred ? 100 : 1;
  setup.rules.player_health = 10000;
  setup.rules.monsters_fight = scene == Scene::wander ? Switch::off : Switch::on;
  World world(setup);
  const std::vector<EntityId> players = join(world, setup.players_max);
  // Whom nobody can see wakes nobody.
  std::vector<AdminCommand> hidden;
  if (scene == Scene::asleep)
    for (const EntityId id : players) hidden.push_back({AdminAction::noclip_on, id, {}});
  step(world, {}, hidden);
  if (scene == Scene::hunt_one || scene == Scene::hunt_hundred) set_to_hunt(world, players);
  // Who had seen somebody before nobody could be seen has given him up by then; and what hunts find out about
  // ground that nobody hunted over before, they know.
  const int before = scene == Scene::asleep ? 600 : scene == Scene::wander ? 60 : 300;
  for (int t = 0; t < before; ++t) step(world, {}, {});
  Parts parts;
  const std::uint64_t attacks = world.combat().counters().attacks, hunting = hunting_in(world);
  double alive = 0;  // monsters times ticks: some die meanwhile
  double all_s = 0;
  for (std::uint32_t t = 0; t < ticks; ++t) {
    if (t % (ticks / looks_per_scene + 1) == 0) w1.look();
    const double start = thread_s();
    alive += world.monster_count();
    step(world, {}, {}, &parts);
    all_s += thread_s() - start;
  }
  w1.look();
  const double w1_s = w1.take_s(), each = parts.theirs() / std::max(1.0, alive);
  std::printf(
      "%-18s %6u in the world, %6llu hunt: %8.1f ns a monster, %5.2f sweeps of %.1f ns; step %8.1f us, "
      "%llu attacks\n",
      scene_names[static_cast<int>(scene)], world.monster_count(), static_cast<unsigned long long>(hunting),
      each * 1e9, each / w1_s, w1_s * 1e9, all_s / ticks * 1e6,
      static_cast<unsigned long long>(world.combat().counters().attacks - attacks));
  std::printf("   ");
  for (std::size_t i = 0; i < step_part_count; ++i)
    std::printf(" %s %.2f", part_names[i], parts.s[i] / std::max(1.0, alive) / w1_s);
  std::printf("\n");
}

/// Steps one by one: what the slow ones take, and what their parts take beside W1's sweep for each body.
void measure_crowded(const char* name, World& world, std::uint32_t ticks, SweepTime& w1) {
  Parts parts;
  std::vector<double> each;
  const std::uint64_t hunting = hunting_in(world);
  double bodies = 0;  // times ticks
  for (std::uint32_t t = 0; t < ticks; ++t) {
    if (t % (ticks / looks_per_scene + 1) == 0) w1.look();
    bodies += world.monster_count() + world.player_count();
    const double start = thread_s();
    step(world, {}, {}, &parts);
    each.push_back(thread_s() - start);
  }
  w1.look();
  const double w1_s = w1.take_s();
  std::ranges::sort(each);
  double sum_s = 0;
  for (const double s : each) sum_s += s;
  std::printf(
      "%s: %u monsters, %llu hunted at first and %llu at last, %u players: step p50 %.2f ms, p95 %.2f ms; "
      "%.2f sweeps a body\n ",
      name, world.monster_count(), static_cast<unsigned long long>(hunting),
      static_cast<unsigned long long>(hunting_in(world)), world.player_count(), each[each.size() / 2] * 1e3,
      each[each.size() * 95 / 100] * 1e3, sum_s / bodies / w1_s);
  for (std::size_t i = 0; i < step_part_count; ++i)
    std::printf(" %s %.2f", part_names[i], parts.s[i] / bodies / w1_s);
  std::printf("\n");
}

/// Monsters that sleep all over the ground until they notice somebody.
class Sleepers final : public Game {
 public:
  explicit Sleepers(std::uint32_t count) : count_(count) {}
  void begin(GameApi& api) override {
    const KindSet& kinds = default_kinds();
    for (std::uint32_t tries = 0; count_ > 0 && tries < 200'000; ++tries) {
      const double x = api.random().between(-90, 90);
      const double y = api.random().between(-90, 90);
      const auto yaw = Turn16{static_cast<std::uint16_t>(api.random().next_u32())};
      const MonsterKind kind = (tries & 1u) != 0 ? MonsterKind::imp : MonsterKind::brute;
      const Cylinder shape = kinds.monsters[static_cast<std::size_t>(kind)].shape;
      const auto z = space_ground_below(api.space(), {x, y}, shape.radius_m, 60, 120);
      if (z && api.spawn_monster(kind, {{x, y, *z}, yaw}, true) != EntityId{0}) --count_;
    }
  }

 private:
  std::uint32_t count_;
};

/// A hundred players among all of ten thousand, whom their shots wake, or in a corner of the ground, where
/// some thousand see them, while the others sleep.
void measure_ten_thousand(std::uint32_t ticks, SweepTime& w1, bool all_awake) {
  WorldSetup setup;
  setup.seed = 7;
  setup.monsters_max = 10000;
  setup.monsters = all_awake ? setup.monsters_max : 0;
  setup.players_max = 100;
  setup.rules.player_health = 10000;
  if (!all_awake) setup.game = [] { return std::make_unique<Sleepers>(10000); };
  World world(setup);
  const std::vector<EntityId> players = join(world, setup.players_max);
  if (all_awake) {
    set_to_hunt(world, players);
  } else {
    std::vector<AdminCommand> there;
    for (std::size_t i = 0; i < players.size(); ++i) {
      const DVec2 at{-88.0 + static_cast<double>(i % 10), -88.0 + static_cast<double>(i / 10)};
      const auto z = space_ground_below(world.space(), at, setup.rules.player.radius_m, 60, 120);
      there.push_back({AdminAction::teleport, players[i], {at.x, at.y, z.value_or(40) + 0.1}});
    }
    step(world, {}, there);
    for (int t = 0; t < 180; ++t) step(world, {}, {});
  }
  measure_crowded(all_awake ? "10 000 in plains, all awake" : "10 000 in plains, most asleep", world, ticks,
                  w1);
}

/// The map's monsters so often that there are 500. As many stand in one place, they would shoot each other:
/// that is off.
void measure_map15(std::uint32_t ticks, SweepTime& w1) {
  const auto wad = ashlar::testing::find_wad("freedoom2.wad");
  if (!wad) return static_cast<void>(std::printf("MAP15: no freedoom2.wad\n"));
  auto source = read_map(*wad, "MAP15");
  if (!source) return;
  const std::vector<MapThing> once = source->things;
  for (int k = 0; k < 8; ++k)
    for (const MapThing& thing : once)
      if (const ThingType* type = find_thing_type(thing.type);
          type != nullptr && type->role == ThingRole::monster)
        source->things.push_back(thing);
  PlaceOptions options;
  options.visibility = true;  // as servers have it
  const auto map = place_map(*source, options);
  if (!map) return;
  WorldSetup setup;
  setup.seed = 7;
  setup.maps = {*map};
  setup.monsters = setup.monsters_max = 500;
  setup.players_max = 32;
  setup.rules.player_health = 10000;
  setup.rules.infighting = Switch::off;
  World world(setup);
  const std::vector<EntityId> players = join(world, setup.players_max);
  set_to_hunt(world, players);
  measure_crowded("MAP15", world, ticks, w1);
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
        "ways in %s: graph of %u leaves and %u joins in %.1f ms; a field, as after a door opened, %.1f us, "
        "%.0f "
        "fields and %.1f million leaves a second\n",
        name, graph.leaf_count(), graph.join_count(), built_s * 1e3, s / static_cast<double>(fields) * 1e6,
        static_cast<double>(fields) / s, static_cast<double>(leaves) / s * 1e-6);
  }
}

/// A field over hilly ground, made from nothing, as after any block of it changed: the graph has nothing to
/// keep up.
void measure_block_ways(const VoxelVolume& volume, DVec3 middle_m) {
  BlockSearch search;
  std::uint64_t places = 0, fields = 0;
  double s = 0;
  for (int i = 0; i < 200; ++i) {
    const double start = thread_s();
    search.begin(volume, middle_m + DVec3{i % 10 * 3.0, i / 10 * 3.0, 0}, {true, true, true});
    while (!search.whole()) places += search.advance(volume, BlockNavigation::places_per_tick);
    s += thread_s() - start;
    ++fields;
  }
  std::printf(
      "ways over blocks: a field %.0f us, %.0f fields and %.2f million places a second; a changed block "
      "costs the graph nothing, the next field %.0f us\n",
      s / static_cast<double>(fields) * 1e6, static_cast<double>(fields) / s,
      static_cast<double>(places) / s * 1e-6, s / static_cast<double>(fields) * 1e6);
}

/// Ways by regions over the same ground from everywhere within some 100 m of a place: the first ones, which
/// make the cells; ones that find them made; and ones after a block changed in each of them.
void measure_region_ways(VoxelVolume& volume, DVec3 middle_m) {
  constexpr BlockWalker walker{true, true, true};
  BlockRegions regions;
  RegionSearch search;
  const auto run = [&](int times) {
    std::uint64_t units = 0;
    const std::uint64_t made = regions.cells_made();
    double s = 0, worst_s = 0;
    for (int i = 0; i < times; ++i) {
      search.begin(middle_m + DVec3{i * 3.0, 0, 0}, walker, {});
      while (!search.whole()) {
        const double start = thread_s();
        units += search.advance(volume, regions, FarNavigation::units_per_tick);
        const double call_s = thread_s() - start;
        s += call_s, worst_s = std::max(worst_s, call_s);
      }
    }
    std::printf(
        " %.2f ms for %zu regions (%llu cells made, %.2f us a unit of %llu, %.0f us in a tick at most)",
        s / times * 1e3, search.ways().count(), static_cast<unsigned long long>(regions.cells_made() - made),
        s / static_cast<double>(units) * 1e6,
        static_cast<unsigned long long>(units / static_cast<std::uint64_t>(times)), worst_s * 1e6);
  };
  std::printf("ways by regions:");
  run(1);
  std::printf("; again");
  run(20);
  const IVec3 block{static_cast<std::int32_t>(middle_m.x) + 8, static_cast<std::int32_t>(middle_m.y) + 8,
                    static_cast<std::int32_t>(middle_m.z) + 1};
  volume.set_block(block, volume.solid(block) ? BlockId::air : BlockId::stone);
  std::printf("; after one block changed");
  run(1);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  std::uint32_t ticks = 300, only_monsters = 0;
  double w1_s = 0;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2)
    if (std::strcmp(argv[i], "--ticks") == 0)
      ticks = static_cast<std::uint32_t>(std::max(1, std::atoi(argv[i + 1])));
    else if (std::strcmp(argv[i], "--only") == 0)
      only = argv[i + 1];
    else if (std::strcmp(argv[i], "--w1") == 0)
      w1_s = std::atof(argv[i + 1]) * 1e-9;
    else if (std::strcmp(argv[i], "--monsters") == 0)
      only_monsters = static_cast<std::uint32_t>(std::atoi(argv[i + 1]));
  const auto wanted = [&](const char* name) { return only.empty() || only == name; };
  SweepTime w1(w1_s);
  for (const Scene scene : {Scene::asleep, Scene::wander, Scene::hunt_one, Scene::hunt_hundred})
    for (const std::uint32_t monsters : {100u, 1000u, 10000u})
      if (wanted(scene_options[static_cast<int>(scene)]) && (only_monsters == 0 || only_monsters == monsters))
        measure_scene(scene, monsters, ticks, w1);
  if (wanted("crowd")) measure_ten_thousand(ticks, w1, false), measure_ten_thousand(ticks, w1, true);
  if (wanted("map15")) measure_map15(ticks, w1);
  if (!wanted("ways")) return 0;
  measure_ways();
  const WorkloadWorld ground = make_workload_world();
  VoxelVolume volume = make_workload_volume(ground);
  const DVec3 middle_m{100, 100, ground.heights[100 * world_size + 100] * 1.0};
  measure_block_ways(volume, middle_m);
  measure_region_ways(volume, middle_m);
  return 0;
}
