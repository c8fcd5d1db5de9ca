#pragma once
#include "world/collide/space.h"
#include "world/sim/block_act.h"

// Whether somebody can lay hands on a block: how far it is, and whether a face of it can be seen.

namespace ashlar {

/// From a point to the nearest point of a block; 0 inside.
double distance_to_block_m(DVec3 from, IVec3 block);

/// Does the view meet the block, or pass it by less than slack_m on each axis? Solids in between do not
/// count. Precondition: unit view.
bool looks_towards(DVec3 eye, DVec3 view, IVec3 block, double slack_m);

/// Is a point of a block's face in sight? The eye has to be before the face; then it is seen where the view
/// meets it, or where one of five points (the middle, and four a tenth of a metre from the corners) has
/// nothing before it by more than face_tolerance_m. So who looks at a face sees it, and nobody sees one that
/// is covered. Bodies hide nothing. Cost: 1 to 6 rays.
/// Preconditions: unit view, the block within some hundred metres of the eye.
bool sees_face(const Space& space, DVec3 eye, DVec3 view, IVec3 block, BlockFace face);
inline constexpr double face_tolerance_m = 0.01;

/// Is the first thing on the view's way, up to range_m, that block, whichever face of it?
bool view_meets(const Space& space, DVec3 eye, DVec3 view, IVec3 block, double range_m);

/// Does the cylinder reach into the block, by more than contact_slop_m?
bool body_meets_block(const Cylinder& shape, DVec3 base, IVec3 block);

}  // namespace ashlar
