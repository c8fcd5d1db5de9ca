#include "world/sim/player_move.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"
#include "world/sim/mover.h"

namespace ashlar {
namespace {

constexpr double stop_speed_mps = 2.0;     // friction is at least what it is at this speed, so bodies stop
constexpr double noclip_speed_factor = 3;  // of walking speed

DVec2 shortened(DVec2 v) {
  const double size2 = dot(v, v);
  return size2 > 1 ? v * (1 / std::sqrt(size2)) : v;
}

DVec2 slowed_by_friction(DVec2 velocity, double friction_per_s, double dt_s) {
  const double speed = length(velocity);
  if (speed == 0) return velocity;
  const double drop = std::max(speed, stop_speed_mps) * friction_per_s * dt_s;
  return drop >= speed ? DVec2{} : velocity * ((speed - drop) / speed);
}

MoveReport fly_through(const Space& space, const Rules& rules, const PlayerCommand& command, Body& body) {
  const DVec3 ahead = view_direction(command.yaw, command.pitch);
  const DVec2 side = heading(command.yaw + Turn16{16384});
  const DVec2 axes = shortened({command.forward, command.left});
  double rise = 0;
  if ((command.buttons & button::jump) != 0) rise += 1;
  if ((command.buttons & button::down) != 0) rise -= 1;
  const DVec3 wish = ahead * axes.x + DVec3{side.x * axes.y, side.y * axes.y, rise};
  body.velocity_mps = wish * (rules.walk_speed_mps_max * noclip_speed_factor);
  const DVec3 next = body.position_m + body.velocity_mps * rules.tick_s();
  if (in_bounds(next)) body.position_m = next;
  body.grounded = 0;
  body.stuck_ticks = 0;
  body.recovery_velocity_mps = {};
  body.eye_offset_m = 0;
  // Where it enters rock is where recovery takes it back to, should no-clip end in there.
  if (!space_unloaded(space, rules.player, body.position_m) &&
      !space_overlaps(space, rules.player, body.position_m))
    body.last_free_m = body.position_m;
  return {};
}

}  // namespace

MoveReport player_move(const Space& space, const Rules& rules, const PlayerCommand& command, Body& body,
                       DVec2 floor_mps) {
  ASHLAR_ASSERT_SLOW(is_finite(body.position_m));
  ASHLAR_ASSERT_SLOW(is_finite(body.velocity_mps));
  ASHLAR_ASSERT_SLOW(std::fabs(command.forward) <= 1 && std::fabs(command.left) <= 1);
  if (body.noclip != 0) return fly_through(space, rules, command, body);

  const double dt_s = rules.tick_s();
  MoveReport report;
  const DVec2 axes = shortened({command.forward, command.left});
  const bool pushing = axes.x != 0 || axes.y != 0;
  DVec2 velocity = xy(body.velocity_mps) - floor_mps;
  if (pushing) {
    const DVec2 ahead = heading(command.yaw);
    const DVec2 wish = DVec2{ahead.x * axes.x - ahead.y * axes.y, ahead.y * axes.x + ahead.x * axes.y} *
                       rules.walk_speed_mps_max;
    const double rate = body.grounded != 0 ? rules.ground_acceleration_mps2 : rules.air_acceleration_mps2;
    velocity = accelerate(velocity, wish, rate * dt_s);
  } else if (body.grounded != 0) {
    velocity = slowed_by_friction(velocity, rules.ground_friction_per_s, dt_s);
  }
  body.velocity_mps.x = velocity.x + floor_mps.x;
  body.velocity_mps.y = velocity.y + floor_mps.y;

  const bool jumps = (command.buttons & button::jump) != 0 && body.grounded != 0 && rules.jump_speed_mps > 0;
  if (jumps) body.velocity_mps.z = rules.jump_speed_mps;
  carry(space,
        {rules.player, rules.step_height_m_max, rules.gravity_mps2, rules.fall_speed_mps_max, false,
         rules.player_solver},
        dt_s, !jumps, body, report);
  if (report.frozen) {
    body.velocity_mps = {};  // nothing else was touched
    return report;
  }
  report.jumped = jumps && !report.recovered;
  return report;
}

}  // namespace ashlar
