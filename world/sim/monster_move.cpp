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
constexpr double edge_ahead_m = 0.2, edge_foot_m = 0.05, edge_slack_m = 0.05;  // before an edge it stops at
constexpr double leap_ahead_m = 0.1, leap_slack_m = 0.15;

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

/// Would it walk off an edge that is deeper than it goes? Only kinds that mind are asked: one search for
/// ground.
bool minds_edge(const Space& space, const MonsterTraits& kind, DVec2 direction, const Body& body) {
  if (kind.drop_m >= monster_drop_any_m || body.grounded == 0) return false;
  if (dot(direction, direction) == 0) return false;
  const DVec2 v = xy(body.velocity_mps);
  const double stops_within_m = dot(v, v) / (2 * monster_acceleration_mps2);
  const DVec2 ahead = xy(body.position_m) + direction * (kind.shape.radius_m + edge_ahead_m + stops_within_m);
  const double from_z = body.position_m.z + kind.step_height_m_max;
  const double reach_m = kind.step_height_m_max + kind.drop_m + edge_slack_m;
  return !space_ground_below(space, ahead, edge_foot_m, from_z, reach_m).has_value();
}

/// Does it stand before something that it does not step onto, but leaps, and there is room for that?
bool leaps_up(const Space& space, const MonsterTraits& kind, const MonsterWish& wish, double pace,
              const Body& body) {
  if (kind.jump_m <= 0 || body.grounded == 0 || wish.climb <= 0) return false;
  const double slow = 0.3 * pace;
  if (dot(wish.direction, wish.direction) == 0 ||
      dot(xy(body.velocity_mps), xy(body.velocity_mps)) > slow * slow)
    return false;
  const DVec3 ahead{wish.direction.x * leap_ahead_m, wish.direction.y * leap_ahead_m, 0};
  const DVec3 up{0, 0, kind.jump_m};
  return space_overlaps(space, kind.shape, body.position_m + ahead) &&
         !space_overlaps(space, kind.shape, body.position_m + up) &&
         !space_overlaps(space, kind.shape, body.position_m + ahead + up);
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
  const bool stops = !carried && !flies && minds_edge(space, kind, wish.direction, body);
  const DVec2 direction = stops ? DVec2{} : wish.direction;
  const bool leaps = !carried && !flies && leaps_up(space, kind, wish, pace, body);
  if (leaps) body.velocity_mps.z = std::sqrt(2 * rules.gravity_mps2 * (kind.jump_m + leap_slack_m));
  if (!carried && !flies && body.grounded == 0 && body.velocity_mps.z > 0) {
    const DVec2 v = accelerate(xy(body.velocity_mps), direction * pace, air_acceleration_mps2 * dt_s);
    body.velocity_mps.x = v.x;
    body.velocity_mps.y = v.y;
  }
  if (!carried && (body.grounded != 0 || flies)) {
    const DVec2 v =
        accelerate(xy(body.velocity_mps), direction * pace + floor_mps, monster_acceleration_mps2 * dt_s);
    body.velocity_mps.x = v.x;
    body.velocity_mps.y = v.y;
  }
  if (flies) body.velocity_mps.z = std::clamp(wish.climb, -1.0, 1.0) * pace * fly_climb_share;
  carry(space,
        {wall_shape(rules, kind), kind.step_height_m_max, flies || carried ? 0.0 : rules.gravity_mps2,
         rules.fall_speed_mps_max, flies, rules.monster_solver, as_point(rules, kind)},
        dt_s, !carried && !leaps, body, report);
  if (report.frozen) body.velocity_mps = {};
  return report;
}

}  // namespace ashlar
