#include "world/voxel/chunk.h"

#include <bit>

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

Chunk::Chunk(BlockId fill) : blocks_(fill) {
  note_kind(fill);
  mark_all();
  content_hash_ = full_hash(fill);
}

Chunk::Chunk(const Chunk& other)
    : forms_(other.forms_),
      solid_(other.solid_),
      own_solid_(other.own_solid_ ? std::make_unique<SolidColumns>(*other.own_solid_) : nullptr),
      parts_(other.parts_ ? std::make_unique<SolidColumns>(*other.parts_) : nullptr),
      content_hash_(other.content_hash_),
      kinds_(other.kinds_),
      blocks_(other.blocks_) {
  if (own_solid_) solid_ = own_solid_.get();
}

Chunk::Chunk(std::span<const BlockId> blocks) : blocks_(blocks) {
  for (const BlockId id : blocks) note_kind(id);
  if (kind_count() == 1)
    content_hash_ = full_hash(blocks.front());
  else
    for (std::size_t i = 0; i < chunk_blocks; ++i) content_hash_ += block_hash(i, blocks[i]);
  mark_all();
}

std::size_t Chunk::kind_count() const {
  int count = 0;
  for (const std::uint64_t word : kinds_) count += std::popcount(word);
  return static_cast<std::size_t>(count);
}

void Chunk::set_forms(const BlockRegistry::Forms& forms) {
  const BlockRegistry::Forms& before = *forms_;
  forms_ = &forms;
  if (&forms == &before) return;
  for (std::size_t number = 0; number < block_kinds_max; ++number)
    if (may_hold(static_cast<BlockId>(number)) && forms[number] != before[number]) return mark_all();
}

/// Makes all bits anew.
void Chunk::mark_all() {
  bool passable = false, solid = false, part = false;
  for (std::size_t number = 0; number < block_kinds_max; ++number) {
    if (!may_hold(static_cast<BlockId>(number))) continue;
    const BlockForm form = (*forms_)[number];
    passable = passable || form == BlockForm::passable;
    solid = solid || form != BlockForm::passable;
    part = part || form == BlockForm::part;
  }
  own_solid_ = passable && solid ? std::make_unique<SolidColumns>() : nullptr;
  parts_ = part ? std::make_unique<SolidColumns>() : nullptr;
  solid_ = own_solid_ ? own_solid_.get() : uniform_solid(solid);
  if (!own_solid_ && !parts_) return;
  std::vector<BlockId> all(chunk_blocks);
  copy_blocks(all);
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    const BlockForm form = (*forms_)[static_cast<std::size_t>(all[i])];
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
         blocks_.heap_bytes();
}

BlockId Chunk::block(IVec3 local) const {
  ASHLAR_ASSERT_SLOW(in_chunk(local));
  return blocks_.get(local);
}

void Chunk::set_block(IVec3 local, BlockId id) {
  ASHLAR_ASSERT(in_chunk(local));
  ASHLAR_ASSERT(static_cast<std::uint16_t>(id) < block_kinds_max);
  const BlockId old = blocks_.get(local);
  if (old == id) return;
  blocks_.set(local, id);
  note_kind(id);
  const std::size_t index = index_in_chunk(local);
  content_hash_ += block_hash(index, id) - block_hash(index, old);
  const BlockForm was = (*forms_)[static_cast<std::size_t>(old)],
                  is = (*forms_)[static_cast<std::size_t>(id)];
  if (was != is) mark(index, was, is);
}

}  // namespace ashlar
