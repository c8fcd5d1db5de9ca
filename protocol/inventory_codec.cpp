#include "protocol/inventory_codec.h"

#include "protocol/text.h"
#include "world/math/assert.h"
#include "world/sim/rules.h"

namespace ashlar {
namespace {

constexpr std::uint8_t items_version = 1, block_data_version = 1, timed_data_version = 2;

void put_stack(ByteWriter& out, ItemStack stack) {
  out.u16(static_cast<std::uint16_t>(stack.kind));
  out.u8(static_cast<std::uint8_t>(stack.count));
}

/// A stack as it can be, not an empty one.
bool get_stack(ByteReader& in, ItemStack& out) {
  const std::uint16_t kind = in.u16();
  out = {static_cast<BlockId>(kind), in.u8()};
  return in.ok() && kind != 0 && kind < block_kinds_max && out.count >= 1 && out.count <= stack_items_max;
}

}  // namespace

void put_inventory(ByteWriter& out, const Inventory& inventory) {
  ASHLAR_ASSERT(sane(inventory));
  std::uint8_t taken = 0;
  for (const ItemStack& slot : inventory.slots) taken = static_cast<std::uint8_t>(taken + !slot.empty());
  out.u8(taken);
  for (std::size_t i = 0; i < inventory.slots.size(); ++i) {
    if (inventory.slots[i].empty()) continue;
    out.u8(static_cast<std::uint8_t>(i));
    put_stack(out, inventory.slots[i]);
  }
}

bool get_inventory(ByteReader& in, Inventory& out) {
  out = Inventory{};
  int before = -1;
  for (std::uint8_t left = in.u8(); left > 0; --left) {
    const int slot = in.u8();
    if (slot <= before || slot >= static_cast<int>(inventory_slots)) return false;
    if (!get_stack(in, out.slots[static_cast<std::size_t>(slot)])) return false;
    before = slot;
  }
  return in.ok();
}

void put_block_data(ByteWriter& out, const BlockData& data) {
  put_inventory(out, data.items);
  out.u8(data.text.size);
  for (const char c : data.text.view()) out.u8(static_cast<std::uint8_t>(c));
}

bool get_block_data(ByteReader& in, BlockData& out) {
  out.due = 0;
  if (!get_inventory(in, out.items)) return false;
  const std::size_t size = in.u8();
  if (!in.ok() || size > sign_text_bytes_max) return false;
  out.text = {};
  out.text.size = static_cast<std::uint8_t>(size);
  for (std::size_t i = 0; i < size; ++i) out.text.bytes[i] = static_cast<char>(in.u8());
  return in.ok() && valid_text(out.text.view(), 0, sign_text_bytes_max);
}

std::vector<std::uint8_t> encode_block_data(const BlockData& data) {
  std::vector<std::uint8_t> bytes;
  ByteWriter out(bytes);
  out.u8(data.due == 0 ? block_data_version : timed_data_version);
  put_block_data(out, data);
  if (data.due != 0) out.varint(data.due);
  return bytes;
}

std::optional<BlockData> decode_block_data(std::span<const std::uint8_t> bytes) {
  ByteReader in(bytes);
  BlockData data;
  const std::uint8_t version = in.u8();
  if ((version != block_data_version && version != timed_data_version) || !get_block_data(in, data))
    return std::nullopt;
  if (version == timed_data_version) data.due = in.varint();
  const bool timed = version == timed_data_version;
  if (!in.ok() || !in.at_end() || timed != (data.due != 0) || data.due > life_ticks_max) return std::nullopt;
  return data;
}

std::vector<std::uint8_t> encode_items(std::span<const LyingItem> items) {
  ASHLAR_ASSERT(items.size() <= items_max);
  std::vector<std::uint8_t> bytes;
  ByteWriter out(bytes);
  out.u8(items_version);
  out.varint(items.size());
  for (const LyingItem& item : items) {
    out.f64(item.position_m.x), out.f64(item.position_m.y), out.f64(item.position_m.z);
    out.u32(item.age_ticks);
    put_stack(out, item.stack);
  }
  ASHLAR_ASSERT(bytes.size() <= items_bytes_max);
  return bytes;
}

const char* describe(ItemsError error) {
  switch (error) {
    case ItemsError::wrong_version: return "its list of items is of another version";
    case ItemsError::damaged: return "its list of items makes no sense";
  }
  return "unknown";
}

std::expected<std::vector<LyingItem>, ItemsError> decode_items(std::span<const std::uint8_t> bytes) {
  ByteReader in(bytes);
  if (in.u8() != items_version) return std::unexpected{ItemsError::wrong_version};
  const std::uint64_t count = in.varint();
  if (!in.ok() || count > items_max) return std::unexpected{ItemsError::damaged};
  std::vector<LyingItem> items(static_cast<std::size_t>(count));
  for (LyingItem& item : items) {
    item.position_m.x = in.f64();
    item.position_m.y = in.f64();
    item.position_m.z = in.f64();
    item.age_ticks = in.u32();
    if (!get_stack(in, item.stack) || !in_bounds(item.position_m))
      return std::unexpected{ItemsError::damaged};
  }
  if (!in.ok() || !in.at_end()) return std::unexpected{ItemsError::damaged};
  return items;
}

}  // namespace ashlar
