#pragma once
// The walk test: a crowd that walks, jumps and pushes through a space, and a judge that looks after each
// tick. Used short in the tests and whole in the benchmark.
#include <cmath>
#include <cstdint>
#include <vector>

#include "world/collide/crowd.h"
#include "world/math/random.h"
#include "world/sim/player_move.h"
#include "world/space.h"

namespace ashlar::test {

struct WalkResult {
  std::uint64_t player_ticks = 0;
  std::uint64_t out = 0;          ///< player-ticks beyond the bounds or below the lowest solid
  std::uint64_t overlapping = 0;  ///< player-ticks deeper in solid than the solver's tolerance
  std::uint64_t stuck = 0;        ///< bodies in solid for more than half a second
  std::uint64_t recovered = 0;    ///< player-ticks in which recovery moved a body
  std::uint64_t frozen = 0, lost = 0, jumps = 0, steps = 0, pairs = 0;
  double metres = 0;  ///< walked in all, so that a test sees that they did walk
  DVec3 example{};    ///< where the first wrong one was
  std::uint32_t example_tick = 0, example_mover = 0;

  void add(const WalkResult& r) {
    player_ticks += r.player_ticks, out += r.out, overlapping += r.overlapping, stuck += r.stuck;
    recovered += r.recovered, frozen += r.frozen, lost += r.lost, jumps += r.jumps, steps += r.steps;
    pairs += r.pairs, metres += r.metres;
    if (example == DVec3{})
      example = r.example, example_tick = r.example_tick, example_mover = r.example_mover;
  }
};

/// Deepest overlap that a solver may show: 1 mm for the sweep, 1 cm for corrections.
inline double tolerance_m(Solver solver) { return solver == Solver::sweep ? 0.001 : 0.01; }

/// The body smaller by a tolerance on all sides.
inline bool deeper_than(const Space& space, const Cylinder& shape, DVec3 base, double tolerance) {
  return space_overlaps(space, {shape.radius_m - tolerance, shape.height_m - 2 * tolerance},
                        base + DVec3{0, 0, tolerance});
}

/// @param bounds  nobody may be found outside
inline WalkResult run_walk(const Space& space, const Rules& rules, const Aabb& bounds,
                           const std::vector<DVec3>& starts, std::size_t movers, std::uint32_t ticks,
                           std::uint64_t seed) {
  WalkResult result;
  if (starts.empty()) return result;
  std::vector<Body> bodies(movers);
  std::vector<PlayerCommand> commands(movers);
  std::vector<Rng> rngs;
  std::vector<std::uint32_t> in_solid(movers, 0);
  for (std::size_t i = 0; i < movers; ++i) {
    bodies[i].position_m = starts[i % starts.size()];
    bodies[i].last_free_m = bodies[i].position_m;
    rngs.push_back(rng_for(seed, 1, i));
  }
  Crowd crowd;
  crowd.reserve(movers);
  const double tolerance = tolerance_m(rules.player_solver);
  const std::uint32_t half_second = rules.tick_rate_hz / 2;
  const auto blame = [&](std::uint32_t tick, std::size_t i) {
    if (!(result.example == DVec3{})) return;
    result.example = bodies[i].position_m;
    result.example_tick = tick;
    result.example_mover = static_cast<std::uint32_t>(i);
  };
  for (std::uint32_t tick = 0; tick < ticks; ++tick) {
    for (std::size_t i = 0; i < movers; ++i) {
      Rng& rng = rngs[i];
      PlayerCommand& c = commands[i];
      if (rng.below(60) == 0 || tick == 0) {
        c.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
        c.forward = rng.below(8) == 0 ? 0 : 1;
        c.left = rng.below(4) == 0 ? rng.between(-1, 1) : 0;
      }
      c.buttons = rng.below(40) == 0 ? button::jump : 0;
      const DVec3 before = bodies[i].position_m;
      const MoveReport report = player_move(space, rules, c, bodies[i]);
      result.metres += length(xy(bodies[i].position_m - before));
      result.recovered += report.recovered;
      result.frozen += report.frozen;
      result.lost += report.lost;
      result.jumps += report.jumped;
      result.steps += report.stepped;
      if (report.lost) bodies[i].position_m = starts[i % starts.size()];
    }
    crowd.clear();
    for (std::size_t i = 0; i < movers; ++i)
      crowd.add(rules.player, bodies[i], make_entity_id(static_cast<std::uint32_t>(i), 1));
    crowd.push_apart(space, rules);
    result.pairs += crowd.pairs_met();
    for (std::size_t i = 0; i < movers; ++i) {
      ++result.player_ticks;
      const DVec3 p = bodies[i].position_m;
      const bool in = is_finite(p) && p.x >= bounds.min.x && p.x <= bounds.max.x && p.y >= bounds.min.y &&
                      p.y <= bounds.max.y && p.z >= bounds.min.z && p.z <= bounds.max.z;
      if (!in) {
        ++result.out;
        blame(tick, i);
        continue;
      }
      if (deeper_than(space, rules.player, p, tolerance)) {
        ++result.overlapping;
        blame(tick, i);
      }
      in_solid[i] = deeper_than(space, rules.player, p, 0.001) ? in_solid[i] + 1 : 0;
      if (in_solid[i] == half_second + 1) {
        ++result.stuck;
        blame(tick, i);
      }
    }
  }
  return result;
}

}  // namespace ashlar::test
