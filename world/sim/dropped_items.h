#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "world/collide/space.h"
#include "world/math/shapes.h"
#include "world/sim/inventory.h"
#include "world/sim/item_table.h"
#include "world/sim/player_grid.h"
#include "world/sim/rules.h"
#include "world/sim/tables.h"

namespace ashlar {

/// What one tick of the items that lie in a world reads and writes.
struct DroppedItemsTick {
  Space space;
  const Rules& rules;
  PlayerTable& players;
  const PlayerGrid& near;  ///< those who can touch something, where they were earlier in this tick
  std::uint32_t tick = 0;
};

/// Totals of items since the world began. What came in is what is there and what went:
/// dug + brought == held + lying + in chests + placed + gone + taken_away. Not part of the world's hash.
struct ItemCounters {
  std::uint64_t dug = 0;         ///< left behind by blocks that players dug
  std::uint64_t brought = 0;     ///< held by players who joined, lying or in chests when the world began,
                                 ///< and given by operators
  std::uint64_t placed = 0;      ///< became blocks
  std::uint64_t gone = 0;        ///< lay too long, or longest where there was no more room
  std::uint64_t taken_away = 0;  ///< held by players who left
  std::uint64_t picked_up = 0;   ///< from the ground into inventories, however often
};

/// Items that lie in the world: they fall, rest, are pushed out of what is put over them, and whoever touches
/// them with room in the inventory picks them up. Part of the world's state and hash. Nothing allocates after
/// construction.
class DroppedItems {
 public:
  DroppedItems() = default;
  /// @param slot  of the first row's ids
  DroppedItems(std::size_t rows, std::uint32_t slot) { table_.resize(rows, slot); }

  static constexpr Cylinder shape{0.125, 0.25};
  static constexpr double touch_m = 0.75;  ///< from a player's axis, and below its feet
  static constexpr double throw_mps = 4;
  static constexpr double thrown_untouched_s = 1;  ///< whoever threw it is not to have it back at once
  static constexpr double merge_m = 1;             ///< stacks of a kind that lie so near become one

  /// A stack that somebody or something leaves in the world. Onto a stack of its kind that lies near, where
  /// that has room. Where no row is free the stack that has lain longest is gone.
  /// @param at  centre of the base; in solid it is pushed out to the nearest free place
  void drop(ItemStack stack, DVec3 at, DVec3 velocity_mps, std::uint16_t untouched_ticks);
  /// What lay in the world when it ended, at its start. Kinds that it does not know lie there as well.
  void restore(std::span<const LyingItem> items);

  /// Moves and ages all of them, then gives those that are touched to the nearest player with room, each
  /// row every fourth tick. Cost: 20 ns for each that rests, some 200 for each that falls.
  void step(const DroppedItemsTick& tick);

  const ItemTable& table() const { return table_; }           ///< what lies in the world
  const ItemCounters& counters() const { return counters_; }  ///< the books
  ItemCounters& counters() { return counters_; }              ///< for who makes or uses items up
  /// Rises whenever what lies in the world, or where it rests, is other than before.
  std::uint64_t revision() const { return revision_; }
  void add_to_hash(StripeHasher& hash) const { table_.add_to_hash(hash); }

 private:
  void move(const DroppedItemsTick& tick, std::size_t row);
  void push_out(const DroppedItemsTick& tick, std::size_t row);
  void give_to_toucher(const DroppedItemsTick& tick, std::size_t row);
  void lay_onto_neighbour(ItemStack& stack, DVec3 at, std::uint16_t untouched_ticks);
  std::size_t oldest() const;
  void come_to_rest(std::size_t row) { table_.rests[row] = 1, table_.velocity_mps[row] = {}, ++revision_; }

  ItemTable table_;
  ItemCounters counters_;
  std::uint64_t revision_ = 0;
};

}  // namespace ashlar
