#pragma once
// W1 by the real player mover: 10 000 characters walk through the workload's voxels for ten seconds.
#include <cstdint>
#include <vector>

#include "tests/bench/workload.h"
#include "world/math/turn.h"
#include "world/sim/player_move.h"

namespace ashlar::bench {

/// What a walk came to, to compare solvers that part ways within seconds.
struct WalkSums {
  double displacement = 0, z = 0;
  std::uint64_t grounded = 0, jumps = 0;
};

inline constexpr std::uint32_t walkers = 10000, walk_ticks = 600;
inline constexpr double dt_s = 1.0 / 60;

/// The real player mover under the workload's rules.
inline WalkSums walk_players(const WorkloadWorld& w, const VoxelVolume& volume, Solver solver,
                             std::uint64_t* penetrating, std::uint64_t* out) {
  Rules rules;
  rules.player = {0.3, 1.8};
  rules.step_height_m_max = 0;
  rules.gravity_mps2 = 20;
  rules.ground_acceleration_mps2 = 1000;
  rules.air_acceleration_mps2 = 1000;
  rules.fall_speed_mps_max = 200;
  rules.player_solver = solver;
  const Space space{&volume, {}};
  WalkSums sums;
  std::vector<Body> bodies(walkers);
  std::vector<DVec2> moved(walkers, {1, 0});
  for (std::uint32_t i = 0; i < walkers; ++i) {
    bodies[i].position_m = walker_start(w, i);
    bodies[i].last_free_m = bodies[i].position_m;
    bodies[i].grounded = 1;
  }
  for (std::uint32_t t = 0; t < walk_ticks; ++t)
    for (std::uint32_t i = 0; i < walkers; ++i) {
      Body& b = bodies[i];
      PlayerCommand c;
      c.forward = 1;
      c.yaw = Turn16{static_cast<std::uint16_t>((hash4(11, i, t / 30, 0) & 1023u) * 64)};
      if (b.grounded != 0 && dot(moved[i], moved[i]) < 0.05 * 0.05) c.buttons = button::jump;
      const DVec3 before = b.position_m;
      const MoveReport r = player_move(space, rules, c, b);
      sums.jumps += r.jumped;
      moved[i] = xy(b.position_m - before);
      if (penetrating != nullptr && i % 10 == 0) {
        const DVec3 p = b.position_m;
        *penetrating += space_overlaps(space, {0.29, 1.78}, p + DVec3{0, 0, 0.01});
        *out += p.z < -1 || p.x < 0 || p.x > 256 || p.y < 0 || p.y > 256;
      }
    }
  for (std::uint32_t i = 0; i < walkers; ++i) {
    sums.displacement += length(xy(bodies[i].position_m - walker_start(w, i)));
    sums.z += bodies[i].position_m.z;
    sums.grounded += bodies[i].grounded;
  }
  return sums;
}

}  // namespace ashlar::bench
