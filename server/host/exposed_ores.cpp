#include "server/host/exposed_ores.h"

#include "world/math/random.h"
#include "world/sim/block_act.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/chunk_place.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

ChunkCoord beside(ChunkCoord at, std::uint8_t face) {
  const IVec3 way = normal_of(static_cast<BlockFace>(face));
  return {at.x + way.x, at.y + way.y, at.z + way.z};
}

/// Of what a chunk's exposed blocks depend on. Never 0.
std::uint64_t fingerprint(const VoxelVolume& ground, ChunkCoord at, const Chunk& chunk) {
  std::uint64_t hash = mix64(chunk.content_hash() + 1);
  for (std::uint8_t face = 0; face < block_face_count; ++face) {
    const Chunk* const next = ground.find(beside(at, face));
    hash = mix64(hash + (next == nullptr ? 0 : next->content_hash() + 1));
  }
  return hash | 1;
}

bool lets_see(const BlockRegistry& kinds, BlockId id) {
  return kinds.knows(id) && !(kinds.type(id).opaque && kinds.type(id).shape.full());
}

}  // namespace

bool may_hold_hidden(const BlockRegistry& kinds, const Chunk& chunk) {
  for (std::uint16_t id = 0; id < block_kinds_max; ++id)
    if (chunk.may_hold(static_cast<BlockId>(id)) && kinds.hidden(static_cast<BlockId>(id))) return true;
  return false;
}

std::size_t ExposedOres::PlaceHash::operator()(const ChunkCoord& at) const {
  const auto bits = [](std::int32_t v) { return std::uint64_t{static_cast<std::uint32_t>(v)}; };
  return static_cast<std::size_t>(mix64(bits(at.x) << 42 ^ bits(at.y) << 21 ^ bits(at.z)));
}

void ExposedOres::look_through(const VoxelVolume& ground, ChunkCoord at, const Chunk& chunk,
                               std::vector<IVec3>& out) {
  out.clear();
  const BlockRegistry& kinds = ground.kinds();
  if (!may_hold_hidden(kinds, chunk)) return;
  blocks_.resize(chunk_blocks);
  chunk.copy_blocks(blocks_);
  const IVec3 corner = chunk_min(at);
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    if (!kinds.hidden(blocks_[i])) continue;
    const IVec3 local = local_of_index(i);
    for (std::uint8_t face = 0; face < block_face_count; ++face) {
      const IVec3 next = local + normal_of(static_cast<BlockFace>(face));
      const bool within = chunk_of(next) == ChunkCoord{0, 0, 0};
      // What is not loaded reads as stone.
      const BlockId id = within ? blocks_[index_in_chunk(next)] : ground.block(corner + next);
      if (!lets_see(kinds, id)) continue;
      out.push_back(corner + local);
      break;
    }
  }
}

ExposedOres::Known* ExposedOres::in(const VoxelVolume& ground, ChunkCoord at) {
  const auto found = chunks_.find(at);
  if (found != chunks_.end() && tick_ - found->second.checked_tick < check_every_ticks) return &found->second;
  const Chunk* const chunk = ground.find(at);
  if (chunk == nullptr) return nullptr;
  const std::uint64_t now = fingerprint(ground, at, *chunk);
  if (found != chunks_.end() && found->second.of == now) {
    found->second.checked_tick = tick_;
    return &found->second;
  }
  const bool costs = may_hold_hidden(ground.kinds(), *chunk);
  if (costs && looked_through_ == looked_through_max) {
    ++put_off_;
    return nullptr;
  }
  if (costs) ++looked_through_;
  if (found == chunks_.end() && chunks_.size() == chunks_max) clear();
  Known& known = chunks_[at];
  known.of = now;
  known.checked_tick = tick_;
  look_through(ground, at, *chunk, known.blocks);
  return &known;
}

}  // namespace ashlar::server
