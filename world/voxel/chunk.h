#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "world/math/vec.h"
#include "world/voxel/block.h"
#include "world/voxel/block_registry.h"
#include "world/voxel/block_sections.h"

namespace ashlar {

/// Where a block lies within its chunk.
constexpr IVec3 local_in_chunk(IVec3 block) {
  return {block.x & (chunk_size - 1), block.y & (chunk_size - 1), block.z & (chunk_size - 1)};
}

/// 32^3 blocks: sections with palettes (block_sections.h), and beside them one solid bit per block, which is
/// all that collision reads. 4 KiB of solid bits where some are set and some are not: chunks that are solid
/// throughout or nowhere share theirs. A chunk of one kind of block takes some 400 bytes.
/// Which blocks are solid is told by the forms of a registry: the built-in one's, or whose the volume is.
struct Chunk {
 public:
  /// Word y * 32 + x is the column (x, y); bit z of it is set where the block is solid.
  using SolidColumns = std::array<std::uint32_t, chunk_size * chunk_size>;

  /// A chunk of one kind of block.
  explicit Chunk(BlockId fill = BlockId::air);
  /// @param blocks  chunk_blocks ids in the order of index_in_chunk, all below block_kinds_max; asserted
  explicit Chunk(std::span<const BlockId> blocks);
  Chunk(const Chunk& other);
  Chunk(Chunk&&) = delete;  // chunks lie behind pointers: those move
  Chunk& operator=(const Chunk&) = delete;
  ~Chunk() = default;

  /// Precondition, of set_block() too: each coordinate in [0, 32), as local_in_chunk() gives.
  BlockId block(IVec3 local) const;
  /// Allocates only where a section of the chunk meets a kind of block for the first time, or the chunk its
  /// first hole or solid.
  void set_block(IVec3 local, BlockId id);

  /// Of blocks that are solid, in full or in part; kept up to date by set_block().
  const SolidColumns& solid() const { return *solid_; }
  /// Likewise of those that are solid in part only (BlockForm::part). Null: there never was one.
  const SolidColumns* parts() const { return parts_.get(); }
  /// From now on these say which blocks are solid, of those that are there, too. Nothing is done where they
  /// say the same of all of them. Kept by reference: they have to outlive the chunk.
  void set_forms(const BlockRegistry::Forms& forms);
  /// Of the blocks alone, independent of how they are packed and in which order they were set.
  std::uint64_t content_hash() const { return content_hash_; }

  /// Kinds that occur, or once did.
  bool may_hold(BlockId id) const {
    const auto number = static_cast<std::size_t>(id);
    return number < block_kinds_max && (kinds_[number / 64] >> (number % 64) & 1) != 0;
  }
  std::size_t kind_count() const;  ///< of those
  /// For savers: copying them is all that a chunk's content takes.
  const BlockSections& blocks() const { return blocks_; }
  /// Of itself and what it alone holds.
  std::size_t bytes() const;
  /// Writes all chunk_blocks ids in the order of index_in_chunk. Some 20 us.
  void copy_blocks(std::span<BlockId> out) const { blocks_.copy_to(out); }

 private:
  void note_kind(BlockId id) {
    const auto number = static_cast<std::size_t>(id);
    kinds_[number / 64] |= std::uint64_t{1} << (number % 64);
  }
  void mark(std::size_t index, BlockForm was, BlockForm is);
  void mark_all();

  const BlockRegistry::Forms* forms_ = &BlockRegistry::builtin().forms();
  const SolidColumns* solid_;                ///< own_solid_, or those that all chunks of its kind share
  std::unique_ptr<SolidColumns> own_solid_;  ///< null while all bits are the same
  std::unique_ptr<SolidColumns> parts_;
  std::uint64_t content_hash_ = 0;
  std::array<std::uint64_t, block_kinds_max / 64> kinds_{};  ///< a bit each: may_hold()
  BlockSections blocks_;
};

}  // namespace ashlar
