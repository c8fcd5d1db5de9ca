#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "world/math/vec.h"
#include "world/voxel/block.h"

namespace ashlar {

inline constexpr std::size_t chunk_blocks = std::size_t{1} << (3 * chunk_bits);

/// Index of a block within its chunk: columns are contiguous from bottom to top, then x, then y.
/// Precondition: each coordinate in [0, 32).
constexpr std::size_t index_in_chunk(IVec3 local) {
  return static_cast<std::size_t>((local.y << (2 * chunk_bits)) | (local.x << chunk_bits) | local.z);
}

/// Where a block of that index lies.
constexpr IVec3 local_of_index(std::size_t index) {
  constexpr std::size_t mask = chunk_size - 1;
  return {static_cast<std::int32_t>(index >> chunk_bits & mask),
          static_cast<std::int32_t>(index >> (2 * chunk_bits)), static_cast<std::int32_t>(index & mask)};
}

/// The blocks of a chunk in 64 sections of 8 x 8 x 8. A section of one kind takes four bytes; others have a
/// palette of their own, of 2, 4 or 16 kinds with as many bits a block as these need, or a byte a block. Most
/// sections of natural ground are of one kind, and the rest of few: 1 to 4 KiB where a palette of the whole
/// chunk takes 16. A value that another thread may read while the one it was copied from changes.
class BlockSections {
 public:
  static_assert(block_kinds_max <= 256, "a section's kinds are bytes");

  /// All of one kind.
  explicit BlockSections(BlockId fill = BlockId::air);
  /// @param blocks  chunk_blocks ids in the order of index_in_chunk, all below block_kinds_max; asserted
  explicit BlockSections(std::span<const BlockId> blocks);

  /// Precondition, of set() too: each coordinate in [0, 32).
  BlockId get(IVec3 local) const {
    const Section& section = sections_[section_of(local)];
    if (section.bits == 0) return static_cast<BlockId>(section.kinds);
    return block_in(section, index_in_section(local));
  }
  /// Allocates where a section meets its second kind, or more than its bits tell apart.
  void set(IVec3 local, BlockId id);
  /// Writes all chunk_blocks ids in the order of index_in_chunk. Some 20 us.
  void copy_to(std::span<BlockId> out) const;

  /// Beside the value itself.
  std::size_t heap_bytes() const { return pool_.capacity() * sizeof(std::uint64_t); }

 private:
  struct Section {
    std::uint8_t bits = 0;   // a block: 0, 1, 2, 4 or 8
    std::uint8_t kinds = 0;  // bits 0: the kind; 1, 2 or 4: kinds in the palette less one
    std::uint16_t at = 0;    // words of the pool
  };
  static constexpr std::int32_t side = 8;
  static constexpr std::size_t section_blocks = std::size_t{side} * side * side;

  static constexpr std::size_t section_of(IVec3 local) {
    return static_cast<std::size_t>((local.y >> 3) << 4 | (local.x >> 3) << 2 | local.z >> 3);
  }
  static constexpr std::size_t index_in_section(IVec3 local) {
    return static_cast<std::size_t>((local.y & 7) << 6 | (local.x & 7) << 3 | (local.z & 7));
  }
  /// Words of a palette, and of the places behind it.
  static constexpr std::size_t palette_words(unsigned bits) { return bits == 8 ? 0 : bits == 4 ? 2 : 1; }
  static constexpr std::size_t place_words(unsigned bits) { return section_blocks * bits / 64; }
  static constexpr std::size_t words(unsigned bits) {
    return bits == 0 ? 0 : palette_words(bits) + place_words(bits);
  }

  BlockId block_in(const Section& section, std::size_t index) const {
    const std::size_t place = place_in(section, index);
    return static_cast<BlockId>(section.bits == 8 ? place : kind_in(section, place));
  }
  std::size_t place_in(const Section& section, std::size_t index) const {
    const std::size_t bit = index * section.bits;
    const std::uint64_t word = pool_[section.at + palette_words(section.bits) + bit / 64];
    return static_cast<std::size_t>(word >> (bit % 64) & ((std::uint64_t{1} << section.bits) - 1));
  }
  std::uint8_t kind_in(const Section& section, std::size_t place) const {
    return static_cast<std::uint8_t>(pool_[section.at + place / 8] >> (place % 8 * 8));
  }
  void put_place(const Section& section, std::size_t index, std::size_t place);
  void put_kind(const Section& section, std::size_t place, std::uint8_t kind);
  Section take_room(unsigned bits);
  void widen(Section& section);
  void drop_garbage();

  std::array<Section, 64> sections_;
  std::vector<std::uint64_t> pool_;  // palettes and places of sections, in no order
  std::uint32_t garbage_ = 0;        // words of it that no section has
};

}  // namespace ashlar
