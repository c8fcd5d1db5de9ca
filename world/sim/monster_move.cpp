#include "world/sim/monster_move.h"

#include <algorithm>

#include "world/collide/stepped.h"
#include "world/sim/mover.h"

namespace ashlar {
namespace {

constexpr double monster_acceleration_mps2 = 40;  // full pace within about a tenth of a second
constexpr double climb_share = 0.5;               // flyers climb at half of their pace

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
  if (body.grounded != 0 || flies) {
    const DVec2 v = accelerate(xy(body.velocity_mps), wish.direction * pace + floor_mps,
                               monster_acceleration_mps2 * dt_s);
    body.velocity_mps.x = v.x;
    body.velocity_mps.y = v.y;
  }
  if (flies) body.velocity_mps.z = std::clamp(wish.climb, -1.0, 1.0) * pace * climb_share;
  carry(space,
        {wall_shape(rules, kind), kind.step_height_m_max, flies ? 0.0 : rules.gravity_mps2,
         rules.fall_speed_mps_max, flies, rules.monster_solver, as_point(rules, kind)},
        dt_s, true, body, report);
  if (report.frozen) body.velocity_mps = {};
  return report;
}

}  // namespace ashlar
