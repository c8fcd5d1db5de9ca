#include "world/voxel/chunk.h"

#include <algorithm>

#include "world/math/assert.h"
#include "world/math/random.h"

namespace ashlar {
namespace {

/// What one block adds to its chunk's hash. Air adds nothing, so sums over what is there suffice, and an
/// edit takes two additions.
std::uint64_t block_hash(std::size_t index, BlockId id) {
  if (id == BlockId::air) return 0;
  return mix64((static_cast<std::uint64_t>(id) << 16 | index) + 0x9e3779b97f4a7c15u);
}

/// Of a chunk of one kind throughout: computed once a kind, as most of the world's chunks are such.
std::uint64_t full_hash(BlockId fill) {
  static const std::array<std::uint64_t, block_id_count> all = [] {
    std::array<std::uint64_t, block_id_count> sums{};
    for (std::uint16_t id = 0; id < block_id_count; ++id)
      for (std::size_t i = 0; i < chunk_blocks; ++i) sums[id] += block_hash(i, static_cast<BlockId>(id));
    return sums;
  }();
  return all[static_cast<std::size_t>(fill)];
}

const Chunk::SolidColumns* uniform_solid(bool solid) {
  static const auto filled = [](std::uint32_t word) {
    Chunk::SolidColumns columns;
    columns.fill(word);
    return columns;
  };
  static const Chunk::SolidColumns none = filled(0), all = filled(~0u);
  return solid ? &all : &none;
}

bool in_chunk(IVec3 local) { return ((local.x | local.y | local.z) & ~(chunk_size - 1)) == 0; }

}  // namespace

Chunk::Chunk(BlockId fill) : palette_{fill} {
  ASHLAR_ASSERT(static_cast<std::uint16_t>(fill) < block_id_count);
  solid_ = uniform_solid(is_solid(fill));
  content_hash_ = full_hash(fill);
}

Chunk::Chunk(const Chunk& other)
    : solid_(other.solid_),
      own_solid_(other.own_solid_ ? std::make_unique<SolidColumns>(*other.own_solid_) : nullptr),
      content_hash_(other.content_hash_),
      bits_(other.bits_),
      palette_(other.palette_),
      indices_(other.indices_) {
  if (own_solid_) solid_ = own_solid_.get();
}

Chunk::Chunk(std::span<const BlockId> blocks) {
  ASHLAR_ASSERT(blocks.size() == chunk_blocks);
  std::array<std::uint16_t, block_id_count> place;
  place.fill(0xffff);
  for (const BlockId id : blocks) {
    ASHLAR_ASSERT(static_cast<std::uint16_t>(id) < block_id_count);
    std::uint16_t& at = place[static_cast<std::size_t>(id)];
    if (at != 0xffff) continue;
    at = static_cast<std::uint16_t>(palette_.size());
    palette_.push_back(id);
  }
  ASHLAR_ASSERT(!palette_.empty() && palette_.size() <= block_id_count);
  while ((std::size_t{1} << bits_) < palette_.size()) bits_ = bits_ == 0 ? 1 : bits_ * 2;
  const auto solids = std::ranges::count_if(palette_, is_solid);
  if (solids == 0 || solids == static_cast<std::ptrdiff_t>(palette_.size())) {
    solid_ = uniform_solid(solids != 0);
  } else {
    own_solid_ = std::make_unique<SolidColumns>();
    solid_ = own_solid_.get();
  }
  if (bits_ == 0) {
    content_hash_ = full_hash(palette_.front());
    return;
  }
  indices_.assign(chunk_blocks * bits_ / 64, 0);
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    const BlockId id = blocks[i];
    put_index(i, place[static_cast<std::size_t>(id)]);
    if (own_solid_ && is_solid(id)) (*own_solid_)[i >> chunk_bits] |= 1u << (i & (chunk_size - 1));
    content_hash_ += block_hash(i, id);
  }
}

std::size_t Chunk::bytes() const {
  return sizeof(Chunk) + (own_solid_ ? sizeof(SolidColumns) : 0) + palette_.capacity() * sizeof(BlockId) +
         indices_.capacity() * sizeof(std::uint64_t);
}

std::size_t Chunk::palette_index(std::size_t block) const {
  if (bits_ == 0) return 0;
  const std::size_t bit = block * bits_;
  return static_cast<std::size_t>((indices_[bit / 64] >> (bit % 64)) & ((std::uint64_t{1} << bits_) - 1));
}

void Chunk::put_index(std::size_t block, std::size_t value) {
  const std::size_t bit = block * bits_;
  const std::uint64_t mask = ((std::uint64_t{1} << bits_) - 1) << (bit % 64);
  std::uint64_t& word = indices_[bit / 64];
  word = (word & ~mask) | (static_cast<std::uint64_t>(value) << (bit % 64));
}

void Chunk::widen() {
  Chunk wider{BlockId::air};
  wider.bits_ = bits_ == 0 ? 1 : bits_ * 2;
  wider.indices_.assign(chunk_blocks * wider.bits_ / 64, 0);
  for (std::size_t i = 0; i < chunk_blocks; ++i) wider.put_index(i, palette_index(i));
  bits_ = wider.bits_;
  indices_ = std::move(wider.indices_);
}

BlockId Chunk::block(IVec3 local) const {
  ASHLAR_ASSERT_SLOW(in_chunk(local));
  return palette_[palette_index(index_in_chunk(local))];
}

void Chunk::set_block(IVec3 local, BlockId id) {
  ASHLAR_ASSERT(in_chunk(local));
  ASHLAR_ASSERT(static_cast<std::uint16_t>(id) < block_id_count);
  const std::size_t index = index_in_chunk(local);
  const BlockId old = palette_[palette_index(index)];
  if (old == id) return;
  std::size_t place = 0;
  while (place < palette_.size() && palette_[place] != id) ++place;
  if (place == palette_.size()) {
    palette_.push_back(id);
    if ((std::size_t{1} << bits_) < palette_.size()) widen();
  }
  ASHLAR_ASSERT(place < (std::size_t{1} << bits_));
  put_index(index, place);
  content_hash_ += block_hash(index, id) - block_hash(index, old);
  if (is_solid(id) == is_solid(old)) return;
  if (!own_solid_) {
    own_solid_ = std::make_unique<SolidColumns>(*solid_);
    solid_ = own_solid_.get();
  }
  std::uint32_t& column = (*own_solid_)[index >> chunk_bits];
  const std::uint32_t bit = 1u << (index & (chunk_size - 1));
  column = is_solid(id) ? column | bit : column & ~bit;
}

void Chunk::copy_blocks(std::span<BlockId> out) const {
  ASHLAR_ASSERT(out.size() == chunk_blocks);
  for (std::size_t i = 0; i < chunk_blocks; ++i) out[i] = palette_[palette_index(i)];
}

}  // namespace ashlar
