// Workload W4 on Doom maps: point location, line of sight, walking steps on MAP01, MAP15 and MAP12 of
// freedoom2.wad, each beside the plain way in the same run; then reading, compiling and the visibility set of
// every map. CPU time of the thread, three runs, min / median / max. Exit code 1 where a check value is
// wrong.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include "tests/bench/classic_map.h"
#include "tests/bench/workload.h"
#include "tests/wads.h"
#include "world/bsp/line_grid.h"
#include "world/bsp/placed_map.h"
#include "world/bsp/placement.h"
#include "world/bsp/visibility.h"
#include "world/content/wad.h"

using namespace ashlar;
using namespace ashlar::bench;
using ashlar::testing::find_wad;

namespace {

bool good = true;

double thread_ns() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

/// Three runs; `run` returns a check value that has to be the same each time.
double last_median_ns = 0;

template <typename Run>
std::uint64_t measure(const char* what, double operations, const char* asked, Run&& run) {
  double ns[3];
  std::uint64_t value = 0;
  for (int i = 0; i < 3; ++i) {
    const double start = thread_ns();
    const std::uint64_t v = run();
    ns[i] = (thread_ns() - start) / operations;
    if (i > 0 && v != value) good = false, std::printf("WRONG: %s differs between runs\n", what);
    value = v;
  }
  std::sort(ns, ns + 3);
  std::printf("  %-44s %7.1f / %7.1f / %7.1f ns  %s\n", what, ns[0], ns[1], ns[2], asked);
  last_median_ns = ns[1];
  return value;
}

constexpr std::uint32_t point_count = 1000000;

/// The workload's points are 16.16 fixed: exact in a double, and so are their side tests.
std::vector<DVec2> workload_points(const SectorMap& map) {
  std::int64_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  for (std::size_t i = 0; i < map.vertices.size(); ++i) {
    const auto x = static_cast<std::int64_t>(map.vertices[i].x),
               y = static_cast<std::int64_t>(map.vertices[i].y);
    x0 = i == 0 ? x : std::min(x0, x), x1 = i == 0 ? x : std::max(x1, x);
    y0 = i == 0 ? y : std::min(y0, y), y1 = i == 0 ? y : std::max(y1, y);
  }
  const auto coordinate = [](std::uint32_t h, std::int64_t low, std::int64_t high) {
    const std::uint64_t span = static_cast<std::uint64_t>(high - low) << 16;
    const std::int64_t fixed = low * 65536 + static_cast<std::int64_t>((std::uint64_t{h} * span) >> 32);
    return static_cast<double>(fixed) / 65536;
  };
  std::vector<DVec2> out(point_count);
  for (std::uint32_t i = 0; i < point_count; ++i)
    out[i] = {coordinate(hash4(40, i, 0, 0), x0, x1), coordinate(hash4(40, i, 1, 0), y0, y1)};
  return out;
}

void print_ratio(double classic_ns, double ours_ns) {
  std::printf("  %-44s %.2f\n", "  -> times the classic way's speed", classic_ns / ours_ns);
}

/// Returns the median of the classic engine's point location.
double bench_classic_points(const SectorMap& map, const ClassicMap& classic) {
  std::vector<IVec2> points;
  for (const DVec2 p : workload_points(map))
    points.push_back({static_cast<std::int32_t>(p.x * 65536), static_cast<std::int32_t>(p.y * 65536)});
  measure("point in leaf, classic, fixed point", point_count, "(baseline)", [&] {
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < point_count; ++i)
      total += std::uint64_t{classic.subsector_at(points[i].x, points[i].y) + 1} * (2 * i + 1);
    return total;
  });
  return last_median_ns;
}

void bench_points(const SectorMap& map, const BspTree& tree, double classic_ns) {
  const std::vector<DVec2> points = workload_points(map);
  const MapBounds around{tree.bounds.min - DVec2{32, 32}, tree.bounds.max + DVec2{32, 32}};
  const LineGrid grid = build_line_grid(map, tree, around);
  const auto sum = [&](auto&& leaf_at) {
    std::uint64_t total = 0;
    for (std::uint32_t i = 0; i < point_count; ++i)
      total += std::uint64_t{leaf_at(points[i]) + 1} * (2 * i + 1);
    return total;
  };
  const std::uint64_t fast = measure("point in leaf, grid of leaves", point_count, "(asked: 25)",
                                     [&] { return sum([&](DVec2 p) { return grid.leaf_at(tree, p); }); });
  const double ours_ns = last_median_ns;
  const std::uint64_t plain = measure("point in leaf, from the root", point_count, "(baseline)",
                                      [&] { return sum([&](DVec2 p) { return tree.leaf_at(p); }); });
  if (fast != plain) good = false, std::printf("WRONG: the grid finds other leaves\n");
  print_ratio(classic_ns, ours_ns);
}

/// The workload's pool of 4096 places: means of subsectors' seg ends, on the floor.
std::vector<ClassicMap::Thing> pool_of(const ClassicMap& classic) {
  std::vector<ClassicMap::Thing> pool;
  const auto n = static_cast<std::uint32_t>(classic.subsectors());
  for (std::uint32_t j = 0; j < 4096; ++j) pool.push_back(classic.thing_in(hash4(41, j, 0, 0) % n));
  return pool;
}

/// The same places in the world.
std::vector<DVec3> pool_of(const PlacedMap& placed, const ClassicMap& classic) {
  std::vector<DVec3> pool;
  for (const ClassicMap::Thing& t : pool_of(classic)) {
    const DVec2 at = placed.to_world({t.x / 65536.0, t.y / 65536.0});
    pool.push_back({at.x, at.y, placed.z_to_world(t.z / 65536.0)});
  }
  return pool;
}

void bench_sight(const PlacedMap& with, const PlacedMap& without, ClassicMap& classic, const char* asked) {
  const std::vector<DVec3> pool = pool_of(with, classic);
  constexpr std::uint32_t pairs = 1000000;
  // Eyes at 42 of 56 units look at the middle of a body.
  const auto run = [&](const PlacedMap& map) {
    std::uint64_t seen = 0;
    for (std::uint32_t i = 0; i < pairs; ++i) {
      const DVec3 from = pool[hash4(42, i, 0, 0) & 4095] + DVec3{0, 0, 42.0 / 32};
      const DVec3 to = pool[hash4(42, i, 1, 0) & 4095] + DVec3{0, 0, 28.0 / 32};
      seen += map_sees(map, map.initial_heights(), from, to) ? 1 : 0;
    }
    return seen;
  };
  const std::uint64_t a =
      measure("line of sight with the visibility set", pairs, asked, [&] { return run(with); });
  const double ours_ns = last_median_ns;
  const std::uint64_t b = measure("line of sight without it", pairs, "", [&] { return run(without); });
  const std::vector<ClassicMap::Thing> things = pool_of(classic);
  const std::uint64_t theirs = measure("line of sight, classic with REJECT", pairs, "(baseline)", [&] {
    std::uint64_t seen = 0;
    for (std::uint32_t i = 0; i < pairs; ++i)
      seen += classic.sees(things[hash4(42, i, 0, 0) & 4095], things[hash4(42, i, 1, 0) & 4095]) ? 1 : 0;
    return seen;
  });
  print_ratio(last_median_ns, ours_ns);
  std::printf("  %llu of %u pairs see each other in the middle; %llu any part, the classic way\n",
              static_cast<unsigned long long>(a), pairs, static_cast<unsigned long long>(theirs));
  if (a != b) good = false, std::printf("WRONG: the visibility set changes what is seen\n");
}

/// A step as Doom's monsters take it: try the place, stay where it does not fit.
bool try_step(const PlacedMap& map, DVec3& at, DVec2 delta) {
  const DVec2 to = xy(at) + delta;
  const MapFootprint under = map_footprint(map, map.initial_heights(), to, 16.0 / 32);
  constexpr double height = 56.0 / 32, step = 24.0 / 32;
  if (under.blocked || under.ceiling_m - under.floor_m < height || under.ceiling_m - at.z < height ||
      under.floor_m - at.z > step)
    return false;
  at = {to.x, to.y, under.floor_m};
  return true;
}

void bench_walk(const PlacedMap& map, const ClassicMap& classic, const char* asked) {
  const std::vector<DVec3> pool = pool_of(map, classic);
  constexpr std::uint32_t walkers = 1000, steps = 1000;
  measure("walking step", double{walkers} * steps, asked, [&] {
    std::uint64_t moved = 0;
    for (std::uint32_t w = 0; w < walkers; ++w) {
      DVec3 at = pool[w];
      for (std::uint32_t t = 0; t < steps; ++t) {
        const auto part = [&](std::uint32_t axis) {
          const auto fixed = static_cast<std::int32_t>(hash4(43, w, t, axis) & 0xfffffu) - 0x80000;
          return static_cast<double>(fixed) / (65536.0 * 32);
        };
        const double dx = part(0);
        moved += try_step(map, at, {dx, part(1)}) ? 1 : 0;
      }
    }
    return moved;
  });
}

std::shared_ptr<const PlacedMap> place(const SectorMap& map, bool visibility) {
  PlaceOptions options;
  options.doors_open = false;
  options.doorway = false;
  options.visibility = visibility;
  auto placed = place_map(map, options);
  if (!placed) std::printf("%s\n", placed.error().line().c_str()), std::exit(1);
  return *placed;
}

void bench_map(const WadStack& wads, const char* name, const char* sight, const char* walk) {
  const auto map = read_map(wads, name);
  if (!map) {
    std::printf("%s\n", map.error().line().c_str());
    good = false;
    return;
  }
  std::printf("%s: %zu lines\n", name, map->lines.size());
  const auto lumps = find_map(wads, name);
  if (!lumps || !lumps->segs || !lumps->ssectors || !lumps->nodes || !lumps->reject) {
    std::printf("%s has no classic nodes: nothing to compare with\n", name);
    return;
  }
  const WadFile& file = wads.files[lumps->file];
  ClassicMap classic(*map, file.bytes(*lumps->segs), file.bytes(*lumps->ssectors), file.bytes(*lumps->nodes),
                     file.bytes(*lumps->reject));
  const double point_ns = bench_classic_points(*map, classic);
  const auto with = place(*map, true), without = place(*map, false);
  bench_points(*map, with->tree(), point_ns);
  bench_sight(*with, *without, classic, sight);
  bench_walk(*with, classic, walk);
}

void bench_compile() {
  std::vector<double> read, compile, whole, placed;
  for (const char* file : {"freedoom1.wad", "freedoom2.wad"}) {
    const auto wads = find_wad(file);
    if (!wads) continue;
    for (const std::string& name : map_names(*wads)) {
      const double t0 = thread_ns();
      const auto map = read_map(*wads, name);
      if (!map) continue;
      const double t1 = thread_ns();
      const BspTree tree = build_bsp(*map);
      const double t2 = thread_ns();
      const SectorVisibility set = compute_visibility(*map, tree);
      const double t3 = thread_ns();
      if (!set.sees(0, 0)) good = false;
      place(*map, true);
      const double t4 = thread_ns();
      read.push_back((t1 - t0) * 1e-6), compile.push_back((t2 - t0) * 1e-6),
          whole.push_back((t3 - t0) * 1e-6), placed.push_back((t1 - t0 + t4 - t3) * 1e-6);
    }
  }
  const auto print = [](const char* what, std::vector<double>& ms, const char* asked) {
    std::sort(ms.begin(), ms.end());
    std::printf("  %-44s median %7.1f ms  worst %7.1f ms  %s\n", what, ms[ms.size() / 2], ms.back(), asked);
  };
  if (read.empty()) return;
  std::printf("all %zu maps\n", read.size());
  print("reading", read, "");
  print("reading and compiling", compile, "(asked: 100 and 1000)");
  print("with the visibility set", whole, "(asked: 100 and 1000)");
  print("placed, with its set and the queries' grids", placed, "");
}

}  // namespace

int main() {
  const auto wads = find_wad("freedoom2.wad");
  if (!wads) {
    std::printf(
        "freedoom2.wad is not in DOOMWADDIR or /usr/share/games/doom: install the package freedoom\n");
    return 0;
  }
  std::printf("min / median / max of three runs, CPU time\n");
  bench_map(*wads, "MAP01", "(asked: 270)", "(asked: 140)");
  bench_map(*wads, "MAP12", "(asked: 500)", "(asked: 165)");
  bench_map(*wads, "MAP15", "(asked: 160)", "(asked: 140)");
  bench_compile();
  return good ? 0 : 1;
}
