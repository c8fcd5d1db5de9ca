#pragma once
#include "world/collide/slide.h"

namespace ashlar {

/// How a walk ended: a slide, possibly over a step.
struct WalkEnd {
  SlideEnd slide;
  double stepped_m = 0;  ///< how far the floor rose by a step up; 0 without one
};

/// How a body is carried over a way: both ways of slide.h and stepped.h have this form.
using CarryWay = SlideEnd (*)(const Surroundings& around, DVec3 position, DVec3 velocity, DVec3 way,
                              double dt_s, ContactList& contacts);

/// Moves a body that stands on the ground along `way` (level), up steps of at most step_height_m: equal is
/// allowed, head room is needed above the start and on the step. A step is taken only where it leads further
/// than sliding along it, and only onto ground that one can stand on.
/// @param carry  slide (slide.h) or stepped_motion (stepped.h): on the ground; the way over a step is swept
WalkEnd walk(const Surroundings& around, CarryWay carry, DVec3 position, DVec3 velocity, DVec3 way,
             double dt_s, double step_height_m, ContactList& contacts);

}  // namespace ashlar
