#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "world/math/hash.h"
#include "world/voxel/block.h"
#include "world/voxel/block_registry.h"

namespace ashlar {

/// Some items of one kind: what is dug drops items, and placing a block takes one of its kind.
struct ItemStack {
  BlockId kind = BlockId::air;
  std::uint16_t count = 0;

  bool empty() const { return count == 0; }  ///< nothing, of whatever kind
  friend bool operator==(const ItemStack&, const ItemStack&) = default;
};

inline constexpr std::size_t inventory_slots = 36;
inline constexpr std::uint16_t stack_items_max = 64;

/// Puts items into slots: onto stacks of their kind first, then into the first empty ones.
/// @return how many found no room
std::uint16_t add_items(std::span<ItemStack> slots, ItemStack items);
/// Takes up to `count` items of a kind, out of the last slots first. @return how many there were
std::uint16_t take_items(std::span<ItemStack> slots, BlockId kind, std::uint16_t count);

/// What a player holds, in slots: each is empty or has a stack of 1 to stack_items_max. Empty slots are
/// ItemStack{}, so that equal inventories compare equal.
struct Inventory {
  std::array<ItemStack, inventory_slots> slots{};

  std::uint16_t add(ItemStack items) { return add_items(slots, items); }  ///< as add_items()
  /// As take_items().
  std::uint16_t take(BlockId kind, std::uint16_t wanted) { return take_items(slots, kind, wanted); }
  std::uint32_t count(BlockId kind) const;  ///< items of a kind
  std::uint32_t count() const;              ///< items of all kinds
  bool empty() const { return *this == Inventory{}; }

  friend bool operator==(const Inventory&, const Inventory&) = default;
};

/// Is it one that a world can have: every slot as an Inventory says, kinds below block_kinds_max, no air?
bool sane(const Inventory& inventory);

/// The hand, and what of it is a tool.
Tools tools_of(const Inventory& inventory, const BlockRegistry& kinds);

/// Adds nothing for an empty one: worlds without items hash as if there were none.
void add_to_hash(StripeHasher& hash, const Inventory& inventory);

}  // namespace ashlar
