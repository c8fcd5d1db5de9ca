#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "world/collide/space.h"
#include "world/math/hash.h"
#include "world/sim/kinds.h"
#include "world/sim/rules.h"
#include "world/sim/tables.h"
#include "world/sim/thing_table.h"

namespace ashlar {

struct FallenMonster;
struct WorldSetup;

/// What lies about to be picked up, by index: the numbers of maps' things. The index travels
/// (item_entity_kind): append only.
inline constexpr std::array<std::uint16_t, 36> item_things{
    5,    6,    8,    13,   17,   38,   39,   40,   82,   83,   2001, 2002,
    2003, 2004, 2005, 2006, 2007, 2008, 2010, 2011, 2012, 2013, 2014, 2015,
    2018, 2019, 2022, 2023, 2024, 2025, 2026, 2045, 2046, 2047, 2048, 2049};
inline constexpr std::size_t item_kind_count = item_things.size();
static_assert(192 + item_kind_count <= static_cast<std::size_t>(EntityKind::item),
              "kinds of entities are told apart");
inline constexpr std::uint8_t item_none = 255;

/// Index of a thing's number; item_none: it is nothing to be picked up.
std::uint8_t item_of_thing(std::uint16_t number);
/// What it is. Precondition: below item_kind_count.
const ThingType& item_type(std::uint8_t item);

/// Of snapshots: items are 192 + their index.
constexpr EntityKind item_entity_kind(std::uint8_t item) {
  return static_cast<EntityKind>(192 + static_cast<unsigned>(item));
}

/// The room that an item takes: what has to be free of walls.
inline constexpr Cylinder item_shape{0.25, 0.4};
inline constexpr std::uint32_t drops_max = 256;  ///< of monsters that died, at once; more are not left
inline constexpr double drop_life_s = 60;

/// Items that lie about: those of the maps, in their order, then room for what the dead leave. Free rows have
/// id 0. Row i has the slot first_slot + i in its id.
struct PickupTable {
  std::vector<EntityId> id;
  std::vector<std::uint32_t> generation;
  std::vector<std::uint8_t> item;  ///< index into item_things
  std::vector<DVec3> position_m;   ///< on the ground
  std::vector<std::uint8_t> map;   ///< on whose floors it lies, by index; 255: none
  /// Of a free row: until it is back. Of one that was dropped: until it goes. 0: never.
  std::vector<std::uint32_t> left_ticks;
  std::size_t dropped_from = 0;  ///< rows from here on are for what the dead leave
  std::uint32_t first_slot = 0;

  std::size_t rows() const { return id.size(); }  ///< free ones included
};

/// Somebody picked something up in the last tick.
struct PickupEvent {
  EntityId player{};
  std::uint8_t item = 0;
  DVec3 position_m;
  friend bool operator==(const PickupEvent&, const PickupEvent&) = default;
};

/// Gives somebody an item, as far as it has a use for it. Doom's rules: P_TouchSpecialThing.
/// @param dropped  by a monster: half of its ammunition
/// @return false: it has no use, and the item stays
bool give_item(const KindSet& kinds, const Rules& rules, std::uint8_t item, bool dropped,
               PlayerTable& players, std::size_t row);

/// Gives a weapon with two clips of its ammunition, and has it taken up where it is new.
/// @param dropped  one clip  @return false: it is carried and there is no room for more, or there is none
bool give_weapon(const KindSet& kinds, const Rules& rules, std::uint8_t weapon, bool dropped,
                 Arsenal& arsenal);

/// What pickups of one tick read and write.
struct PickupsTick {
  Space space;
  const Rules& rules;
  const KindSet& kinds;
  PlayerTable& players;
  std::uint32_t tick = 0;
};

/// Health, armour, ammunition, weapons and powers that lie about. Whoever comes so near that Doom's boxes
/// touch takes what it has a use for; it is back after Rules::item_respawn_s. Keys lie there for everybody
/// (Mechanics gives them). Part of the world's state and hash. Nothing allocates after construction.
class Pickups {
 public:
  Pickups() = default;
  /// The items of a setup's maps that are there at its skill; those that would lie in a solid at the nearest
  /// free place, or not at all.
  Pickups(const WorldSetup& setup, const Space& space);

  /// Floors move, or have just come to rest: what lies on them goes along, within a quarter of a second.
  /// Nobody has to be there.
  void note_motion(const Rules& rules) {
    if (items_.dropped_from > 0 || dropped_ > 0) follow_left_ = follow_ticks(rules);
  }
  bool follows() const { return follow_left_ > 0; }  ///< some have not looked yet since
  /// Those back whose time has come, then takes, in the order of players' rows. Cost: 30 ns a player, 2 ns an
  /// item near it and a row of items.
  void advance(PickupsTick& tick);
  /// Monsters that died in this tick leave what their kind does.
  void drop(PickupsTick& tick, std::span<const FallenMonster> dead);
  /// What lies in a row is gone, and one of the maps' is back after so many ticks; 0: not by itself.
  /// @return false: nothing lies there, or it is a key
  bool take(std::size_t row, std::uint32_t back_ticks);
  /// One of the maps' that is gone is back. @return false: it lies there, or is none of the maps'
  bool put_back(std::size_t row);
  /// Everything is back at once, and what the dead left is gone.
  void reset(const Space& space);

  const PickupTable& table() const { return items_; }              ///< taken ones have id 0
  std::span<const PickupEvent> events() const { return events_; }  ///< of the last advance()
  std::uint64_t taken() const { return taken_; }                   ///< since the start; not part of the hash
  std::uint32_t lying() const { return lying_; }
  void add_to_hash(StripeHasher& hash) const;  ///< what lies, and what is to come back

 private:
  static constexpr std::uint32_t cells_across = 32;
  static constexpr double cell_m = 8;
  static_assert(cells_across * cell_m > 4 * 1.125);  // no cell twice around a player
  /// An item looks where its floor is so often, each in another tick.
  static std::uint32_t follow_ticks(const Rules& rules) { return rules.ticks_within(0.25, 1); }
  void follow_floors(const PickupsTick& tick);
  static std::size_t cell_at(std::int32_t x, std::int32_t y);
  static std::size_t cell_of(DVec3 at) {
    return cell_at(floor_to_int(at.x / cell_m), floor_to_int(at.y / cell_m));
  }
  void put(std::size_t row);
  void take_away(std::size_t row);
  void try_take(PickupsTick& tick, std::size_t item_row, std::size_t player_row);

  PickupTable items_;
  std::vector<std::uint32_t> first_;  // of each cell's part of by_cell_; the plane is rolled up
  std::vector<std::uint32_t> by_cell_;
  std::vector<PickupEvent> events_;
  std::uint32_t lying_ = 0, dropped_ = 0;
  std::uint32_t follow_left_ = 0;  // ticks until all have looked where their floors came to rest
  std::uint64_t taken_ = 0;
};

}  // namespace ashlar
