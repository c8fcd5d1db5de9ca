#include "world/sim/mover.h"

#include <algorithm>
#include <cmath>

#include "world/collide/recover.h"
#include "world/collide/step.h"
#include "world/collide/stepped.h"
#include "world/collide/surroundings.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr double still_mps = 1e-9;  // slower is standing: no way is too short for a sweep to see

DVec3 without_dust(DVec3 v) {
  const auto clean = [](double c) { return std::fabs(c) < still_mps ? 0.0 : c; };
  return {clean(v.x), clean(v.y), clean(v.z)};
}

void lag_eye(Body& body, double risen_m) {
  body.eye_offset_m = std::clamp(body.eye_offset_m - risen_m, -eye_lag_m_max, eye_lag_m_max);
}

void follow_eye(Body& body, double dt_s) {
  const double lag = std::fabs(body.eye_offset_m);
  const double speed = std::min(eye_speed_mps_max, 1.5 + 8 * lag);
  const double left = std::max(0.0, lag - speed * dt_s);
  body.eye_offset_m = body.eye_offset_m < 0 ? -left : left;
}

/// Everything the tick may touch: the way, a step up and down, and the ground below.
Aabb reach_of(const MoverTraits& traits, double dt_s, const Body& body) {
  const DVec3 v = body.velocity_mps;
  Aabb reach = swept(bounds_of(traits.shape, body.position_m), v * dt_s);
  const double fall = std::fabs(traits.gravity_mps2) * dt_s * dt_s;
  const double step = traits.step_height_m_max;
  const double margin = traits.solver == Solver::correct ? correct_reach_m + 0.01 : 0.01;
  reach.min -= DVec3{margin, margin, margin + fall + step};
  reach.max += DVec3{margin, margin, margin + step};
  return reach;
}

CarryWay way_of(const MoverTraits& traits) {
  if (traits.solver == Solver::sweep) return slide;
  return traits.as_point ? stepped_point_motion : stepped_motion;
}

void stand(Body& body, MoveReport& report, double ground_z, double speed_mps) {
  body.position_m.z = ground_z;
  if (body.grounded == 0) {
    report.landed = true;
    report.land_speed_mps = speed_mps;
  }
  body.grounded = 1;
  body.velocity_mps.z = 0;
}

void move_grounded(const Surroundings& around, const MoverTraits& traits, double dt_s, Body& body,
                   MoveReport& report) {
  const DVec3 velocity{body.velocity_mps.x, body.velocity_mps.y, 0};
  const WalkEnd end = walk(around, way_of(traits), body.position_m, velocity, velocity * dt_s, dt_s,
                           traits.step_height_m_max, report.contacts);
  body.position_m = end.slide.position_m;
  body.velocity_mps = end.slide.velocity_mps;
  if (end.stepped_m > 0) {
    report.stepped = true;
    lag_eye(body, end.stepped_m);
  }
  // Stairs down: the ground may be a step lower, and the body stays on it.
  const auto ground = around.ground_below(body.position_m, traits.step_height_m_max);
  if (ground) {
    lag_eye(body, *ground - body.position_m.z);
    body.position_m.z = *ground;
    body.velocity_mps.z = 0;
  } else {
    body.grounded = 0;
  }
}

void move_airborne(const Surroundings& around, const MoverTraits& traits, double dt_s, Body& body,
                   MoveReport& report) {
  const double before = body.velocity_mps.z, start_z = body.position_m.z;
  body.velocity_mps.z = std::max(before - traits.gravity_mps2 * dt_s, -traits.fall_speed_mps_max);
  // The mean of the speeds before and after: the same parabola at every tick rate.
  const DVec3 way =
      DVec3{body.velocity_mps.x, body.velocity_mps.y, 0.5 * (before + body.velocity_mps.z)} * dt_s;
  const SlideEnd end = way_of(traits)(around, body.position_m, body.velocity_mps, way, dt_s, report.contacts);
  body.position_m = end.position_m;
  body.velocity_mps = end.velocity_mps;
  if (traits.flies) return;
  if (body.velocity_mps.z > 0) return;
  const auto ground = around.ground_below(body.position_m, 0);
  if (!ground) return;
  // By the height that it fell in this tick, not to its end: the same at every tick rate.
  const double speed2 = before * before + 2 * traits.gravity_mps2 * (start_z - *ground);
  stand(body, report, *ground, std::min(std::sqrt(std::max(speed2, 0.0)), traits.fall_speed_mps_max));
}

}  // namespace

DVec2 accelerate(DVec2 velocity, DVec2 target, double change_mps_max) {
  const DVec2 change = target - velocity;
  const double size2 = dot(change, change);
  if (size2 <= change_mps_max * change_mps_max) return target;
  return velocity + change * (change_mps_max / std::sqrt(size2));
}

void carry(const Space& space, const MoverTraits& traits, double dt_s, bool keep_to_ground, Body& body,
           MoveReport& report) {
  ASHLAR_ASSERT(dt_s > 0 && dt_s <= 0.1);
  ASHLAR_ASSERT(traits.step_height_m_max >= 0);
  const Surroundings around(space, traits.shape, reach_of(traits, dt_s, body));
  if (around.unloaded(body.position_m)) {
    report.frozen = true;
    return;
  }
  follow_eye(body, dt_s);
  const DVec3 start = body.position_m;
  // Also between two solids: recovery ends on the side that the body came from.
  if (body.stuck_ticks != 0 || around.overlaps(body.position_m)) {
    recover(space, traits.shape, dt_s, body, report);
    if (!in_bounds(body.position_m)) body.position_m = start, report.lost = true;
    return;
  }
  body.recovery_velocity_mps = {};
  body.velocity_mps = without_dust(body.velocity_mps);
  if (body.grounded != 0 && keep_to_ground && !traits.flies) {
    move_grounded(around, traits, dt_s, body, report);
  } else {
    body.grounded = 0;
    move_airborne(around, traits, dt_s, body, report);
  }
  if (!in_bounds(body.position_m)) {
    body.position_m = start;
    body.velocity_mps = {};
  }
  ASHLAR_ASSERT(is_finite(body.velocity_mps));
  ASHLAR_ASSERT(body.grounded == 0 || body.velocity_mps.z == 0);
  body.last_free_m = body.position_m;
}

}  // namespace ashlar
