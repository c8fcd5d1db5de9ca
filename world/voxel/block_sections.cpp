#include "world/voxel/block_sections.h"

#include <algorithm>
#include <utility>

#include "world/math/assert.h"

namespace ashlar {
namespace {

/// Bits that a section of so many kinds takes.
unsigned bits_for(std::size_t kinds) {
  return kinds <= 1 ? 0 : kinds <= 2 ? 1 : kinds <= 4 ? 2 : kinds <= 16 ? 4 : 8;
}

}  // namespace

BlockSections::BlockSections(BlockId fill) {
  ASHLAR_ASSERT(static_cast<std::uint16_t>(fill) < block_kinds_max);
  sections_.fill({0, static_cast<std::uint8_t>(fill), 0});
}

BlockSections::BlockSections(std::span<const BlockId> blocks) {
  ASHLAR_ASSERT(blocks.size() == chunk_blocks);
  std::array<std::array<std::uint8_t, 256>, 64> kinds;  // of each section, in the order in which they occur
  std::array<std::uint16_t, 64> counts{};
  std::size_t needed = 0;
  const auto visit = [&](std::size_t number, auto&& block) {
    const IVec3 low{static_cast<std::int32_t>(number >> 2 & 3) * side,
                    static_cast<std::int32_t>(number >> 4) * side,
                    static_cast<std::int32_t>(number & 3) * side};
    for (std::int32_t y = 0; y < side; ++y)
      for (std::int32_t x = 0; x < side; ++x) {
        const BlockId* const column = &blocks[index_in_chunk(low + IVec3{x, y, 0})];
        for (std::int32_t z = 0; z < side; ++z) block(index_in_section({x, y, z}), column[z]);
      }
  };
  for (std::size_t number = 0; number < sections_.size(); ++number) {
    std::uint8_t last = 0;
    visit(number, [&](std::size_t, BlockId id) {
      ASHLAR_ASSERT(static_cast<std::uint16_t>(id) < block_kinds_max);
      const auto kind = static_cast<std::uint8_t>(id);
      if (counts[number] != 0 && kind == last) return;
      last = kind;
      const auto known = std::span(kinds[number]).first(counts[number]);
      if (std::ranges::find(known, kind) == known.end()) kinds[number][counts[number]++] = kind;
    });
    needed += words(bits_for(counts[number]));
  }
  pool_.reserve(needed);
  for (std::size_t number = 0; number < sections_.size(); ++number) {
    Section& section = sections_[number];
    const std::uint16_t count = counts[number];
    section = take_room(bits_for(count));
    if (section.bits == 0) {
      section.kinds = kinds[number][0];
      continue;
    }
    section.kinds = section.bits == 8 ? std::uint8_t{0} : static_cast<std::uint8_t>(count - 1);
    std::array<std::uint8_t, 256> place{};
    for (std::uint16_t i = 0; i < count; ++i) {
      place[kinds[number][i]] = section.bits == 8 ? kinds[number][i] : static_cast<std::uint8_t>(i);
      if (section.bits != 8) put_kind(section, i, kinds[number][i]);
    }
    visit(number, [&](std::size_t index, BlockId id) {
      put_place(section, index, place[static_cast<std::uint8_t>(id)]);
    });
  }
}

void BlockSections::put_place(const Section& section, std::size_t index, std::size_t place) {
  const std::size_t bit = index * section.bits;
  const std::uint64_t mask = ((std::uint64_t{1} << section.bits) - 1) << (bit % 64);
  std::uint64_t& word = pool_[section.at + palette_words(section.bits) + bit / 64];
  word = (word & ~mask) | static_cast<std::uint64_t>(place) << (bit % 64);
}

void BlockSections::put_kind(const Section& section, std::size_t place, std::uint8_t kind) {
  std::uint64_t& word = pool_[section.at + place / 8];
  const std::size_t shift = place % 8 * 8;
  word = (word & ~(std::uint64_t{0xff} << shift)) | std::uint64_t{kind} << shift;
}

/// Zeros at the pool's end.
BlockSections::Section BlockSections::take_room(unsigned bits) {
  if (bits == 0) return {};
  const std::size_t at = pool_.size();
  // Grown by an eighth, not twofold: chunks are many, and most of them hardly change.
  if (at + words(bits) > pool_.capacity()) pool_.reserve(at + std::max(words(bits), at / 8));
  pool_.resize(at + words(bits), 0);
  ASHLAR_ASSERT(at <= 0xffff);
  return {static_cast<std::uint8_t>(bits), 0, static_cast<std::uint16_t>(at)};
}

/// Room for more kinds: what it holds moves to the pool's end.
void BlockSections::widen(Section& section) {
  const Section old = section;
  const unsigned bits = old.bits == 0 ? 1 : old.bits * 2u;
  Section wider = take_room(bits);
  wider.kinds = bits == 8 || old.bits == 0 ? std::uint8_t{0} : old.kinds;
  if (old.bits == 0)
    put_kind(wider, 0, old.kinds);
  else if (bits != 8)
    for (std::size_t place = 0; place <= old.kinds; ++place) put_kind(wider, place, kind_in(old, place));
  for (std::size_t index = 0; old.bits != 0 && index < section_blocks; ++index) {
    const std::size_t place = place_in(old, index);
    put_place(wider, index, bits == 8 ? kind_in(old, place) : place);
  }
  garbage_ += static_cast<std::uint32_t>(words(old.bits));
  section = wider;
}

/// More than a quarter of the pool is nobody's: it is made anew.
void BlockSections::drop_garbage() {
  if (garbage_ * 4 <= pool_.size()) return;
  std::vector<std::uint64_t> whole;
  whole.reserve(pool_.size() - garbage_);
  for (Section& section : sections_) {
    const auto from = pool_.begin() + section.at;
    section.at = static_cast<std::uint16_t>(whole.size());
    whole.insert(whole.end(), from, from + static_cast<std::ptrdiff_t>(words(section.bits)));
  }
  pool_ = std::move(whole);
  garbage_ = 0;
}

void BlockSections::set(IVec3 local, BlockId id) {
  Section& section = sections_[section_of(local)];
  const auto kind = static_cast<std::uint8_t>(id);
  if (section.bits == 0 && section.kinds == kind) return;
  const std::size_t index = index_in_section(local);
  if (section.bits == 8) return put_place(section, index, kind);
  const std::size_t count = section.kinds + std::size_t{1};
  std::size_t place = 0;
  while (section.bits != 0 && place < count && kind_in(section, place) != kind) ++place;
  if (section.bits != 0 && place < count) return put_place(section, index, place);
  if (section.bits == 0 || count == std::size_t{1} << section.bits) {
    widen(section);
    if (section.bits == 8) {
      put_place(section, index, kind);
      return drop_garbage();
    }
  }
  ++section.kinds;
  put_kind(section, section.kinds, kind);
  put_place(section, index, section.kinds);
  drop_garbage();
}

void BlockSections::copy_to(std::span<BlockId> out) const {
  ASHLAR_ASSERT(out.size() == chunk_blocks);
  for (std::size_t number = 0; number < sections_.size(); ++number) {
    const Section& section = sections_[number];
    const IVec3 low{static_cast<std::int32_t>(number >> 2 & 3) * side,
                    static_cast<std::int32_t>(number >> 4) * side,
                    static_cast<std::int32_t>(number & 3) * side};
    for (std::int32_t y = 0; y < side; ++y)
      for (std::int32_t x = 0; x < side; ++x) {
        BlockId* const column = &out[index_in_chunk(low + IVec3{x, y, 0})];
        if (section.bits == 0) {
          std::fill_n(column, side, static_cast<BlockId>(section.kinds));
          continue;
        }
        for (std::int32_t z = 0; z < side; ++z) column[z] = block_in(section, index_in_section({x, y, z}));
      }
  }
}

}  // namespace ashlar
