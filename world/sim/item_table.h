#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "world/math/hash.h"
#include "world/math/vec.h"
#include "world/sim/inventory.h"
#include "world/sim/kinds.h"

namespace ashlar {

/// Room for stacks of items that lie in a world. Where it is full the one that has lain longest gives way.
inline constexpr std::uint32_t items_max = 1024;

/// A stack that lies in the world, as it outlives a run.
struct LyingItem {
  ItemStack stack;
  DVec3 position_m;             ///< centre of its base
  std::uint32_t age_ticks = 0;  ///< that it has lain
};

/// Stacks of items in the world, in rows as players are; row i has the slot first_slot + i in its id. Free
/// rows have id 0. Nothing allocates after construction.
struct ItemTable {
  std::vector<EntityId> id;
  std::vector<std::uint32_t> generation;
  std::vector<ItemStack> stack;   ///< never empty where there is an id
  std::vector<DVec3> position_m;  ///< centre of the base
  std::vector<DVec3> velocity_mps;
  std::vector<DVec3> last_free_m;              ///< last place known to be free
  std::vector<std::uint32_t> age_ticks;        ///< since it was dropped, or another was laid onto it
  std::vector<std::uint16_t> untouched_ticks;  ///< until it can be picked up
  std::vector<std::uint8_t> rests;             ///< 0 or 1: lies still
  std::uint32_t first_slot = 0;
  std::uint32_t count = 0;  ///< rows that are taken

  std::size_t rows() const { return id.size(); }
  /// All rows, free, with ids from that slot on. Call once.
  void resize(std::size_t rows, std::uint32_t slot);
  /// Takes a free row and gives it an id; rows(): none is free.
  std::size_t take();
  void free(std::size_t row);
  /// Adds nothing while no row was ever taken.
  void add_to_hash(StripeHasher& hash) const;

 private:
  std::size_t next_ = 0;  // where the search for a free row begins: below it none is
  bool used_ = false;
};

}  // namespace ashlar
