#include "world/sim/player_move.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"
#include "world/sim/block_touch.h"
#include "world/sim/mover.h"

namespace ashlar {
namespace {

constexpr double stop_speed_mps = 2.0;     // friction is at least what it is at this speed, so bodies stop
constexpr double noclip_speed_factor = 3;  // of walking speed
constexpr double swim_share = 0.5;         // of the height in liquid: deeper in it one swims
constexpr double float_share = 0.85;       // of it where who does nothing floats
constexpr double leap_share = 0.7;         // who is deeper in does not get out in one leap
constexpr double swim_speed_mps = 3;
constexpr double climb_speed_mps = 3;
constexpr double liquid_drag_per_s = 4;  // the share of speed lost in a second, in all of it
constexpr double wall_ahead_m = 0.05;    // what is so near one climbs up at
constexpr double down_look = -0.5;       // sine of the view from which on one climbs down
static_assert(swim_share < leap_share && leap_share < float_share);

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

/// What one tick's command asks for, in the plane.
struct Wish {
  DVec2 axes;
  DVec2 direction;  ///< in the world, at most 1 long
  bool pushing;
};

Wish wish_of(const PlayerCommand& command) {
  const DVec2 axes = shortened({command.forward, command.left});
  const DVec2 ahead = heading(command.yaw);
  return {axes,
          {ahead.x * axes.x - ahead.y * axes.y, ahead.y * axes.x + ahead.x * axes.y},
          axes.x != 0 || axes.y != 0};
}

bool pressed(const PlayerCommand& command, std::uint16_t which) { return (command.buttons & which) != 0; }

/// Is a solid before who pushes?
bool wall_ahead(const Space& space, const Rules& rules, const Wish& wish, const Body& body) {
  if (!wish.pushing) return false;
  const DVec2 step = wish.direction * wall_ahead_m;
  return space_overlaps(space, rules.player, body.position_m + DVec3{step.x, step.y, 0});
}

/// Thrust and drag in one: the velocity nears what is wished, and nothing where nothing is. Up and down go by
/// the view and the buttons. Stable at every tick rate.
void swim(const Space& space, const Rules& rules, const PlayerCommand& command, const Wish& wish,
          const BlockTouch& touch, Body& body) {
  const DVec3 ahead = view_direction(command.yaw, command.pitch);
  const DVec2 side = heading(command.yaw + Turn16{16384});
  DVec3 to = ahead * wish.axes.x + DVec3{side.x * wish.axes.y, side.y * wish.axes.y, 0};
  if (pressed(command, button::jump)) to.z += 1;
  if (pressed(command, button::down)) to.z -= 1;
  const double size2 = dot(to, to);
  to = to * (size2 > 1 ? swim_speed_mps / std::sqrt(size2) : swim_speed_mps);
  const double dt_s = rules.tick_s(), pull = liquid_drag_per_s * touch.immersed * dt_s;
  body.velocity_mps += (to - body.velocity_mps) * (pull / (1 + pull));
  // At a bank one gets out in a leap.
  const bool leaps =
      touch.immersed <= leap_share && pressed(command, button::jump) && wall_ahead(space, rules, wish, body);
  if (leaps) body.velocity_mps.z = std::max(body.velocity_mps.z, rules.jump_speed_mps * touch.jump);
}

/// On a ladder one hangs, and goes up and down it by the buttons or against it by the view.
void climb(const Space& space, const Rules& rules, const PlayerCommand& command, const Wish& wish,
           Body& body) {
  const DVec2 to = wish.direction * (0.5 * rules.walk_speed_mps_max);
  const DVec2 flat = accelerate(xy(body.velocity_mps), to, rules.ground_acceleration_mps2 * rules.tick_s());
  double rise = 0;
  if (wall_ahead(space, rules, wish, body))
    rise = view_direction(command.yaw, command.pitch).z < down_look ? -1 : 1;
  if (pressed(command, button::jump)) rise = 1;
  if (pressed(command, button::down)) rise = -1;
  body.velocity_mps = {flat.x, flat.y, rise * climb_speed_mps};
}

/// Walking, and steering in the air. @return whether it jumps
bool walk_or_fall(const Rules& rules, const PlayerCommand& command, const Wish& wish, const BlockTouch& touch,
                  Body& body, DVec2 floor_mps) {
  const double dt_s = rules.tick_s();
  const double wading = touch.immersed / swim_share;  // 0 on dry land, 1 where one begins to swim
  DVec2 velocity = xy(body.velocity_mps) - floor_mps;
  if (wish.pushing) {
    const double speed = rules.walk_speed_mps_max + (swim_speed_mps - rules.walk_speed_mps_max) * wading;
    const double rate =
        body.grounded != 0 ? rules.ground_acceleration_mps2 * touch.friction : rules.air_acceleration_mps2;
    velocity = accelerate(velocity, wish.direction * speed, rate * dt_s);
  } else if (body.grounded != 0) {
    velocity = slowed_by_friction(velocity, rules.ground_friction_per_s * touch.friction, dt_s);
  }
  body.velocity_mps.x = velocity.x + floor_mps.x;
  body.velocity_mps.y = velocity.y + floor_mps.y;
  const bool jumps = pressed(command, button::jump) && body.grounded != 0 && rules.jump_speed_mps > 0;
  if (jumps) body.velocity_mps.z = rules.jump_speed_mps * touch.jump;
  return jumps;
}

}  // namespace

MoveReport player_move(const Space& space, const Rules& rules, const PlayerCommand& command, Body& body,
                       DVec2 floor_mps) {
  ASHLAR_ASSERT_SLOW(is_finite(body.position_m));
  ASHLAR_ASSERT_SLOW(is_finite(body.velocity_mps));
  ASHLAR_ASSERT_SLOW(std::fabs(command.forward) <= 1 && std::fabs(command.left) <= 1);
  if (body.noclip != 0) return fly_through(space, rules, command, body);

  MoveReport report;
  const Wish wish = wish_of(command);
  const BlockTouch touch = touch_of(*space.voxels, rules.player, body.position_m);
  double gravity = rules.gravity_mps2;
  bool jumps = false, keep_to_ground = true;
  if (touch.immersed > swim_share) {
    swim(space, rules, command, wish, touch, body);
    keep_to_ground = false;
  } else if (touch.climbs &&
             (body.grounded == 0 || pressed(command, button::jump) || wall_ahead(space, rules, wish, body))) {
    climb(space, rules, command, wish, body);
    gravity = 0;
    keep_to_ground = body.velocity_mps.z <= 0 && body.grounded != 0;
  } else {
    keep_to_ground = !(jumps = walk_or_fall(rules, command, wish, touch, body, floor_mps));
  }
  // Buoyancy: who is in liquid as deep as one floats weighs nothing, deeper less than that.
  gravity *= 1 - touch.immersed / float_share;
  carry(
      space,
      {rules.player, rules.step_height_m_max, gravity, rules.fall_speed_mps_max, false, rules.player_solver},
      rules.tick_s(), keep_to_ground, body, report);
  if (report.frozen) {
    body.velocity_mps = {};  // nothing else was touched
    return report;
  }
  report.jumped = jumps && !report.recovered;
  return report;
}

}  // namespace ashlar
