#include "world/collide/step.h"

namespace ashlar {

WalkEnd walk(const Surroundings& around, CarryWay carry, DVec3 position, DVec3 velocity, DVec3 way,
             double dt_s, double step_height_m, ContactList& contacts) {
  WalkEnd end;
  end.slide = carry(around, position, velocity, way, dt_s, contacts);
  if (!end.slide.met_wall || end.slide.started_inside || step_height_m <= 0) return end;

  const SweepHit head = around.sweep(position, {0, 0, step_height_m});
  const double risen_m = step_height_m * head.t;
  if (head.started_inside || risen_m <= contact_slop_m) return end;
  const DVec3 raised = position + DVec3{0, 0, risen_m};
  SlideEnd over = carry(around, raised, velocity, way, dt_s, contacts);
  if (over.started_inside) return end;

  // Further by more than rounding, or a body would hop up and down at a wall.
  constexpr double further_m = 1e-5;
  const auto gone = [&position](DVec3 to) { return length(xy(to - position)); };
  if (gone(over.position_m) <= gone(end.slide.position_m) + further_m) return end;

  const SweepHit down = around.sweep(over.position_m, {0, 0, -risen_m});
  if (!down.hit() || down.started_inside || down.normal.z < walkable_normal_z_min) return end;
  over.position_m.z -= risen_m * down.t;
  const double stepped_m = over.position_m.z - position.z;
  if (stepped_m <= contact_slop_m) return end;
  end.slide = over;
  end.stepped_m = stepped_m;
  return end;
}

}  // namespace ashlar
