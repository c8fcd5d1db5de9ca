#include "client_sim/explore/leap.h"

#include <algorithm>
#include <cmath>

#include "client_sim/explore/steps.h"

namespace ashlar::client_sim {
namespace {

constexpr double clearance_m = 0.06;      // over edges, in flight
constexpr double speed_share_max = 0.95;  // of walking speed: something is left to steer with
constexpr double piece_s = 0.02;
constexpr double leap_s_max = 6;
constexpr double level_m = 0.05;  // one height for a body that came down
constexpr double start_m = 0.08;  // as near is where the run begins
constexpr double astray_m = 0.15;
constexpr double steer_m = 0.5;  // so far along its line it heads

/// The flight that leaves the edge with a speed upwards; 0: a run off it.
std::optional<Leap> flight(const Expedition& e, std::uint32_t from, std::uint32_t to, double up) {
  const GroundGrid& grid = e.grid();
  const Rules& rules = e.rules();
  const StandHeights &start = e.stand(grid.set(from)), &end = e.stand(grid.set(to));
  const double g = rules.gravity_mps2;
  const double rise = end.floor_m - start.floor_m;
  const double under_root = up * up - 2 * g * (rise + clearance_m);
  if (under_root < 0 || end.ceiling_m - end.floor_m < rules.player.height_m) return std::nullopt;
  const double flight_s = (up + std::sqrt(under_root)) / g;

  Leap leap;
  leap.jumps = up > 0;
  leap.from = grid.point(from);
  leap.to = grid.point(to);
  const double away = length(leap.to - leap.from);
  leap.speed_mps = away / flight_s;
  if (away == 0 || leap.speed_mps > speed_share_max * rules.walk_speed_mps_max) return std::nullopt;
  leap.ahead = (leap.to - leap.from) * (1 / away);
  double before_z = start.floor_m;
  for (double t = piece_s; t < flight_s; t += piece_s) {
    const std::uint32_t cell = grid.cell_at(leap.from + leap.ahead * (leap.speed_mps * t));
    if (cell == from) continue;
    if (cell == no_index || grid.set(cell) == no_index) return std::nullopt;
    if ((e.marks(cell) & Expedition::near_way_out) != 0) return std::nullopt;
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

}  // namespace

std::optional<Leap> leap_between(const Expedition& e, std::uint32_t from, std::uint32_t to) {
  const auto jumped = flight(e, from, to, e.rules().jump_speed_mps);
  return jumped ? jumped : flight(e, from, to, 0);
}

/// Does it stand where the leap leads to?
bool LeapRun::over(const Expedition& e, const Body& body) const {
  const std::uint32_t cell = e.grid().cell_at(leap_.to);
  return std::fabs(e.stand(e.grid().set(cell)).floor_m - body.position_m.z) < level_m;
}

PlayerCommand LeapRun::think(const Expedition& e, const Body& body, std::uint16_t buttons) {
  if (e.now_s() - since_s_ > leap_s_max) return end(State::failed);
  const DVec2 here = xy(body.position_m);
  if (phase_ == Phase::back) {
    const DVec2 start = leap_.from - leap_.ahead * leap_.run_m;
    const DVec2 v = xy(body.velocity_mps);
    if (length(start - here) > start_m || dot(v, v) > 0.04) return step_to(e.rules(), here, start, true);
    phase_ = Phase::run;
  }
  PlayerCommand c;
  c.forward = std::min(1.0, leap_.speed_mps / e.rules().walk_speed_mps_max);
  if (phase_ == Phase::run) {
    // Pushed off its line it would be over an edge that runs along it too soon.
    if (std::fabs(cross(here - leap_.from, leap_.ahead)) > astray_m) return end(State::failed);
    const double run_m = dot(here - leap_.from, leap_.ahead);
    c.yaw = turn_towards(leap_.from + leap_.ahead * (run_m + steer_m) - here);
    if (!leap_.jumps) {
      // Over a narrow gap the far side carries it before it has left the near one.
      if (dot(leap_.to - here, leap_.ahead) < 0.2) return end(over(e, body) ? State::landed : State::failed);
      if (body.grounded == 0) phase_ = Phase::air;
      return c;
    }
    if (body.grounded == 0) return end(State::failed);  // over the edge without a jump
    const double left_m = dot(leap_.from - here, leap_.ahead);
    if (left_m < 0.5 * leap_.speed_mps * e.rules().tick_s() + 0.02) {
      c.buttons = button::jump;
      phase_ = Phase::air;
    }
    return c;
  }
  c.yaw = turn_towards(leap_.to - here);
  if (body.grounded != 0 && body.velocity_mps.z <= 0 && (buttons & button::jump) == 0)
    return end(over(e, body) ? State::landed : State::failed);
  if (dot(leap_.to - here, leap_.ahead) < 0.1) c.forward = 0;
  return c;
}

}  // namespace ashlar::client_sim
