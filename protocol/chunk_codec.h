#pragma once
#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <vector>

#include "world/voxel/block.h"
#include "world/voxel/chunk.h"

// A chunk as bytes, for disks and for whoever cannot compute it, little-endian:
//
//   u8   chunk_bytes_version
//   the rest is one zstd frame of:
//     u16  kinds of block, 1 to block_kinds_max
//     u16  each kind's id, in the order in which they first occur
//     u64  indices into the kinds of all blocks in the order of index_in_chunk, 0, 1, 2, 4 or 8
//          bits each, as few as the kinds need, the first in the low bits
//
// The same blocks give the same bytes from one build of zstd; another one may pack them otherwise. The bytes
// carry no checksum of their own: who keeps them adds one.

namespace ashlar {

inline constexpr std::uint8_t chunk_bytes_version = 1;
/// No chunk takes more.
inline constexpr std::size_t chunk_bytes_max = 40'000;

/// A chunk's blocks as they are in memory: a copy that another thread may code while the chunk goes on
/// changing.
struct PackedChunk {
  BlockSections blocks;

  /// Keeps its memory: allocates only where the chunk is larger than any before. Below 1 us.
  void assign(const Chunk& chunk) { blocks = chunk.blocks(); }
};

enum class ChunkError : std::uint8_t {
  empty,
  too_long,
  newer,          ///< of a version that this build does not know
  packing,        ///< zstd refuses it, or it unpacks to more than a chunk
  wrong_size,     ///< unpacks to another length than its kinds ask for
  unknown_block,  ///< names a kind of block that no world has
  bad_palette,    ///< no kinds, or one twice
  bad_index,      ///< a block of a kind that is not listed
};
/// Half a sentence for people; a literal.
const char* describe(ChunkError error);

/// Chunks to bytes and back. Holds what zstd needs, some 600 KiB. One thread at a time.
class ChunkCodec {
 public:
  ChunkCodec();
  ~ChunkCodec();
  ChunkCodec(const ChunkCodec&) = delete;
  ChunkCodec& operator=(const ChunkCodec&) = delete;

  /// Replaces `out`; at most chunk_bytes_max bytes. About 0.1 ms.
  void encode(const PackedChunk& chunk, std::vector<std::uint8_t>& out);
  /// The same in one call; allocates.
  std::vector<std::uint8_t> encode(const Chunk& chunk);

  /// Bytes of any origin. Takes no more memory than a chunk does. About 0.1 ms.
  std::expected<std::unique_ptr<Chunk>, ChunkError> decode(std::span<const std::uint8_t> bytes);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar
