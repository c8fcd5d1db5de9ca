#include "world/sim/block_touch.h"

#include <algorithm>
#include <array>

#include "world/math/contact.h"
#include "world/voxel/volume.h"

namespace ashlar {
namespace {

/// Kinds of blocks that do anything to a body.
struct TouchingKinds {
  std::uint64_t registry;  // BlockRegistry::hash()
  std::size_t count = 0;
  std::array<BlockId, block_kinds_max> ids{};

  explicit TouchingKinds(const BlockRegistry& kinds) : registry(kinds.hash()) {
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const BlockType& type = kinds.types()[i];
      if (type.liquid || type.climbable || type.damage_per_s > 0 || type.friction != 1 || type.jump != 1)
        ids[count++] = static_cast<BlockId>(i);
    }
  }
  bool none_in(const Chunk* chunk) const {
    return chunk == nullptr || std::none_of(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count),
                                            [chunk](BlockId id) { return chunk->may_hold(id); });
  }
};

/// A function of the registry, remembered as each body of a tick asks for the same.
const TouchingKinds& touching_kinds(const BlockRegistry& kinds) {
  thread_local TouchingKinds last(kinds);
  if (last.registry != kinds.hash()) last = TouchingKinds(kinds);
  return last;
}

}  // namespace

BlockTouch touch_of(const VoxelVolume& volume, const Cylinder& shape, DVec3 base) {
  BlockTouch touch;
  const BlockRegistry& kinds = volume.kinds();
  const double top = base.z + shape.height_m, rungs = base.z + climb_share * shape.height_m;
  IVec3 at = block_at(base);
  const std::int32_t last = floor_to_int(top - contact_slop_m);
  // Under its feet; of blocks that are solid in part it stands in the one whose cell it is in.
  const IVec3 under = block_at({base.x, base.y, base.z - 2 * contact_slop_m});
  ChunkCursor cursor(volume);
  // Most ground has none of it, and the looks at single blocks cost a tenth of a walk.
  const TouchingKinds& touching = touching_kinds(kinds);
  const bool in_two_chunks_at_most = last - under.z < chunk_size;
  if (in_two_chunks_at_most && touching.none_in(cursor.at(chunk_of(under))) &&
      touching.none_in(cursor.at(chunk_of({at.x, at.y, last}))))
    return touch;
  const auto type_at = [&](IVec3 block) -> const BlockType* {
    const Chunk* chunk = cursor.at(chunk_of(block));
    if (chunk == nullptr) return nullptr;
    const BlockId id = chunk->block(local_in_chunk(block));
    return kinds.knows(id) ? &kinds.type(id) : nullptr;
  };
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
