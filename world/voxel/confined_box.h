#pragma once
#include "world/math/shapes.h"
#include "world/voxel/volume.h"

namespace ashlar {

/// The part of a box that something which fills `now` may get to within it, by whole blocks: it passes from
/// block to block by their sides, through all that are not solid throughout. What is not loaded is open, as
/// it may come. Never less than `now` within the box; all of the box where `now` lies in solid blocks alone,
/// or the box is longer than 16 m. For an upper bound of where somebody may be soon.
/// Cost: some 10 ns a column of blocks. No allocation.
Aabb confined_by_blocks(const VoxelVolume& volume, const Aabb& now, const Aabb& box);

}  // namespace ashlar
