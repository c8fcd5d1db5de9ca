#include "world/sim/inventory.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar {

std::uint16_t add_items(std::span<ItemStack> slots, ItemStack items) {
  ASHLAR_ASSERT(items.kind != BlockId::air || items.count == 0);
  for (const bool fresh : {false, true})
    for (ItemStack& slot : slots) {
      if (items.count == 0) return 0;
      if (fresh ? !slot.empty() : slot.kind != items.kind || slot.empty()) continue;
      const auto room = static_cast<std::uint16_t>(stack_items_max - slot.count);
      const std::uint16_t moved = std::min(room, items.count);
      if (moved == 0) continue;
      slot = {items.kind, static_cast<std::uint16_t>(slot.count + moved)};
      items.count = static_cast<std::uint16_t>(items.count - moved);
    }
  return items.count;
}

std::uint16_t take_items(std::span<ItemStack> slots, BlockId kind, std::uint16_t wanted) {
  std::uint16_t taken = 0;
  for (auto slot = slots.rbegin(); slot != slots.rend() && taken < wanted; ++slot) {
    if (slot->empty() || slot->kind != kind) continue;
    const std::uint16_t moved = std::min(slot->count, static_cast<std::uint16_t>(wanted - taken));
    slot->count = static_cast<std::uint16_t>(slot->count - moved);
    taken = static_cast<std::uint16_t>(taken + moved);
    if (slot->empty()) *slot = ItemStack{};
  }
  return taken;
}

std::uint32_t Inventory::count(BlockId kind) const {
  std::uint32_t sum = 0;
  for (const ItemStack& slot : slots)
    if (slot.kind == kind) sum += slot.count;
  return sum;
}

std::uint32_t Inventory::count() const {
  std::uint32_t sum = 0;
  for (const ItemStack& slot : slots) sum += slot.count;
  return sum;
}

Tools tools_of(const Inventory& inventory, const BlockRegistry& kinds) {
  Tools tools = no_tools;
  for (const ItemStack& slot : inventory.slots)
    if (!slot.empty() && kinds.knows(slot.kind)) tools |= bit_of(kinds.type(slot.kind).tool);
  return tools;
}

bool sane(const Inventory& inventory) {
  return std::ranges::all_of(inventory.slots, [](const ItemStack& slot) {
    if (slot.empty()) return slot.kind == BlockId::air;
    return slot.count <= stack_items_max && slot.kind != BlockId::air &&
           static_cast<std::uint16_t>(slot.kind) < block_kinds_max;
  });
}

void add_to_hash(StripeHasher& hash, const Inventory& inventory) {
  for (std::size_t i = 0; i < inventory.slots.size(); ++i) {
    const ItemStack& slot = inventory.slots[i];
    if (slot.empty()) continue;
    hash.add(static_cast<std::uint64_t>(i) << 32 | static_cast<std::uint64_t>(slot.kind) << 16 | slot.count);
  }
}

}  // namespace ashlar
