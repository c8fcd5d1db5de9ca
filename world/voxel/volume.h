#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "world/math/vec.h"
#include "world/voxel/block.h"
#include "world/voxel/chunk.h"

namespace ashlar {

/// Chunks by their coordinates: a flat hash with linear probing. What is not loaded is solid to every query.
/// One thread changes it; const members may be called from several threads between changes.
class VoxelVolume {
 public:
  /// @param chunks_expected  room for this many chunks without growing the table
  /// @param kinds            what its blocks are like; never null
  explicit VoxelVolume(std::size_t chunks_expected = 1024,
                       std::shared_ptr<const BlockRegistry> kinds = BlockRegistry::builtin_ptr());

  const BlockRegistry& kinds() const { return *kinds_; }

  /// Coordinates that a volume can hold, |coordinate| < 2^20; every chunk of the world is far within.
  static bool in_range(ChunkCoord at);

  /// Takes the place of a chunk that is already there. Preconditions: a chunk, coordinates in range.
  /// Its blocks are solid as kinds() has it. Allocates only when the table grows (doubles at half full), and
  /// for chunks that hold kinds of another form than the built-in ones.
  void insert_chunk(ChunkCoord at, std::unique_ptr<Chunk> chunk);
  /// Hands the chunk back, which is not to outlive kinds(); null when it was not loaded.
  std::unique_ptr<Chunk> drop_chunk(ChunkCoord at);

  /// Null when not loaded. Valid until that chunk is replaced or dropped. About 3 ns.
  const Chunk* find(ChunkCoord at) const;
  /// Has the processor fetch what find() will read: worth it where thousands of places far apart are asked
  /// for one after the other. Changes nothing.
  void prefetch_slot(ChunkCoord at) const;
  /// And a little later for the chunk itself, though not for its blocks.
  void prefetch_chunk(ChunkCoord at) const;
  bool loaded(ChunkCoord at) const { return find(at) != nullptr; }
  std::size_t chunk_count() const { return count_; }
  /// Sorted by z, y, x. For savers and tests; allocates.
  std::vector<ChunkCoord> loaded_chunks() const;

  /// Is something of the block solid? Unloaded blocks are.
  bool solid(IVec3 block) const;
  /// Is the point in something solid? Closed below, open above, as blocks and their boxes span [low, high).
  bool solid_at(DVec3 point) const;
  /// What of a block is solid; all of it where it is not loaded.
  const BlockShape& shape(IVec3 block) const;
  /// Unloaded blocks read as stone.
  BlockId block(IVec3 block) const;
  /// False, and nothing done, where the chunk is not loaded. Precondition: id below block_kinds_max.
  bool set_block(IVec3 block, BlockId id);

  /// Of which chunks are loaded and of every block in them, whatever the order in which they came.
  /// Kept up to date by edits, so it costs nothing to ask.
  std::uint64_t hash() const { return hash_; }

 private:
  std::size_t home_of_key(std::uint64_t key) const;  ///< where a search for it begins
  std::size_t slot_of_key(std::uint64_t key) const;  ///< its own, or the free one that ends the search
  void grow();

  std::shared_ptr<const BlockRegistry> kinds_;
  std::vector<std::uint64_t> keys_;  ///< packed coordinates or empty_key; size a power of two
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::size_t count_ = 0;
  unsigned shift_ = 0;
  std::uint64_t hash_ = 0;
};

/// Finds chunks one after another and remembers the last: walks stay in one chunk for many blocks.
/// A value on the caller's stack; not to be kept over a change of the volume.
class ChunkCursor {
 public:
  explicit ChunkCursor(const VoxelVolume& volume) : volume_(&volume) {}

  /// As VoxelVolume::find(): null when not loaded.
  const Chunk* at(ChunkCoord where) {
    if (!known_ || !(where == last_)) {
      chunk_ = volume_->find(where);
      last_ = where;
      known_ = true;
    }
    return chunk_;
  }
  /// Is something of the block solid? Unloaded blocks are.
  bool solid(IVec3 block) {
    const Chunk* chunk = at(chunk_of(block));
    if (chunk == nullptr) return true;
    const IVec3 local = local_in_chunk(block);
    return ((chunk->solid()[static_cast<std::size_t>(local.y * chunk_size + local.x)] >> local.z) & 1u) != 0;
  }

 private:
  const VoxelVolume* volume_;
  const Chunk* chunk_ = nullptr;
  ChunkCoord last_{};
  bool known_ = false;
};

}  // namespace ashlar
