#pragma once
#include <cstdint>

#include "world/math/shapes.h"
#include "world/voxel/volume.h"

namespace ashlar {

/// May a straight line from anywhere in one box to anywhere in another pass between the blocks? False is
/// sure: the blocks part the boxes, however the line lies. True is not. What is not loaded, and what one sees
/// through (glass, water, blocks that are solid in part), is open.
///
/// The lines fill the hull of both boxes. Its slices across the longest way are walked through: a line leaves
/// a slice by a block that is open and reachable there, so where none is there is no line. Lines that only
/// touch the edges of blocks count as stopped.
/// Boxes with less than 2 m between them along every axis may see each other, and a ray from the middle of
/// the one to that of the other that meets nothing spares the walk: 0.1 us over 60 m. The walk costs some 30
/// ns a row of a slice: 2 us over 60 m through rock, which shuts soon; ten times that between hills. No
/// allocation.
/// @param rows_read  if not null: so many rows of slices more were read
bool blocks_let_see(const VoxelVolume& volume, const Aabb& from, const Aabb& to,
                    std::uint32_t* rows_read = nullptr);

}  // namespace ashlar
