#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "world/bsp/heights.h"
#include "world/math/vec.h"
#include "world/sim/kinds.h"
#include "world/sim/match.h"
#include "world/sim/rules.h"
#include "world/sim/sector_movers.h"
#include "world/sim/tables.h"

namespace ashlar {

class Mechanics;
class PlacedMap;
struct ProjectileTable;

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

/// A projectile in flight. What players launched is nobody's afterwards, as their ids mean others.
struct KeptProjectile {
  static constexpr std::uint32_t nobody = 0xffff'ffff;

  std::uint8_t kind = 0;  ///< index into KindSet::projectiles
  std::uint8_t bounces_left = 0;
  std::uint16_t life_ticks = 0;
  std::uint32_t owner_row = nobody;  ///< of the monster that launched it
  DVec3 position_m = {}, velocity_mps = {};
  friend bool operator==(const KeptProjectile&, const KeptProjectile&) = default;
};

/// Where the match stands, but for what each player has in it: that is kept with the player.
struct KeptMatch {
  GameMode mode{};
  MatchPhase phase{};
  std::uint32_t number = 0;  ///< 0: nothing was kept
  std::uint32_t left_ticks = 0;
  std::array<std::int32_t, teams_max> team_score{};
  friend bool operator==(const KeptMatch&, const KeptMatch&) = default;
};

/// A block that counts for who placed it, in matches that count such.
struct KeptPlacement {
  IVec3 block;
  std::uint32_t builder = 0;  ///< MatchPlayer::builder
  friend bool operator==(const KeptPlacement&, const KeptPlacement&) = default;
};

/// Who placed what in the match.
struct KeptBuilt {
  std::uint32_t builders = 0;  ///< the last number that one got
  std::vector<KeptPlacement> placed = {};
  friend bool operator==(const KeptBuilt&, const KeptBuilt&) = default;
};

/// What of a running world is kept beside its blocks, what they hold, and items, so that it goes on where it
/// ended: a value that is taken between two steps and given to the next world of the same place.
struct KeptState {
  std::vector<IVec3> falling = {};  ///< blocks that wait to fall, sorted by z, y, x
  std::vector<KeptSectors> maps = {};
  /// By row; who stood there at the start and is not in it is dead for good.
  std::vector<KeptMonster> monsters = {};
  std::uint64_t monsters_of = 0;                 ///< hash_of_first_monsters() of the world that they were in
  std::vector<KeptProjectile> projectiles = {};  ///< in the order of their rows
  std::uint64_t kinds_of = 0;                    ///< hash_of_kinds() of the kinds that they are of
  KeptMatch match = {};
  KeptBuilt built = {};
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

void keep_projectiles(const ProjectileTable& projectiles, const MonsterTable& monsters,
                      std::vector<KeptProjectile>& out);
KeptMatch keep_match(const Match& match, GameMode mode);

/// Puts back, map by map: one that is not among them, or in which something cannot be, begins anew.
/// @return how many did not
std::size_t restore_sectors(std::span<const KeptSectors> kept,
                            std::span<const std::shared_ptr<const PlacedMap>> maps,
                            std::span<std::vector<SectorHeights>> heights, Mechanics& mechanics);
/// @return false, and nothing changed: they cannot be of this table
bool restore_monsters(std::span<const KeptMonster> kept, MonsterTable& monsters, std::uint64_t seed,
                      std::uint32_t first_slot);
/// Into an empty table. Owners are known where the monsters are those that were kept.
/// @return false, and nothing changed: they cannot be of these kinds
bool restore_projectiles(std::span<const KeptProjectile> kept, const MonsterTable& monsters,
                         bool same_monsters, ProjectileTable& projectiles);
/// The phase and its time where the match goes on by the same rules; else the match is the next one, as
/// scores of the one before do not count in it.
/// @param resumes  all that the game knows of a match is in it (Game::resumes())
/// @return whether it goes on
bool restore_match(const KeptMatch& kept, const Rules& rules, bool resumes, Match& match);

}  // namespace ashlar
