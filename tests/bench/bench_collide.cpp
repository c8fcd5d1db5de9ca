// Collision workloads, each beside a plain baseline in the same run: W1 (10 000 characters walk through
// voxels), W2 (a million rays of 64 m), moves with steps in MAP01, corrections, rays
// against a mesh. CPU time of the thread, three
// runs, min / median / max. Exit code 1 where a check value is wrong.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#include "tests/bench/timing.h"
#include "tests/bench/walkers.h"
#include "tests/bench/workload.h"
#include "tests/walk_worlds.h"
#include "world/collide/correct.h"
#include "world/math/turn.h"
#include "world/mesh/triangle_mesh.h"
#include "world/voxel/ray.h"

using namespace ashlar;
using namespace ashlar::bench;

namespace {

bool good = true;

void check(bool condition, const char* what) {
  if (condition) return;
  std::printf("WRONG: %s\n", what);
  good = false;
}

void print(const char* name, Spread s, double scale, const char* unit) {
  std::printf("%-52s %9.3f %9.3f %9.3f %s\n", name, s.low * scale, s.median * scale, s.high * scale, unit);
  std::fflush(stdout);
}

/// The baseline: a box of 0.6 x 0.6 x 1.8 moved one axis after the other through the columns of bits.
struct BoxMover {
  const WorkloadWorld& w;

  bool column(int x, int y, int low, int high) const {
    if (x < 0 || y < 0 || x >= world_size || y >= world_size) return false;
    const std::uint64_t mask = (~std::uint64_t{0} >> (63 - high)) & (~std::uint64_t{0} << low);
    return (w.columns[static_cast<std::size_t>(y * world_size + x)] & mask) != 0;
  }
  bool blocked(double x0, double x1, double y0, double y1, double z0, double z1) const {
    const int low = std::max(0, static_cast<int>(std::floor(z0))),
              high = std::min(63, static_cast<int>(std::ceil(z1)) - 1);
    if (low > high) return false;
    for (int y = static_cast<int>(std::floor(y0)); y < static_cast<int>(std::ceil(y1)); ++y)
      for (int x = static_cast<int>(std::floor(x0)); x < static_cast<int>(std::ceil(x1)); ++x)
        if (column(x, y, low, high)) return true;
    return false;
  }
  static constexpr double half = 0.3, tall = 1.8, skin = 1e-9;

  bool at(DVec3 p) const {
    return blocked(p.x - half + skin, p.x + half - skin, p.y - half + skin, p.y + half - skin, p.z + skin,
                   p.z + tall - skin);
  }
  void step(DVec3& p, DVec3& v, bool& grounded, DVec2& moved) const {
    const DVec3 start = p;
    grounded = false;
    DVec3 to = p;
    to.z += v.z * dt_s;
    if (at(to)) {
      if (v.z < 0) {
        to.z = std::floor(to.z) + 1;
        grounded = true;
      } else {
        to.z = std::floor(to.z + tall) - tall;
      }
      v.z = 0;
    }
    p = to;
    to.x += v.x * dt_s;
    if (at(to)) to.x = v.x > 0 ? std::floor(to.x + half) - half : std::floor(to.x - half) + 1 + half;
    p = to;
    to.y += v.y * dt_s;
    if (at(to)) to.y = v.y > 0 ? std::floor(to.y + half) - half : std::floor(to.y - half) + 1 + half;
    p = to;
    moved = xy(p - start);
  }
};

/// The baseline looks its 1024 headings up, as a specialised mover would.
std::vector<DVec2> make_headings() {
  std::vector<DVec2> out;
  for (std::uint32_t a = 0; a < 1024; ++a) out.push_back(heading(Turn16{static_cast<std::uint16_t>(a * 64)}));
  return out;
}

WalkSums walk_boxes(const WorkloadWorld& w) {
  const BoxMover mover{w};
  const std::vector<DVec2> headings = make_headings();
  WalkSums sums;
  struct State {
    DVec3 p, v;
    DVec2 moved{1, 0};
    bool grounded = true;
  };
  std::vector<State> states(walkers);
  for (std::uint32_t i = 0; i < walkers; ++i) states[i].p = walker_start(w, i);
  for (std::uint32_t t = 0; t < walk_ticks; ++t)
    for (std::uint32_t i = 0; i < walkers; ++i) {
      State& s = states[i];
      const std::uint32_t a = hash4(11, i, t / 30, 0) & 1023u;
      if (s.grounded) {
        s.v.z = 0;
        if (dot(s.moved, s.moved) < 0.05 * 0.05) s.v.z = 7, ++sums.jumps;
      }
      s.v.z -= 20 * dt_s;
      s.v.x = 6 * headings[a].x;
      s.v.y = 6 * headings[a].y;
      mover.step(s.p, s.v, s.grounded, s.moved);
    }
  for (std::uint32_t i = 0; i < walkers; ++i) {
    sums.displacement += length(xy(states[i].p - walker_start(w, i)));
    sums.z += states[i].p.z;
    sums.grounded += states[i].grounded;
  }
  return sums;
}

void print_sums(const char* name, const WalkSums& s) {
  std::printf("  %-14s mean displacement %.3f m, mean height %.3f m, grounded %llu, jumps per tick %.2f\n",
              name, s.displacement / walkers, s.z / walkers, static_cast<unsigned long long>(s.grounded),
              static_cast<double>(s.jumps) / walk_ticks);
}

void w1(const WorkloadWorld& world, const VoxelVolume& volume) {
  std::printf("W1 voxel walk: us per character and tick (at most 0.18 and 5 times the box mover)\n");
  WalkSums boxes, swept, corrected;
  constexpr double per = static_cast<double>(walkers) * walk_ticks;
  const Spread box = measure([&] { boxes = walk_boxes(world); }, per);
  const Spread player =
      measure([&] { swept = walk_players(world, volume, Solver::sweep, nullptr, nullptr); }, per);
  const Spread correct =
      measure([&] { corrected = walk_players(world, volume, Solver::correct, nullptr, nullptr); }, per);
  print("  per-axis box mover (baseline)", box, 1e6, "us");
  print("  player mover, sweep", player, 1e6, "us");
  print("  player mover, correct", correct, 1e6, "us");
  std::printf("  sweep / box mover: %.2f\n", player.median / box.median);
  print_sums("box", boxes);
  print_sums("sweep", swept);
  print_sums("correct", corrected);
  for (const Solver solver : {Solver::sweep, Solver::correct}) {
    std::uint64_t penetrating = 0, out = 0;
    walk_players(world, volume, solver, &penetrating, &out);
    std::printf("  %s: penetrating by more than 1 cm %llu, out %llu\n",
                solver == Solver::sweep ? "sweep" : "correct", static_cast<unsigned long long>(penetrating),
                static_cast<unsigned long long>(out));
    check(penetrating == 0 && out == 0, "W1: a walker is in solid or out");
  }
}

/// The baseline and the reference: a plain grid walk in double, one block after the other.
bool plain_walk(const WorkloadWorld& w, const Cast& c, IVec3& cell) {
  const DVec3 d = c.to - c.from;
  IVec3 at = block_at(c.from);
  const std::array<double, 3> from{c.from.x, c.from.y, c.from.z}, way{d.x, d.y, d.z};
  std::array<std::int32_t*, 3> axis{&at.x, &at.y, &at.z};
  std::array<double, 3> next{}, every{};
  for (std::size_t k = 0; k < 3; ++k) {
    if (way[k] == 0) {
      next[k] = every[k] = 1e300;
      continue;
    }
    every[k] = std::fabs(1 / way[k]);
    next[k] = (way[k] > 0 ? *axis[k] + 1.0 - from[k] : from[k] - *axis[k]) * every[k];
  }
  while (true) {
    if (at.x < 0 || at.y < 0 || at.z < 0 || at.x >= world_size || at.y >= world_size || at.z >= world_tall)
      return false;
    if (w.solid(at.x, at.z, at.y)) {
      cell = at;
      return true;
    }
    const std::size_t k = next[0] <= next[1] ? (next[0] <= next[2] ? 0 : 2) : (next[1] <= next[2] ? 1 : 2);
    if (next[k] > 1) return false;
    *axis[k] += way[k] > 0 ? 1 : -1;
    next[k] += every[k];
  }
}

void w2(const WorkloadWorld& world, const VoxelVolume& volume) {
  std::printf("W2 voxel ray: ns per cast of 64 m (at most 150 and faster than the plain walk)\n");
  constexpr std::uint32_t casts_count = 1000000;
  std::vector<Cast> casts(casts_count);
  for (std::uint32_t i = 0; i < casts_count; ++i) casts[i] = make_cast(world, i);
  std::vector<std::int32_t> plain(casts_count), ours(casts_count);
  const auto number = [](IVec3 c) { return (c.y * 64 + c.z) * 256 + c.x; };
  const Spread walk = measure(
      [&] {
        for (std::uint32_t i = 0; i < casts_count; ++i) {
          IVec3 cell;
          plain[i] = plain_walk(world, casts[i], cell) ? number(cell) : -1;
        }
      },
      casts_count);
  const Spread ray = measure(
      [&] {
        for (std::uint32_t i = 0; i < casts_count; ++i) {
          const DVec3 d = casts[i].to - casts[i].from;
          const double size = std::sqrt(dot(d, d));
          const RayHit hit = voxel_ray(volume, casts[i].from, d * (1 / size), size);
          const IVec3 b = hit.block;
          const bool in = hit.hit() && b.x >= 0 && b.y >= 0 && b.z >= 0 && b.x < 256 && b.y < 256 && b.z < 64;
          ours[i] = in ? number(b) : -1;
        }
      },
      casts_count);
  print("  plain grid walk in double (baseline)", walk, 1e9, "ns");
  print("  voxel_ray", ray, 1e9, "ns");
  std::uint64_t sum = 0, hits = 0, differ = 0, plain_hits = 0;
  for (std::uint32_t i = 0; i < casts_count; ++i) {
    plain_hits += plain[i] >= 0;
    differ += plain[i] != ours[i];
    if (ours[i] < 0) continue;
    ++hits;
    sum += (static_cast<std::uint64_t>(ours[i]) + 1) * (2 * std::uint64_t{i} + 1);
  }
  std::printf("  hits %llu (plain %llu), checksum %016llx, casts that differ from the plain walk %llu\n",
              static_cast<unsigned long long>(hits), static_cast<unsigned long long>(plain_hits),
              static_cast<unsigned long long>(sum), static_cast<unsigned long long>(differ));
  check(plain_hits == 858425, "W2: the walk in double hits 858425");
  check(differ <= 2, "W2: at most 2 casts differ from a walk in double");
}

void corrections(const VoxelVolume& volume) {
  std::printf("Corrections: ns each\n");
  Rng rng{5};
  std::vector<DVec3> points(100000);
  for (DVec3& p : points) {
    p.x = rng.between(2, 250);
    p.y = rng.between(2, 250);
    p.z = rng.between(5, 40);
  }
  std::uint64_t moved = 0;
  print("  correct_point",
        measure(
            [&] {
              for (const DVec3& p : points) moved += correct_point(volume, p, 0.01).moved;
            },
            1e5),
        1e9, "ns");
  const Cylinder shape;
  std::uint64_t apart = 0;
  print("  window_correct of a player",
        measure(
            [&] {
              BlockWindow window;
              for (const DVec3& p : points) {
                Aabb b = bounds_of(shape, p);
                b.min -= DVec3{0.3, 0.3, 0.3};
                b.max += DVec3{0.3, 0.3, 0.3};
                const BlockRange r = blocks_of(b);
                fill_window(volume, r.low, r.high, window);
                apart += window_correct(window, shape, p, 0.3).has_value();
              }
            },
            1e5),
        1e9, "ns");
  check(moved > 0 && apart > 0, "corrections: nothing was corrected");
}

/// A ball with bumps, of about 100 000 triangles.
TriangleMesh bumpy_ball() {
  constexpr std::uint32_t rings = 160, spokes = 316;
  std::vector<DVec3> vertices;
  std::vector<std::array<std::uint32_t, 3>> triangles;
  Rng rng{17};
  for (std::uint32_t r = 0; r <= rings; ++r)
    for (std::uint32_t s = 0; s < spokes; ++s) {
      const SinCos up = sin_cos(Turn16{static_cast<std::uint16_t>(r * 32768 / rings)});
      const SinCos round = sin_cos(Turn16{static_cast<std::uint16_t>(s * 65536 / spokes)});
      const double radius = rng.between(9.5, 10.5);
      vertices.push_back({up.sin * round.cos * radius, up.sin * round.sin * radius, up.cos * radius});
    }
  for (std::uint32_t r = 0; r < rings; ++r)
    for (std::uint32_t s = 0; s < spokes; ++s) {
      const std::uint32_t a = r * spokes + s, b = r * spokes + (s + 1) % spokes;
      triangles.push_back({a, b, a + spokes});
      triangles.push_back({b, b + spokes, a + spokes});
    }
  return *TriangleMesh::build(vertices, triangles);
}

void mesh_rays() {
  const TriangleMesh mesh = bumpy_ball();
  std::printf("Mesh rays: ns each, %zu triangles under a tree of depth %d\n", mesh.size(), mesh.depth());
  struct Shot {
    DVec3 from, direction;
  };
  std::vector<Shot> shots(100000);
  Rng rng{18};
  for (Shot& shot : shots) {
    const auto within = [&rng](double size) {
      DVec3 p;
      p.x = rng.between(-size, size);
      p.y = rng.between(-size, size);
      p.z = rng.between(-size, size);
      return p;
    };
    shot.from = within(20);
    const DVec3 way = within(10) - shot.from;
    shot.direction = way * (1 / length(way));
  }
  constexpr double range_m = 64;
  std::uint64_t hits = 0;
  print("  TriangleMesh::ray",
        measure(
            [&] {
              hits = 0;
              for (const Shot& s : shots) hits += mesh.ray(s.from, s.direction, range_m).hit();
            },
            1e5),
        1e9, "ns");
  constexpr std::size_t few = 100;
  std::uint64_t differ = 0;
  print("  every triangle (baseline)",
        measure(
            [&] {
              differ = 0;
              for (std::size_t i = 0; i < few; ++i) {
                double nearest = range_m;
                bool any = false;
                for (std::size_t k = 0; k < mesh.size(); ++k) {
                  const auto t = ray_triangle(shots[i].from, shots[i].direction, mesh.triangle(k));
                  if (t && *t <= nearest) nearest = *t, any = true;
                }
                const MeshHit hit = mesh.ray(shots[i].from, shots[i].direction, range_m);
                differ += hit.hit() != any || (any && std::fabs(hit.t_m - nearest) > 1e-9);
              }
            },
            few),
        1e9, "ns");
  std::printf("  hits %llu of 100000, differ from every triangle %llu of %zu\n",
              static_cast<unsigned long long>(hits), static_cast<unsigned long long>(differ), few);
  check(hits > 50000 && differ == 0, "mesh rays: the tree and every triangle agree");
}

void map_moves() {
  const char* path = "/usr/share/games/doom/freedoom2.wad";
  auto bytes = test::read_bytes(path);
  if (bytes.empty()) {
    std::printf("MAP01: %s is not there, left out\n", path);
    return;
  }
  auto wad = open_wad(std::move(bytes), path);
  check(wad.has_value(), "MAP01: not a WAD");
  if (!wad) return;
  WadStack stack;
  stack.files.push_back(std::move(*wad));
  const auto source = read_map(stack, "MAP01");
  check(source.has_value(), "MAP01: unreadable");
  if (!source) return;
  const auto placed = place_map(*source, {"MAP01", {}, 20, true, true});
  check(placed.has_value(), "MAP01: not placed");
  if (!placed) return;
  test::WalkWorld world;
  test::make_map_world(world, *placed, 1);
  const Space space = world.space();
  constexpr std::uint32_t ticks = 300;
  for (const Solver solver : {Solver::sweep, Solver::correct}) {
    Rules rules;
    rules.player_solver = solver;
    const Spread s = measure(
        [&] {
          for (std::size_t i = 0; i < world.starts.size(); ++i) {
            Body body;
            body.position_m = body.last_free_m = world.starts[i];
            Rng rng = rng_for(3, i);
            PlayerCommand c;
            c.forward = 1;
            for (std::uint32_t t = 0; t < ticks; ++t) {
              if (t % 40 == 0) c.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
              player_move(space, rules, c, body);
            }
          }
        },
        static_cast<double>(world.starts.size()) * ticks);
    print(solver == Solver::sweep ? "MAP01 moves with steps, sweep" : "MAP01 moves with steps, correct", s,
          1e6, "us");
    std::printf("  %.0f moves a second\n", 1 / s.median);
  }
}

}  // namespace

int main() {
  const WorkloadWorld world = make_workload_world();
  std::uint64_t solid = 0, fold = 0;
  for (const std::uint64_t c : world.columns) {
    solid += static_cast<std::uint64_t>(std::popcount(c));
    fold = fold * 0x9E3779B97F4A7C15u + c;
  }
  std::printf("world: %llu solid blocks, fold %016llx\n", static_cast<unsigned long long>(solid),
              static_cast<unsigned long long>(fold));
  check(solid == 1338785, "the world has 1338785 solid blocks");
  check(fold == 0x39c38304d9fe7200u, "the world's fold is 39c38304d9fe7200");
  const VoxelVolume volume = make_workload_volume(world);
  std::printf("%-52s %9s %9s %9s\n", "", "min", "median", "max");
  w1(world, volume);
  w2(world, volume);
  corrections(volume);
  mesh_rays();
  map_moves();
  return good ? 0 : 1;
}
