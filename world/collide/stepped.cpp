#include "world/collide/stepped.h"

#include <algorithm>
#include <cmath>

#include "world/collide/block_queries.h"
#include "world/collide/correct.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

// A correction reaches as far as its step and a hair: the hair is no step of its own.
static_assert(4 * contact_slop_m < cylinder_step_m_max && 4 * contact_slop_m < point_step_m_max);

struct Step {
  DVec3 place;
  bool done = false;
};

/// One short step: as it is, or corrected to the nearest free place. Where the step began is one, so none is
/// farther than the step is long; it is looked for that far, a hair more for rounding.
Step one_step(const Surroundings& around, DVec3 from, DVec3 step) {
  const DVec3 to = from + step;
  if (!around.overlaps(to)) return {to, true};
  const double reach_m = length(step) + 4 * contact_slop_m;
  if (const auto out = around.correct(to, reach_m)) {
    ASHLAR_ASSERT(dot(*out, *out) <= reach_m * reach_m * (1 + 1e-9));  // farther may be behind a wall
    return {to + *out, true};
  }
  return {from, false};
}

void note(SlideEnd& end, DVec3 lost, ContactList& contacts) {
  const double flat = length(xy(lost));
  SweepHit hit;
  hit.kind = ContactKind::voxel;
  hit.t = 0;
  if (lost.z > contact_slop_m) {
    end.met_floor = true;
    hit.normal = {0, 0, 1};
  } else if (lost.z < -contact_slop_m) {
    end.met_ceiling = true;
    hit.normal = {0, 0, -1};
  }
  if (flat > contact_slop_m) {
    end.met_wall = true;
    hit.normal = {lost.x / flat, lost.y / flat, 0};
  }
  if (hit.normal != DVec3{}) contacts.add(hit);
}

/// What the way lost the velocity loses, up to having none in that direction: a correction may slow a body
/// and turn it along what it met, and never bounces it or makes it faster.
void settle(SlideEnd& end, DVec3 velocity, DVec3 lost, double dt_s, ContactList& contacts) {
  ASHLAR_ASSERT(dt_s > 0);
  note(end, lost, contacts);
  end.floor_speed_mps = lost.z > 0 ? std::max(0.0, -velocity.z) : 0;
  const double into = dot(velocity, lost), size2 = dot(lost, lost);
  if (into < 0) end.velocity_mps = velocity + lost * std::min(1 / dt_s, -into / size2);
  ASHLAR_ASSERT(dot(end.velocity_mps, end.velocity_mps) <= dot(velocity, velocity) * (1 + 1e-9));
}

}  // namespace

SlideEnd stepped_motion(const Surroundings& around, DVec3 position, DVec3 velocity, DVec3 way, double dt_s,
                        ContactList& contacts) {
  // A step well below the radius: what is within reach of its end is on this side of the thinnest wall.
  const double step_m_max = std::min(cylinder_step_m_max, 0.5 * around.shape().radius_m);
  const double steps_wanted = std::ceil(length(way) / step_m_max);
  if (!(steps_wanted <= cylinder_steps_max)) return slide(around, position, velocity, way, dt_s, contacts);
  SlideEnd end;
  end.position_m = position;
  end.velocity_mps = velocity;
  const auto steps = static_cast<int>(steps_wanted);
  if (steps == 0) return end;
  const DVec3 step = way * (1 / steps_wanted);
  DVec3 lost{};
  bool free = true;
  for (int i = 0; i < steps; ++i) {
    const Step made = one_step(around, end.position_m, step);
    const DVec3 wanted = end.position_m + step;
    if (made.place != wanted) {
      lost += made.place - wanted;
      free = false;
    }
    end.position_m = made.place;
    if (!made.done) {
      lost -= step * (steps - 1 - i);
      break;
    }
  }
  if (!free) settle(end, velocity, lost, dt_s, contacts);
  return end;
}

PointEnd stepped_point(const VoxelVolume& volume, DVec3 point, DVec3 way, double extra_m) {
  const double steps_wanted = std::ceil(length(way) / point_step_m_max);
  // Part of a block may be thinner than a step.
  if (!(steps_wanted <= point_steps_max) || parts_near(volume, swept({point, point}, way))) {
    const SweepHit hit = blocks_sweep(volume, point_shape(), point_base(point), way);
    return {point + way * hit.t, hit.started_inside, hit.hit()};
  }
  PointEnd end{point};
  const auto steps = static_cast<int>(steps_wanted);
  if (steps == 0) return end;
  const DVec3 step = way * (1 / steps_wanted);
  for (int i = 0; i < steps; ++i) {
    const PointCorrection next = correct_point(volume, end.point + step, extra_m);
    end.corrected = end.corrected || next.moved || !next.free;
    if (!next.free) {
      end.stuck = volume.solid_at(end.point);
      return end;
    }
    end.point = next.point;
  }
  return end;
}

SlideEnd stepped_point_motion(const Surroundings& around, DVec3 position, DVec3 velocity, DVec3 way,
                              double dt_s, ContactList& contacts) {
  if (!around.full_blocks_only(0)) return slide(around, position, velocity, way, dt_s, contacts);
  constexpr DVec3 to_middle{0, 0, point_half_m};
  SlideEnd end;
  end.velocity_mps = velocity;
  const PointEnd moved =
      stepped_point(*around.space().voxels, position + to_middle, way, point_half_m + contact_slop_m);
  if (!moved.corrected) {
    end.position_m = position + way;
  } else {
    end.position_m = moved.point - to_middle;
    // The slop that corrections leave is for the walls; on a floor it stands.
    if (end.position_m.z > position.z + way.z) end.position_m.z -= contact_slop_m;
  }
  // A point a hair beside a wall is free, and point_body is not: it is moved by that hair.
  if (around.overlaps(end.position_m)) {
    const auto out = around.correct(end.position_m, 4 * point_half_m);
    end.position_m = out ? end.position_m + *out : position;
  } else if (!moved.corrected) {
    return end;
  }
  settle(end, velocity, end.position_m - (position + way), dt_s, contacts);
  return end;
}

}  // namespace ashlar
