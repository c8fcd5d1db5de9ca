#include "world/sim/monster_move.h"

#include <algorithm>
#include <cmath>

#include "world/collide/stepped.h"
#include "world/sim/block_touch.h"
#include "world/sim/mover.h"

namespace ashlar {
namespace {

constexpr double monster_acceleration_mps2 = 40;  // full pace within about a tenth of a second
constexpr double fly_climb_share = 0.5;           // flyers climb at half of their pace

constexpr double air_acceleration_mps2 = 20;  // of who leapt out of water or came to a ladder's end
constexpr double monster_swim_share = 0.5;    // of its height in liquid: deeper in it swims
constexpr double monster_float_share = 0.8;   // of it where it floats
constexpr double monster_leap_share = 0.9;    // who is deeper in does not get out in one leap
constexpr double swim_pace_share = 0.7;
constexpr double rise_mps_max = 2, rise_per_s = 6, rise_acceleration_mps2 = 25;
constexpr double leap_m = 1.7;  // out of water onto a block at its surface
constexpr double monster_climb_speed_mps = 2.5;

/// Up to where it floats, or out onto a bank that it wants up and is held up at.
void monster_swims(const Rules& rules, const MonsterWish& wish, double pace, double immersed, Body& body) {
  const double dt_s = rules.tick_s();
  const DVec2 before = xy(body.velocity_mps);
  const DVec2 v =
      accelerate(before, wish.direction * (pace * swim_pace_share), monster_acceleration_mps2 * dt_s);
  const double rise_mps =
      std::clamp((immersed - monster_float_share) * rise_per_s, -rise_mps_max, rise_mps_max);
  const double change = rise_acceleration_mps2 * dt_s;
  double up = body.velocity_mps.z + std::clamp(rise_mps - body.velocity_mps.z, -change, change);
  const double slow = 0.3 * pace;
  if (wish.climb > 0 && immersed <= monster_leap_share && dot(before, before) < slow * slow)
    up = std::sqrt(2 * rules.gravity_mps2 * leap_m);
  body.velocity_mps = {v.x, v.y, up};
}

/// @return whether it is carried by what is around it instead of the ground: neither steps nor falls
bool swims_or_climbs(const Space& space, const Rules& rules, const MonsterTraits& kind,
                     const MonsterWish& wish, double pace, Body& body) {
  const BlockTouch touch = touch_of(*space.voxels, kind.shape, body.position_m);
  if (kind.swims != 0 && touch.immersed > monster_swim_share) {
    monster_swims(rules, wish, pace, touch.immersed, body);
    return true;
  }
  if (kind.climbs == 0 || !touch.climbs || wish.climb <= 0) return false;
  const DVec2 v = accelerate(xy(body.velocity_mps), wish.direction * (0.5 * pace),
                             monster_acceleration_mps2 * rules.tick_s());
  body.velocity_mps = {v.x, v.y, monster_climb_speed_mps};
  return true;
}

bool as_point(const Rules& rules, const MonsterTraits& kind) {
  return rules.monster_solver == Solver::correct && kind.body_meets_walls == 0;
}

}  // namespace

Cylinder wall_shape(const Rules& rules, const MonsterTraits& kind) {
  return as_point(rules, kind) ? point_body : kind.shape;
}

MoveReport monster_move(const Space& space, const Rules& rules, const MonsterTraits& kind,
                        const MonsterWish& wish, Body& body, DVec2 floor_mps) {
  const double dt_s = rules.tick_s();
  MoveReport report;
  const bool flies = kind.flies != 0;
  const double pace = kind.speed_mps * wish.speed_share;
  const bool carried = !flies && (kind.swims != 0 || kind.climbs != 0) &&
                       swims_or_climbs(space, rules, kind, wish, pace, body);
  if (!carried && !flies && body.grounded == 0 && body.velocity_mps.z > 0) {
    const DVec2 v = accelerate(xy(body.velocity_mps), wish.direction * pace, air_acceleration_mps2 * dt_s);
    body.velocity_mps.x = v.x;
    body.velocity_mps.y = v.y;
  }
  if (!carried && (body.grounded != 0 || flies)) {
    const DVec2 v = accelerate(xy(body.velocity_mps), wish.direction * pace + floor_mps,
                               monster_acceleration_mps2 * dt_s);
    body.velocity_mps.x = v.x;
    body.velocity_mps.y = v.y;
  }
  if (flies) body.velocity_mps.z = std::clamp(wish.climb, -1.0, 1.0) * pace * fly_climb_share;
  carry(space,
        {wall_shape(rules, kind), kind.step_height_m_max, flies || carried ? 0.0 : rules.gravity_mps2,
         rules.fall_speed_mps_max, flies, rules.monster_solver, as_point(rules, kind)},
        dt_s, !carried, body, report);
  if (report.frozen) body.velocity_mps = {};
  return report;
}

}  // namespace ashlar
