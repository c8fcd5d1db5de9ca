#include "world/collide/step.h"

#include <cmath>
#include <optional>

#include "world/math/assert.h"

namespace ashlar {
namespace {

// Further by more than rounding, or a body would hop up and down at a wall.
constexpr double further_m = 1e-5;
static_assert(further_m > contact_slop_m);

double gone(DVec3 from, DVec3 to) { return length(xy(to - from)); }

/// The way from a raised place, and down again onto what is there. nullopt: it leads no further than sliding.
/// It is swept for every kind of mover: a correction pushes a body that is raised by all of a step up onto
/// what is a little higher, as the shortest way out, and so adds to the step.
std::optional<WalkEnd> over_step(const Surroundings& around, DVec3 position, DVec3 velocity, DVec3 way,
                                 double dt_s, double risen_m, double slid_m, ContactList& contacts) {
  ASHLAR_ASSERT(risen_m > 0);
  WalkEnd end;
  end.slide = slide(around, position + DVec3{0, 0, risen_m}, velocity, way, dt_s, contacts);
  if (end.slide.started_inside || gone(position, end.slide.position_m) <= slid_m + further_m)
    return std::nullopt;
  const SweepHit down = around.sweep(end.slide.position_m, {0, 0, -risen_m});
  if (!down.hit() || down.started_inside || down.normal.z < walkable_normal_z_min) return std::nullopt;
  ASHLAR_ASSERT(down.t >= 0 && down.t <= 1);  // never lower than where the step began
  end.slide.position_m.z -= risen_m * down.t;
  end.stepped_m = end.slide.position_m.z - position.z;
  if (end.stepped_m <= contact_slop_m) return std::nullopt;
  return end;
}

/// Is there nothing in reach that a step could lead onto? Blocks end at whole metres: who stands on one and
/// steps less than a metre meets their sides only.
bool no_step_in_reach(const Surroundings& around, DVec3 position, DVec3 way, double step_height_m) {
  const double next_top_m = floor_to_int(position.z + contact_slop_m) + 1.0;
  return next_top_m > position.z + step_height_m + 2 * contact_slop_m &&
         around.full_blocks_only(std::fabs(way.x) + std::fabs(way.y));
}

/// How high the ground is behind what was slid along, from `position.z` up to `high_m` over it; 0: there is
/// none, or it is level.
double rise_behind(const Surroundings& around, DVec3 position, DVec3 slid, DVec3 way, double high_m,
                   const ContactList& contacts) {
  for (const SweepHit& hit : contacts) {
    const double into = dot(xy(way), xy(hit.normal));
    if (into >= 0) continue;
    const DVec3 behind{slid.x + into * hit.normal.x, slid.y + into * hit.normal.y, position.z + high_m};
    const auto ground = around.ground_below(behind, high_m);
    if (ground && *ground > position.z + contact_slop_m) return *ground - position.z;
  }
  return 0;
}

}  // namespace

WalkEnd walk(const Surroundings& around, CarryWay carry, DVec3 position, DVec3 velocity, DVec3 way,
             double dt_s, double step_height_m, ContactList& contacts) {
  WalkEnd end;
  end.slide = carry(around, position, velocity, way, dt_s, contacts);
  if (!end.slide.met_wall || end.slide.started_inside || step_height_m <= 0) return end;
  if (no_step_in_reach(around, position, way, step_height_m)) return end;

  const SweepHit head = around.sweep(position, {0, 0, step_height_m});
  ASHLAR_ASSERT(head.t >= 0 && head.t <= 1);
  const double risen_m = step_height_m * head.t;
  if (head.started_inside || risen_m <= contact_slop_m) return end;
  const double slid_m = gone(position, end.slide.position_m);
  // What was met from the ground: the tries below add to the list.
  const ContactList met = contacts;
  auto over = over_step(around, position, velocity, way, dt_s, risen_m, slid_m, contacts);
  if (!over) {
    // Raised by all of a step the head may meet the lintel of an opening that the body fits through: then no
    // higher than the ground in there asks for.
    const double rise_m = rise_behind(around, position, end.slide.position_m, way, risen_m, met);
    if (rise_m > 0 && rise_m < risen_m - contact_slop_m)
      over = over_step(around, position, velocity, way, dt_s, rise_m, slid_m, contacts);
  }
  return over ? *over : end;
}

}  // namespace ashlar
