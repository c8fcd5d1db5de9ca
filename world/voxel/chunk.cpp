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

std::uint64_t sum_of_hashes(BlockId fill) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < chunk_blocks; ++i) sum += block_hash(i, fill);
  return sum;
}

/// Of a chunk of one kind throughout: of the ground's own kinds computed once, as most of the world's chunks
/// are such.
std::uint64_t full_hash(BlockId fill) {
  static const std::array<std::uint64_t, block_id_count> all = [] {
    std::array<std::uint64_t, block_id_count> sums{};
    for (std::uint16_t id = 0; id < block_id_count; ++id) sums[id] = sum_of_hashes(static_cast<BlockId>(id));
    return sums;
  }();
  const auto number = static_cast<std::size_t>(fill);
  return number < all.size() ? all[number] : sum_of_hashes(fill);
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
  ASHLAR_ASSERT(static_cast<std::uint16_t>(fill) < block_kinds_max);
  mark_all();
  content_hash_ = full_hash(fill);
}

Chunk::Chunk(const Chunk& other)
    : forms_(other.forms_),
      solid_(other.solid_),
      own_solid_(other.own_solid_ ? std::make_unique<SolidColumns>(*other.own_solid_) : nullptr),
      parts_(other.parts_ ? std::make_unique<SolidColumns>(*other.parts_) : nullptr),
      content_hash_(other.content_hash_),
      bits_(other.bits_),
      palette_(other.palette_),
      indices_(other.indices_) {
  if (own_solid_) solid_ = own_solid_.get();
}

Chunk::Chunk(std::span<const BlockId> blocks) {
  ASHLAR_ASSERT(blocks.size() == chunk_blocks);
  std::array<std::uint16_t, block_kinds_max> place;
  place.fill(0xffff);
  for (const BlockId id : blocks) {
    ASHLAR_ASSERT(static_cast<std::uint16_t>(id) < block_kinds_max);
    std::uint16_t& at = place[static_cast<std::size_t>(id)];
    if (at != 0xffff) continue;
    at = static_cast<std::uint16_t>(palette_.size());
    palette_.push_back(id);
  }
  ASHLAR_ASSERT(!palette_.empty() && palette_.size() <= block_kinds_max);
  while ((std::size_t{1} << bits_) < palette_.size()) bits_ = bits_ == 0 ? 1 : bits_ * 2;
  if (bits_ == 0) {
    content_hash_ = full_hash(palette_.front());
  } else {
    indices_.assign(chunk_blocks * bits_ / 64, 0);
    for (std::size_t i = 0; i < chunk_blocks; ++i) {
      put_index(i, place[static_cast<std::size_t>(blocks[i])]);
      content_hash_ += block_hash(i, blocks[i]);
    }
  }
  mark_all();
}

void Chunk::set_forms(const BlockRegistry::Forms& forms) {
  const BlockRegistry::Forms& before = *forms_;
  forms_ = &forms;
  const auto differs = [&](BlockId id) {
    const auto number = static_cast<std::size_t>(id);
    return forms[number] != before[number];
  };
  if (&forms != &before && std::ranges::any_of(palette_, differs)) mark_all();
}

/// Makes all bits anew.
void Chunk::mark_all() {
  std::array<BlockForm, block_kinds_max> by_place;
  bool passable = false, solid = false, part = false;
  for (std::size_t i = 0; i < palette_.size(); ++i) {
    const BlockForm form = by_place[i] = (*forms_)[static_cast<std::size_t>(palette_[i])];
    passable = passable || form == BlockForm::passable;
    solid = solid || form != BlockForm::passable;
    part = part || form == BlockForm::part;
  }
  own_solid_ = passable && solid ? std::make_unique<SolidColumns>() : nullptr;
  parts_ = part ? std::make_unique<SolidColumns>() : nullptr;
  solid_ = own_solid_ ? own_solid_.get() : uniform_solid(solid);
  if (!own_solid_ && !parts_) return;
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    const BlockForm form = by_place[palette_index(i)];
    const std::uint32_t bit = 1u << (i & (chunk_size - 1));
    if (own_solid_ && form != BlockForm::passable) (*own_solid_)[i >> chunk_bits] |= bit;
    if (form == BlockForm::part) (*parts_)[i >> chunk_bits] |= bit;
  }
}

/// A block has another form now.
void Chunk::mark(std::size_t index, BlockForm was, BlockForm is) {
  const auto put = [index](SolidColumns& columns, bool set) {
    std::uint32_t& column = columns[index >> chunk_bits];
    const std::uint32_t bit = 1u << (index & (chunk_size - 1));
    column = set ? column | bit : column & ~bit;
  };
  if ((was == BlockForm::passable) != (is == BlockForm::passable)) {
    if (!own_solid_) own_solid_ = std::make_unique<SolidColumns>(*solid_);
    solid_ = own_solid_.get();
    put(*own_solid_, is != BlockForm::passable);
  }
  if (is == BlockForm::part && !parts_) parts_ = std::make_unique<SolidColumns>();
  if (parts_) put(*parts_, is == BlockForm::part);
}

std::size_t Chunk::bytes() const {
  return sizeof(Chunk) + (own_solid_ ? sizeof(SolidColumns) : 0) + (parts_ ? sizeof(SolidColumns) : 0) +
         palette_.capacity() * sizeof(BlockId) + indices_.capacity() * sizeof(std::uint64_t);
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
  ASHLAR_ASSERT(static_cast<std::uint16_t>(id) < block_kinds_max);
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
  const BlockForm was = (*forms_)[static_cast<std::size_t>(old)],
                  is = (*forms_)[static_cast<std::size_t>(id)];
  if (was != is) mark(index, was, is);
}

void Chunk::copy_blocks(std::span<BlockId> out) const {
  ASHLAR_ASSERT(out.size() == chunk_blocks);
  for (std::size_t i = 0; i < chunk_blocks; ++i) out[i] = palette_[palette_index(i)];
}

}  // namespace ashlar
