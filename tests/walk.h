#pragma once
// The walk test: a crowd that walks, jumps and pushes through a space, and a judge that looks after each
// tick. Used short in the tests and whole in the benchmark.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "world/collide/space.h"
#include "world/math/random.h"
#include "world/sim/crowd.h"
#include "world/sim/kinds.h"
#include "world/sim/monster_move.h"
#include "world/sim/player_move.h"

namespace ashlar::test {

struct WalkResult {
  std::uint64_t player_ticks = 0;   ///< of movers of all kinds
  std::uint64_t monster_ticks = 0;  ///< those among them of monsters
  std::uint64_t out = 0;            ///< player-ticks beyond the bounds or below the lowest solid
  std::uint64_t overlapping = 0;    ///< player-ticks deeper in solid than the solver's tolerance
  std::uint64_t stuck = 0;          ///< bodies in solid for more than half a second
  std::uint64_t hanging = 0;    ///< body-ticks in the air in which nothing but the solver held a faller up
  std::uint64_t recovered = 0;  ///< player-ticks in which recovery moved a body
  std::uint64_t frozen = 0, lost = 0, jumps = 0, steps = 0, pairs = 0;
  double metres = 0;  ///< walked in all, so that a test sees that they did walk
  DVec3 example{};    ///< where the first wrong one was
  std::uint32_t example_tick = 0, example_mover = 0;

  void add(const WalkResult& r) {
    player_ticks += r.player_ticks, monster_ticks += r.monster_ticks, out += r.out,
        overlapping += r.overlapping, stuck += r.stuck;
    hanging += r.hanging, recovered += r.recovered, frozen += r.frozen, lost += r.lost, jumps += r.jumps,
        steps += r.steps;
    pairs += r.pairs, metres += r.metres;
    if (example == DVec3{})
      example = r.example, example_tick = r.example_tick, example_mover = r.example_mover;
  }
};

/// Deepest overlap that a solver may show: 1 mm for the sweep, 1 cm for corrections.
inline double tolerance_m(Solver solver) { return solver == Solver::sweep ? 0.001 : 0.01; }

/// The body smaller by a tolerance on all sides overlaps; a point is that deep when no way of that length
/// along an axis leads out.
inline bool deeper_than(const Space& space, const Cylinder& shape, DVec3 base, double tolerance) {
  if (shape.radius_m <= tolerance) {
    for (const DVec3 way : {DVec3{0, 0, 1}, DVec3{0, 0, -1}, DVec3{1, 0, 0}, DVec3{-1, 0, 0}, DVec3{0, 1, 0},
                            DVec3{0, -1, 0}, DVec3{}})
      if (!space_overlaps(space, shape, base + way * tolerance)) return false;
    return true;
  }
  return space_overlaps(space, {shape.radius_m - tolerance, shape.height_m - 2 * tolerance},
                        base + DVec3{0, 0, tolerance});
}

/// In the air, at the same place as before, and with room below: a solver has lost the fall.
inline bool hangs(const Space& space, const Cylinder& shape, const Body& body, DVec3 before) {
  if (body.grounded != 0 || body.stuck_ticks != 0 || length(body.position_m - before) > 1e-6) return false;
  return !space_overlaps(space, shape, body.position_m - DVec3{0, 0, 0.001});
}

/// One mover of the crowd: every third is a monster, of a kind that fits where it starts.
struct Walker {
  const MonsterTraits* monster = nullptr;  ///< null: a player
  Cylinder body, against_walls;
  DVec3 home;
  PlayerCommand command;
  MonsterWish wish;
  double tolerance = 0;
};

inline Walker make_walker(const Space& space, const Rules& rules, const std::vector<DVec3>& starts,
                          std::size_t index) {
  Walker w{nullptr, rules.player, rules.player, starts[index % starts.size()], {}, {}, 0};
  w.tolerance = tolerance_m(rules.player_solver);
  if (index % 3 != 2) return w;
  // Many starts have no room for the wide kinds: the next ones are asked, then the next smaller kind.
  for (std::size_t k = index / 3; w.monster == nullptr; ++k) {
    const MonsterTraits& kind = traits(static_cast<MonsterKind>(k % monster_kind_count));
    if (k > index / 3 + monster_kind_count) return w;  // room for players only
    for (std::size_t i = 0; i < 40 && w.monster == nullptr; ++i) {
      const DVec3 at = starts[(index + i * 7) % starts.size()];
      if (space_overlaps(space, kind.shape, at)) continue;
      w.monster = &kind;
      w.home = at;
    }
    w.body = kind.shape;
    w.against_walls = wall_shape(rules, kind);
  }
  w.tolerance = tolerance_m(rules.monster_solver);
  return w;
}

/// A new heading about once a second, jumps now and then, and monsters that fly rise and sink.
inline MoveReport walk_on(const Space& space, const Rules& rules, Walker& w, Body& body, Rng& rng,
                          bool first) {
  if (rng.below(60) == 0 || first) {
    w.command.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
    w.command.forward = rng.below(8) == 0 ? 0 : 1;
    w.command.left = rng.below(4) == 0 ? rng.between(-1, 1) : 0;
    w.wish.direction = w.command.forward == 0 ? DVec2{} : heading(w.command.yaw);
    w.wish.climb = w.command.left;
  }
  w.command.buttons = rng.below(40) == 0 ? button::jump : 0;
  if (w.monster != nullptr) return monster_move(space, rules, *w.monster, w.wish, body);
  return player_move(space, rules, w.command, body);
}

/// @param bounds  nobody may be found outside
inline WalkResult run_walk(const Space& space, const Rules& rules, const Aabb& bounds,
                           const std::vector<DVec3>& starts, std::size_t movers, std::uint32_t ticks,
                           std::uint64_t seed) {
  WalkResult result;
  if (starts.empty()) return result;
  std::vector<Body> bodies(movers);
  std::vector<Walker> walkers;
  std::vector<Rng> rngs;
  std::vector<std::uint32_t> in_solid(movers, 0), in_air(movers, 0);
  std::vector<DVec3> places(movers);
  for (std::size_t i = 0; i < movers; ++i) {
    walkers.push_back(make_walker(space, rules, starts, i));
    bodies[i].position_m = walkers[i].home;
    bodies[i].last_free_m = bodies[i].position_m;
    rngs.push_back(rng_for(seed, 1, i));
  }
  Crowd crowd;
  crowd.reserve(movers);
  const std::uint32_t half_second = rules.tick_rate_hz / 2;
  const auto blame = [&](std::uint32_t tick, std::size_t i) {
    if (!(result.example == DVec3{})) return;
    result.example = bodies[i].position_m;
    result.example_tick = tick;
    result.example_mover = static_cast<std::uint32_t>(i);
  };
  for (std::uint32_t tick = 0; tick < ticks; ++tick) {
    for (std::size_t i = 0; i < movers; ++i) {
      const DVec3 before = places[i] = bodies[i].position_m;
      const MoveReport report = walk_on(space, rules, walkers[i], bodies[i], rngs[i], tick == 0);
      result.metres += length(xy(bodies[i].position_m - before));
      result.recovered += report.recovered;
      result.frozen += report.frozen;
      result.lost += report.lost;
      result.jumps += report.jumped;
      result.steps += report.stepped;
      if (report.lost) bodies[i].position_m = walkers[i].home, bodies[i].stuck_ticks = 0;
    }
    crowd.clear();
    for (std::size_t i = 0; i < movers; ++i)
      crowd.add(walkers[i].body, walkers[i].against_walls, bodies[i],
                make_entity_id(static_cast<std::uint32_t>(i), 1));
    crowd.push_apart(space, rules);
    result.pairs += crowd.pairs_met();
    for (std::size_t i = 0; i < movers; ++i) {
      const Cylinder& shape = walkers[i].against_walls;
      ++result.player_ticks;
      result.monster_ticks += walkers[i].monster != nullptr;
      const DVec3 p = bodies[i].position_m;
      // What only touches the end of the world is in it.
      constexpr double touching_m = 2 * contact_slop_m;
      const DVec3 low = p - bounds.min, high = bounds.max - p;
      const bool in = is_finite(p) && std::min({low.x, low.y, low.z, high.x, high.y, high.z}) >= -touching_m;
      if (!in) {
        ++result.out;
        blame(tick, i);
        continue;
      }
      if (deeper_than(space, shape, p, walkers[i].tolerance)) {
        ++result.overlapping;
        blame(tick, i);
      }
      // At the top of a jump a tick may lead nowhere; two never do.
      const bool falls = walkers[i].monster == nullptr || walkers[i].monster->flies == 0;
      in_air[i] = falls && hangs(space, shape, bodies[i], places[i]) ? in_air[i] + 1 : 0;
      if (in_air[i] > 1) {
        ++result.hanging;
        blame(tick, i);
      }
      in_solid[i] = deeper_than(space, shape, p, 0.001) ? in_solid[i] + 1 : 0;
      if (in_solid[i] == half_second + 1) {
        ++result.stuck;
        blame(tick, i);
      }
    }
  }
  return result;
}

}  // namespace ashlar::test
