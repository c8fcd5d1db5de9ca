#pragma once
#include <cstdint>
#include <string>

#include "world/math/block_box.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/volume.h"

// Blocks as a Wavefront OBJ model, which every 3D program reads, and --prop of another world.

namespace ashlar::server {

/// Both files of a model.
struct ObjModel {
  std::string obj, mtl;
  std::uint64_t faces = 0;
};

/// The faces of an area that can be seen: neighbouring ones of one kind are one rectangle, one material a
/// kind of block, named as it is. Metres, y up (x east, -z north), the origin in the middle of the area's
/// lower face. What is beyond the area is open. Cost: some 0.2 us a block.
/// @param box       blocks, not empty
/// @param mtl_name  that the first names the second by
ObjModel export_obj(const VoxelVolume& volume, const BlockBox& box, const BlockRegistry& kinds,
                    const std::string& mtl_name);

}  // namespace ashlar::server
