#include "server/host/ground_packer.h"

#include <algorithm>
#include <array>

#include "world/math/assert.h"
#include "world/voxel/chunk.h"

namespace ashlar::server {

void hide_blocks(std::span<BlockId> blocks, std::span<const std::uint16_t> shown,
                 const BlockRegistry& kinds) {
  std::array<bool, block_kinds_max> hidden{};  // asked 32 768 times
  for (std::size_t id = 0; id < hidden.size(); ++id) hidden[id] = kinds.hidden(static_cast<BlockId>(id));
  for (std::size_t i = 0; i < blocks.size(); ++i)
    if (hidden[static_cast<std::size_t>(blocks[i])] &&
        !std::ranges::binary_search(shown, static_cast<std::uint16_t>(i)))
      blocks[i] = BlockId::stone;
}

PackedGround GroundPacker::pack(const PackRequest& request) {
  PackedGround out{request.ticket, request.hash, {}};
  if (!request.hides) {
    codec_.encode(request.blocks, out.bytes);
    return out;
  }
  ASHLAR_ASSERT(request.kinds != nullptr);
  blocks_.resize(chunk_blocks);
  request.blocks.blocks.copy_to(blocks_);
  hide_blocks(blocks_, request.shown, *request.kinds);
  const Chunk told{std::span<const BlockId>(blocks_)};
  out.hash = told.content_hash();
  out.bytes = codec_.encode(told);
  return out;
}

}  // namespace ashlar::server
