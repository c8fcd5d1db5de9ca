#include "world/sim/block_contents.h"

#include <algorithm>
#include <bit>

#include "world/math/assert.h"

namespace ashlar {
namespace {

static_assert(block_slots_max == inventory_slots, "a chest's items are an Inventory");

/// Of the room that the world has left, the part that an area may have. With a smaller one those who keep
/// much in one place would meet it; with this the sixteenth area that is filled leaves 38 %, the 64th 2 %.
constexpr std::size_t area_share = 16;

std::uint64_t hash_of(IVec3 block, const BlockData& data) {
  Hasher hasher;
  hasher.add(block);
  for (std::size_t i = 0; i < inventory_slots; ++i) {
    const ItemStack& slot = data.items.slots[i];
    if (!slot.empty())
      hasher.add(static_cast<std::uint64_t>(i) << 32 | static_cast<std::uint64_t>(slot.kind) << 16 |
                 slot.count);
  }
  hasher.add(static_cast<std::uint64_t>(data.text.size));
  if (data.due != 0) hasher.add(data.due);
  for (const char c : data.text.view()) hasher.add(static_cast<std::uint64_t>(static_cast<std::uint8_t>(c)));
  return hasher.value();
}

}  // namespace

SignText SignText::of(std::string_view text) {
  ASHLAR_ASSERT(text.size() <= sign_text_bytes_max);
  SignText out;
  std::ranges::copy(text, out.bytes.begin());
  out.size = static_cast<std::uint8_t>(text.size());
  return out;
}

bool fits(const BlockType& type, const BlockData& data) {
  if (!data.text.empty() && !type.text) return false;
  if (data.due != 0 && !(type.timer_s > 0)) return false;
  const auto beyond = std::span(data.items.slots).subspan(type.slots);
  return std::ranges::all_of(beyond, [](const ItemStack& slot) { return slot.empty(); });
}

void BlockContents::restore(std::span<const PlacedData> all) {
  for (const PlacedData& one : all)
    if (fits_world(one.block)) replace(one.block, one.data);
}

const BlockData* BlockContents::find(IVec3 block) const {
  const auto at = entries_.find(block);
  return at == entries_.end() ? nullptr : &at->second.data;
}

BlockContents::Area BlockContents::area_of(IVec3 block) {
  constexpr int bits = std::countr_zero(static_cast<unsigned>(area_m));
  static_assert(1 << bits == area_m);
  return {block.x >> bits, block.y >> bits};
}

bool BlockContents::has_room(IVec3 block) const {
  const auto area = in_area_.find(area_of(block));
  const std::size_t here = area == in_area_.end() ? 0 : area->second;
  return area_share * here < entries_max - entries_.size() || find(block) != nullptr;
}

void BlockContents::replace(IVec3 block, const BlockData& data) {
  const auto at = entries_.find(block);
  const bool known = at != entries_.end();
  if (known) {
    items_ -= at->second.data.items.count();
    hash_ -= at->second.hash;
    if (data.empty()) {
      const auto area = in_area_.find(area_of(block));
      if (--area->second == 0) in_area_.erase(area);
      entries_.erase(at);
    }
  }
  if (data.empty()) return;
  ASHLAR_ASSERT(sane(data.items));
  if (!known) ++in_area_[area_of(block)];
  const std::uint64_t hash = hash_of(block, data);
  entries_[block] = {data, hash};
  items_ += data.items.count();
  hash_ += hash;
}

void BlockContents::set(IVec3 block, BlockId kind, const BlockData& data, EntityId who) {
  ASHLAR_ASSERT(fits_world(block));
  const BlockData* const known = find(block);
  const BlockData before = known != nullptr ? *known : BlockData{};
  if (before == data) return;
  replace(block, data);
  applied_.push_back({block, kind, who, before, data, blocks_changed_});
}

void BlockContents::spill(IVec3 block, BlockId kind, EntityId who) {
  const BlockData* const known = find(block);
  if (known == nullptr) return;
  const BlockData held = *known;
  replace(block, {});
  applied_.push_back({block, kind, who, held, {}, blocks_changed_});
  if (!held.items.empty()) spilled_.push_back({block, held});
}

void BlockContents::add_to_hash(StripeHasher& hash) const {
  if (entries_.empty()) return;
  hash.add(static_cast<std::uint64_t>(entries_.size()));
  hash.add(hash_);
}

}  // namespace ashlar
