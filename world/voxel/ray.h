#pragma once
#include "world/math/contact.h"
#include "world/math/vec.h"

namespace ashlar {

class VoxelVolume;

/// First solid block on a ray, from its origin up to t_max_m, both included.
///
/// An origin inside a solid block hits it at t = 0 with normal zero. A ray along a face of blocks belongs to
/// the blocks on the upper side, as blocks span [i, i+1). Unloaded blocks are hit as `unloaded`. Of blocks
/// that are solid in part it meets the boxes, closed below and open above likewise. Preconditions: finite
/// values, direction of unit length, t_max_m >= 0; asserted. Cost: about 130 ns for 64 m through open
/// country. No allocation. Source: grid traversal by Amanatides and Woo (1987); columns are stepped in the
/// plane and each is tested with one mask for the layers that the ray passes in it.
RayHit voxel_ray(const VoxelVolume& volume, DVec3 origin, DVec3 direction, double t_max_m);

}  // namespace ashlar
