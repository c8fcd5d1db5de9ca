#include <algorithm>
#include <cmath>

#include "client_sim/explore/route.h"

namespace ashlar::client_sim {
namespace {

constexpr double clearance_m = 0.06;      // over edges, in flight
constexpr double speed_share_max = 0.95;  // of walking speed: something is left to steer with
constexpr double piece_s = 0.02;

}  // namespace

std::optional<Leap> leap_between(const Expedition& e, std::uint32_t from, std::uint32_t to) {
  const GroundGrid& grid = e.grid();
  const Rules& rules = e.rules();
  const StandHeights &start = e.stand(grid.set(from)), &end = e.stand(grid.set(to));
  const double g = rules.gravity_mps2, up = rules.jump_speed_mps;
  const double rise = end.floor_m - start.floor_m;
  const double under_root = up * up - 2 * g * (rise + clearance_m);
  if (under_root < 0 || end.ceiling_m - end.floor_m < rules.player.height_m) return std::nullopt;
  const double flight_s = (up + std::sqrt(under_root)) / g;

  Leap leap;
  leap.from = grid.point(from);
  leap.to = grid.point(to);
  const double away = length(leap.to - leap.from);
  leap.speed_mps = away / flight_s;
  if (away == 0 || leap.speed_mps > speed_share_max * rules.walk_speed_mps_max) return std::nullopt;
  leap.ahead = (leap.to - leap.from) * (1 / away);
  double before_z = start.floor_m;
  for (double t = piece_s; t < flight_s; t += piece_s) {
    const std::uint32_t cell = grid.cell_at(leap.from + leap.ahead * (leap.speed_mps * t));
    if (cell == no_index || grid.set(cell) == no_index) return std::nullopt;
    if ((e.marks(cell) & Expedition::near_walk_line) != 0) return std::nullopt;
    const StandHeights& h = e.stand(grid.set(cell));
    const double z = start.floor_m + t * (up - 0.5 * g * t);
    if (z < h.floor_m) {
      // Down on something: what it came from above onto carries it, anything else stops it.
      if (before_z < h.floor_m || std::fabs(h.floor_m - end.floor_m) > 0.01) return std::nullopt;
      break;
    }
    before_z = z;
    if (z + rules.player.height_m > h.ceiling_m) return std::nullopt;
  }
  // Room to run up: the ground gives its acceleration within a few ticks.
  const double needed_m = leap.speed_mps * leap.speed_mps / (2 * rules.ground_acceleration_mps2) + 0.15;
  for (double back = 0; back < needed_m + 0.5; back += 0.1) {
    const std::uint32_t cell = grid.cell_at(leap.from - leap.ahead * back);
    if (cell == no_index || grid.set(cell) == no_index) break;
    const StandHeights& h = e.stand(grid.set(cell));
    if (std::fabs(h.floor_m - start.floor_m) > 0.01 || h.ceiling_m - h.floor_m < rules.player.height_m) break;
    leap.run_m = back;
  }
  if (leap.run_m < needed_m) return std::nullopt;
  return leap;
}

}  // namespace ashlar::client_sim
