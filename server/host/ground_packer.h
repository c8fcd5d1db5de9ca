#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "protocol/chunk_codec.h"
#include "world/voxel/block_registry.h"

namespace ashlar::server {

/// Requests that a Host has out at once.
inline constexpr std::size_t pack_requests_max = 32;

/// A chunk that clients are to be sent: a copy, so that another thread may pack it while the world goes on.
struct PackRequest {
  std::uint32_t ticket = 0;  ///< that its answer names
  PackedChunk blocks;
  std::uint64_t hash = 0;  ///< Chunk::content_hash() of those
  bool hides = false;      ///< what a secret seed makes (BlockRegistry::hidden()) is stone but for `shown`
  std::shared_ptr<const BlockRegistry> kinds = {};  ///< its world's; never null where it hides
  std::vector<std::uint16_t> shown = {};            ///< index_in_chunk, rising
};

/// Its answer.
struct PackedGround {
  std::uint32_t ticket = 0;
  std::uint64_t hash = 0;           ///< Chunk::content_hash() of what the bytes hold
  std::vector<std::uint8_t> bytes;  ///< of a ChunkCodec
};

/// Puts stone in place of what is hidden.
/// @param blocks  a chunk's, in the order of index_in_chunk
void hide_blocks(std::span<BlockId> blocks, std::span<const std::uint16_t> shown, const BlockRegistry& kinds);

/// Packs chunks for clients. Holds some 700 KiB. One thread at a time; ground_workers.h has one of its own,
/// programs that have nothing else to do pack where they are asked.
class GroundPacker {
 public:
  /// About 0.1 ms, half as much again where blocks are hidden.
  PackedGround pack(const PackRequest& request);

 private:
  ChunkCodec codec_;
  std::vector<BlockId> blocks_;  // scratch
};

}  // namespace ashlar::server
