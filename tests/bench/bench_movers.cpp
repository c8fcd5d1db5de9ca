// What moving sectors cost: 1 000 movers of one map in motion with bodies on some of them, and none in
// motion. The figure that was asked for: at most 0.2 ms a tick. Beside it, the cost of moving the same
// bodies.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <memory>
#include <vector>

#include "world/bsp/placement.h"
#include "world/sim/map_plan.h"
#include "world/sim/player_move.h"
#include "world/sim/sector_movers.h"
#include "world/voxel/terrain.h"
#include "world/voxel/volume.h"

using namespace ashlar;

namespace {

constexpr std::uint32_t across = 32;  // 1 024 rooms in a square
constexpr double room_units = 64;

/// A square of rooms, each joined to its neighbours by two-sided lines.
SectorMap grid_of_rooms() {
  SectorMap map;
  map.name = "GRID";
  for (std::uint32_t y = 0; y <= across; ++y)
    for (std::uint32_t x = 0; x <= across; ++x) map.vertices.push_back({x * room_units, y * room_units});
  for (std::uint32_t i = 0; i < across * across; ++i) {
    MapSector s;
    s.floor = (i * 7) % 5 * 8.0, s.ceiling = 256;
    map.sectors.push_back(s);
  }
  const auto vertex = [](std::uint32_t x, std::uint32_t y) { return y * (across + 1) + x; };
  const auto side = [&](std::uint32_t sector) {
    MapSide s;
    s.sector = sector;
    map.sides.push_back(s);
    return static_cast<std::uint32_t>(map.sides.size() - 1);
  };
  // The front is on the right hand of v1 -> v2.
  const auto line = [&](std::uint32_t v1, std::uint32_t v2, std::uint32_t front, std::uint32_t back) {
    MapLine l;
    l.v1 = v1, l.v2 = v2;
    l.front = side(front);
    if (back != no_index) l.back = side(back), l.flags = line_flag::two_sided;
    map.lines.push_back(l);
  };
  for (std::uint32_t y = 0; y < across; ++y)
    for (std::uint32_t x = 0; x < across; ++x) {
      const std::uint32_t s = y * across + x;
      if (x == 0) line(vertex(0, y), vertex(0, y + 1), s, no_index);
      line(vertex(x + 1, y + 1), vertex(x + 1, y), s, x + 1 < across ? s + 1 : no_index);
      if (y == 0) line(vertex(x + 1, 0), vertex(x, 0), s, no_index);
      line(vertex(x, y + 1), vertex(x + 1, y + 1), s, y + 1 < across ? s + across : no_index);
    }
  return map;
}

struct Scene {
  Scene(std::size_t movers, std::size_t bodies) {
    PlaceOptions options;
    options.doors_open = false, options.doorway = false;
    map = *place_map(grid_of_rooms(), options);
    heights.assign(map->initial_heights().begin(), map->initial_heights().end());
    placed.push_back({map.get(), heights});
    Terrain terrain;
    terrain.footprints.push_back(map->box());
    const ChunkCoord low = chunk_of(map->box().min), high = chunk_of(map->box().max);
    for (int x = low.x; x <= high.x; ++x)
      for (int y = low.y; y <= high.y; ++y)
        for (int z = low.z; z <= high.z; ++z)
          volume.insert_chunk({x, y, z}, generate_chunk(terrain, {x, y, z}));
    plan = std::make_unique<MapPlan>(map);
    state = SectorMovers(plan->sector_count());
    touching = std::make_unique<BodiesBySector>(plan->sector_count(), bodies);
    // Floors and ceilings that go up and down for ever, half of them each way.
    for (std::uint32_t s = 0; s < movers; ++s) {
      Mover m;
      m.sector = s, m.plane = s % 2 == 0 ? Plane::floor : Plane::ceiling;
      m.motion = Motion::perpetual, m.phase = s % 4 < 2 ? MotionPhase::up : MotionPhase::down;
      const double now = m.plane == Plane::floor ? heights[s].floor_m : heights[s].ceiling_m;
      m.low_m = now - 1, m.high_m = now + 1;
      m.speed_mps = 35.0 / 32;
      state.start(m);
    }
    body.resize(bodies);
    for (std::size_t i = 0; i < bodies; ++i) {
      const auto s = static_cast<std::uint32_t>(i * 37 % (across * across));
      const DVec2 at = map->to_world({(s % across + 0.3) * room_units, (s / across + 0.6) * room_units});
      body[i].position_m = {at.x, at.y, heights[s].floor_m};
      body[i].grounded = 1;
      list.push_back({&body[i], rules.player, EntityId{static_cast<std::uint32_t>(i + 1)}});
    }
  }

  std::shared_ptr<const PlacedMap> map;
  std::vector<SectorHeights> heights;
  std::vector<MapInSpace> placed;
  VoxelVolume volume;
  std::unique_ptr<MapPlan> plan;
  SectorMovers state;
  std::unique_ptr<BodiesBySector> touching;
  MoverEvents events;
  Rules rules;
  std::vector<Body> body;
  std::vector<MoverBody> list;
};

void movers(benchmark::State& state) {
  Scene scene(static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)));
  for (auto _ : state) {
    scene.events.clear();
    MoverTick tick{*scene.plan,
                   {&scene.volume, scene.placed},
                   scene.heights,
                   scene.list,
                   *scene.touching,
                   scene.events,
                   0};
    scene.state.advance(tick, 1.0 / 60);
    benchmark::DoNotOptimize(scene.heights.data());
  }
  if (state.range(0) == 1000) state.SetLabel("asked: at most 200 us on the reference machine");
  if (state.range(0) == 0) state.SetLabel("asked: nothing measurable");
  // What left the table would make the figure look good.
  if (scene.state.movers().size() != static_cast<std::size_t>(state.range(0))) std::abort();
}

/// A client's or a server's look ahead: the same motions with nobody in the way.
void foreseen(benchmark::State& state) {
  Scene scene(static_cast<std::size_t>(state.range(0)), 0);
  for (auto _ : state) {
    scene.state.advance_alone(*scene.map, scene.heights, 1.0 / 60);
    benchmark::DoNotOptimize(scene.heights.data());
  }
  if (scene.state.movers().size() != static_cast<std::size_t>(state.range(0))) std::abort();
}

/// The plain thing to compare with: the same bodies standing about for a tick.
void bodies_alone(benchmark::State& state) {
  Scene scene(0, static_cast<std::size_t>(state.range(0)));
  const Space space{&scene.volume, scene.placed};
  for (auto _ : state)
    for (Body& body : scene.body) player_move(space, scene.rules, PlayerCommand{}, body);
}

}  // namespace

BENCHMARK(movers)
    ->ArgNames({"movers", "bodies"})
    ->Args({0, 256})
    ->Args({1, 256})
    ->Args({100, 256})
    ->Args({1000, 0})
    ->Args({1000, 256})
    ->Args({1000, 1024})
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(foreseen)->ArgName("movers")->Arg(1000)->Unit(benchmark::kMicrosecond);
BENCHMARK(bodies_alone)->ArgName("bodies")->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);
BENCHMARK_MAIN();
