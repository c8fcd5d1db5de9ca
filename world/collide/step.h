#pragma once
#include "world/collide/slide.h"

namespace ashlar {

/// How a walk ended: a slide, possibly over a step.
struct WalkEnd {
  SlideEnd slide;
  double stepped_m = 0;  ///< how far the floor rose by a step up; 0 without one
};

/// Moves a body that stands on the ground along `way` (level), up steps of at most step_height_m: equal is
/// allowed, head room is needed above the start and on the step. A step is taken only where it leads further
/// than sliding along it, and only onto ground that one can stand on.
WalkEnd walk(const Surroundings& around, DVec3 position, DVec3 velocity, DVec3 way, double step_height_m);

}  // namespace ashlar
