#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "world/bsp/heights.h"
#include "world/math/vec.h"
#include "world/sim/kinds.h"
#include "world/sim/sector_movers.h"
#include "world/sim/tables.h"

namespace ashlar {

class Mechanics;
class PlacedMap;

/// Doors, lifts and lines of one map.
struct KeptSectors {
  std::uint64_t map_hash = 0;  ///< PlacedMap::content_hash()
  std::vector<SectorHeights> heights = {};
  std::vector<Mover> movers = {};        ///< as SectorMovers has them
  std::vector<std::uint8_t> spent = {};  ///< as MapMechanics has it
  friend bool operator==(const KeptSectors&, const KeptSectors&) = default;
};

/// A monster, alive or waiting to come back. What it thought of is forgotten.
struct KeptMonster {
  std::uint32_t row = 0;
  MonsterKind kind{};
  std::uint16_t health = 0;         ///< 0: it is dead
  std::uint32_t respawn_ticks = 0;  ///< of a dead one: until it is back
  bool deaf = false, asleep = false;
  DVec3 position_m = {}, home_m = {};
  Turn16 yaw{0}, home_yaw{0};
  friend bool operator==(const KeptMonster&, const KeptMonster&) = default;
};

/// What of a running world is kept beside its blocks, what they hold, and items, so that it goes on where it
/// ended: a value that is taken between two steps and given to the next world of the same place.
struct KeptState {
  std::vector<IVec3> falling = {};  ///< blocks that wait to fall, sorted by z, y, x
  std::vector<KeptSectors> maps = {};
  /// By row; who stood there at the start and is not in it is dead for good.
  std::vector<KeptMonster> monsters = {};
  std::uint64_t monsters_of = 0;  ///< hash_of_first_monsters() of the world that they were in
  friend bool operator==(const KeptState&, const KeptState&) = default;
};

inline constexpr std::size_t kept_monsters_max = 1u << 16;

/// What decides which monsters a world begins with: rows of another one mean others.
std::uint64_t hash_of_first_monsters(std::span<const std::shared_ptr<const PlacedMap>> maps,
                                     const MonsterTable& monsters, std::uint64_t seed, std::uint32_t at_start,
                                     std::uint8_t skill);

/// Takes out; memory is used again.
void keep_sectors(std::span<const std::shared_ptr<const PlacedMap>> maps,
                  std::span<const std::vector<SectorHeights>> heights, const Mechanics& mechanics,
                  std::vector<KeptSectors>& out);
void keep_monsters(const MonsterTable& monsters, std::vector<KeptMonster>& out);

/// Puts back, map by map: one that is not among them, or in which something cannot be, begins anew.
/// @return how many did not
std::size_t restore_sectors(std::span<const KeptSectors> kept,
                            std::span<const std::shared_ptr<const PlacedMap>> maps,
                            std::span<std::vector<SectorHeights>> heights, Mechanics& mechanics);
/// @return false, and nothing changed: they cannot be of this table
bool restore_monsters(std::span<const KeptMonster> kept, MonsterTable& monsters, std::uint64_t seed,
                      std::uint32_t first_slot);

}  // namespace ashlar
