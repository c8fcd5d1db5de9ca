#pragma once
#include <optional>

#include "world/collide/window_queries.h"
#include "world/math/nearest_place.h"
#include "world/voxel/volume.h"

// The robust, simple way out of blocks: where a body is already in, by how much must it move to be out?

namespace ashlar {

/// The least translation that separates an upright cylinder from one solid block, given relative to the
/// block's lower corner; zero where they do not overlap (touching is not overlapping; no slop here).
///
/// Up, down or lateral, whichever is shortest. Lateral has nine cases: the four faces, the four vertical
/// edges (away from the edge), and the axis within the block's column (to the nearest face, and the radius
/// beyond). Ties: up, down, then x before y; an axis exactly in the middle goes to the lower side.
/// `covered` names faces with a solid neighbour: they are not used as long as another one is open.
/// Bits: 1 -x, 2 +x, 4 -y, 8 +y, 16 -z, 32 +z.
DVec3 correct_block(const Cylinder& shape, DVec3 base, unsigned covered = 0);

/// The least translation after which the cylinder overlaps no block of the window by more than
/// contact_slop_m; nullopt when none of at most reach_m does. Ties as in nearest_place.h. The window covers
/// the shape's blocks within reach_m. Seams are not felt: the nearest free place from a flat floor is above.
std::optional<DVec3> window_correct(const BlockWindow& window, const Cylinder& shape, DVec3 base,
                                    double reach_m);

/// Adds what bounds the free places around a body among the blocks of a window (world/math/nearest_place.h).
/// @param shape, base  in the window's blocks
/// @param block_m      a block's size: what is added is in metres
void window_borders(const BlockWindow& window, const Cylinder& shape, DVec3 base, double block_m,
                    NearestPlace& out);

/// How a point in a solid block gets out.
struct PointCorrection {
  DVec3 point;       ///< unchanged where free is false or the point was free already
  bool free = true;  ///< false: none of the places tried is
  bool moved = false;
};

/// Moves a point out of its solid block into the nearest of the 26 neighbours that is not solid: distance is
/// the largest of the axes used, an edge pays 0.01 and a corner 0.02, so that a face wins ties; further ties
/// in the order -x, -y, -z, +z, +y, +x, then edges, then corners. Only the axes used change, by what is
/// needed and extra_m more, which never vanishes in rounding; at a lower face the result is outside of the
/// old block with extra_m = 0 too. A point in a box of a block that is solid in part goes out through the
/// nearest of the box's sides behind which it is free, in the same order of ties; into a neighbour as above
/// where there is none. Precondition: extra_m in [0, 0.1].
PointCorrection correct_point(const VoxelVolume& volume, DVec3 point, double extra_m);

}  // namespace ashlar
