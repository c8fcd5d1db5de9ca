#include "protocol/block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "world/math/assert.h"

namespace ashlar {
namespace {

// Blocks are read and written as they lie in memory.
static_assert(std::endian::native == std::endian::little, "the wire is little endian");
static_assert(sizeof(CellHeader) % alignof(EntityRecord) == 0 && alignof(CellHeader) == 4);

// The world's bounds in cells, both ends included: a position that rounds up to the bound itself has a cell.
constexpr int cells_across_max = (1 << 20) / cell_m;
constexpr int cells_up_max = (1 << 12) / cell_m;

bool record_sane(const EntityRecord& e) {
  return e.id != EntityId{} && e.x < cell_steps && e.y < cell_steps && e.z < cell_steps && e.pitch >= -64 &&
         e.pitch <= 64;
}

bool block_sane(const CellBlock& block) {
  if (!cell_in_world(block.cell) || block.first > block.last) return false;
  if (block.entities.empty()) return true;
  if (!std::ranges::all_of(block.entities, record_sane)) return false;
  if (block.entities.front().id < block.first || block.entities.back().id > block.last) return false;
  for (std::size_t i = 1; i < block.entities.size(); ++i)
    if (block.entities[i - 1].id >= block.entities[i].id) return false;
  return true;
}

CellHeader header_at(const std::uint8_t* at) {
  CellHeader header;
  std::memcpy(&header, at, sizeof header);
  return header;
}

}  // namespace

bool cell_in_world(CellCoord c) {
  const auto within = [](int v, int bound) { return v >= -bound && v <= bound; };
  return within(c.x, cells_across_max) && within(c.y, cells_across_max) && within(c.z, cells_up_max);
}

CellBlock CellBlock::below(EntityId id) const {
  ASHLAR_ASSERT(first < id && id <= last);
  const auto end = std::ranges::lower_bound(entities, id, {}, &EntityRecord::id);
  return {cell, {entities.begin(), end}, first, EntityId{static_cast<std::uint32_t>(id) - 1}, {}};
}

CellBlock CellBlock::from(EntityId id) const {
  ASHLAR_ASSERT(first < id && id <= last);
  const auto begin = std::ranges::lower_bound(entities, id, {}, &EntityRecord::id);
  return {cell, {begin, entities.end()}, id, last, {}};
}

void BlockArena::reserve(std::size_t bytes) {
  ASHLAR_ASSERT(!open_);
  if (bytes_.size() < used_ + bytes) bytes_.resize(used_ + bytes);
}

void BlockArena::open(CellCoord cell, EntityId first, EntityId last) {
  ASHLAR_ASSERT(!open_);
  ASHLAR_ASSERT(used_ + sizeof(CellHeader) <= bytes_.size());
  open_ = true;
  open_at_ = used_;
  header_ = {cell, 0, first, last};
  used_ += sizeof(CellHeader);
}

void BlockArena::add(const EntityRecord& record) {
  ASHLAR_ASSERT(open_);
  ASHLAR_ASSERT(used_ + sizeof record <= bytes_.size());
  std::memcpy(bytes_.data() + used_, &record, sizeof record);
  used_ += sizeof record;
  ++header_.entity_count;
}

CellBlock BlockArena::close() {
  ASHLAR_ASSERT(open_);
  open_ = false;
  std::memcpy(bytes_.data() + open_at_, &header_, sizeof header_);
  return *BlockList::Iterator(bytes_.data() + open_at_);
}

void BlockArena::discard() {
  ASHLAR_ASSERT(open_);
  open_ = false;
  used_ = open_at_;
}

CellBlock BlockList::Iterator::operator*() const {
  const CellHeader header = header_at(at_);
  const std::uint8_t* entities = at_ + sizeof header;
  return {header.cell,
          {reinterpret_cast<const EntityRecord*>(entities), header.entity_count},
          header.first,
          header.last,
          {at_, block_bytes(header.entity_count)}};
}

BlockList::Iterator& BlockList::Iterator::operator++() {
  at_ += block_bytes(header_at(at_).entity_count);
  return *this;
}

std::optional<BlockList> BlockList::checked(std::span<const std::uint8_t> bytes) {
  if (reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(EntityRecord) != 0) return std::nullopt;
  for (std::span<const std::uint8_t> rest = bytes; !rest.empty();) {
    if (rest.size() < sizeof(CellHeader)) return std::nullopt;
    if (rest.size() < block_bytes(header_at(rest.data()).entity_count)) return std::nullopt;
    const CellBlock block = *Iterator(rest.data());
    if (!block_sane(block)) return std::nullopt;
    rest = rest.subspan(block.coded.size());
  }
  return BlockList(bytes);
}

}  // namespace ashlar
