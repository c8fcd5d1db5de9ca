#include "world/sim/block_touch.h"

#include <algorithm>

#include "world/math/contact.h"
#include "world/voxel/volume.h"

namespace ashlar {

BlockTouch touch_of(const VoxelVolume& volume, const Cylinder& shape, DVec3 base) {
  BlockTouch touch;
  const BlockRegistry& kinds = volume.kinds();
  ChunkCursor cursor(volume);
  const auto type_at = [&](IVec3 block) -> const BlockType* {
    const Chunk* chunk = cursor.at(chunk_of(block));
    if (chunk == nullptr) return nullptr;
    const BlockId id = chunk->block(local_in_chunk(block));
    return kinds.knows(id) ? &kinds.type(id) : nullptr;
  };
  const double top = base.z + shape.height_m, rungs = base.z + climb_share * shape.height_m;
  IVec3 at = block_at(base);
  const std::int32_t last = floor_to_int(top - contact_slop_m);
  // Under its feet; of blocks that are solid in part it stands in the one whose cell it is in.
  const IVec3 under = block_at({base.x, base.y, base.z - 2 * contact_slop_m});
  if (const BlockType* type = type_at(under); type != nullptr && type->solid()) {
    touch.friction = type->friction;
    touch.jump = type->jump;
    touch.damage_per_s = type->damage_per_s;
  }
  double wet_m = 0;
  for (; at.z <= last; ++at.z) {
    const BlockType* type = type_at(at);
    if (type == nullptr || type->solid()) continue;
    touch.damage_per_s = std::max(touch.damage_per_s, type->damage_per_s);
    if (type->liquid) wet_m += std::min(at.z + 1.0, top) - std::max<double>(at.z, base.z);
    if (type->climbable && at.z < rungs) touch.climbs = true;
  }
  touch.immersed = std::min(1.0, wet_m / shape.height_m);
  return touch;
}

}  // namespace ashlar
