#pragma once
#include <cstdint>
#include <span>

#include "world/collide/surroundings.h"
#include "world/math/contact.h"

namespace ashlar {

inline constexpr int slide_sweeps_max = 5;
/// What a slide may ask of its surroundings.
inline constexpr std::uint32_t slide_queries_max = slide_sweeps_max;
/// A surface this steep or flatter carries a body: the upward part of its normal (as in Quake: 45 degrees).
inline constexpr double walkable_normal_z_min = 0.7;

/// How a slide ended.
struct SlideEnd {
  DVec3 position_m;
  DVec3 velocity_mps;           ///< parallel to everything that was hit; never faster than at the start
  bool started_inside = false;  ///< nothing was moved
  bool met_wall = false;        ///< a surface too steep to stand on, and no ceiling
  bool met_floor = false;
  bool met_ceiling = false;
  double floor_speed_mps = 0;  ///< into the floor when it was met
};

/// Takes what points into the planes out of v: one plane leaves the parallel part, two the part along their
/// crease, three nothing. Never longer than v, and nothing of it points into any of the planes.
/// Source: Quake III, bg_slidemove.c, PM_SlideMove; written anew.
DVec3 clip_to_planes(DVec3 v, std::span<const DVec3> normals);

/// Moves a body by `way`, sliding along what it hits; `velocity` is clipped by the same planes. The two
/// differ under gravity, where the way is that of the mean velocity. At most slide_sweeps_max sweeps. What
/// was hit is added to `contacts`. No allocation.
/// dt_s is not needed here; it is there for the sake of the other way, in stepped.h.
SlideEnd slide(const Surroundings& around, DVec3 position, DVec3 velocity, DVec3 way, double dt_s,
               ContactList& contacts);

}  // namespace ashlar
