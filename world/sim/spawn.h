#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "world/math/random.h"
#include "world/sim/world.h"
#include "world/voxel/terrain.h"

namespace ashlar {

/// Is a thing of a map there at a skill? UDMF's five and Doom's five are marked as three.
bool thing_at_skill(std::uint16_t flags, std::uint16_t skill);
/// And of those for as many players as the mode is for: against each other, or together?
bool thing_in_game(std::uint16_t flags, const Rules& rules);

/// Where players and monsters appear: the maps' own starts and things, and open ground around them.
class SpawnPlanner {
 public:
  SpawnPlanner() = default;
  /// Reads the maps' things once. home_min and home_max bound the loaded region in chunks,
  /// [min, max). `terrain` is kept by its address: it has to outlive this.
  SpawnPlanner(const WorldSetup& setup, const Terrain& terrain, IVec2 home_min, IVec2 home_max);

  /// Monsters of the maps, in the maps' order; some may stand in solid or in each other.
  std::span<const MonsterSpawn> map_monsters() const { return map_monsters_; }

  /// A walker or flyer somewhere on the open ground of the home region. In kinds of terrain that have waters,
  /// caves or nothing, here and for players: on dry ground under the sky, or where that is nowhere within
  /// dry_search_blocks, on any.
  MonsterSpawn terrain_monster(const Space& space, Rng& rng) const;

  /// A place for a player that is free of solids and of other bodies: within the setup's SpawnArea where it
  /// has one, else half of the players at the maps' starts and the others, or whom no start has room for, on
  /// the ground around. After 64 places that were taken it is the last of them, taken or not.
  SpawnPoint player_spawn(const Space& space, const Rules& rules, const PlayerTable& players,
                          const MonsterTable& monsters, Rng& rng) const;

  /// A start of the maps with room for a player: the first from the one of this number on, round all of its
  /// kind. nullopt: none.
  std::optional<SpawnPoint> free_start(const Space& space, const Rules& rules, const PlayerTable& players,
                                       const MonsterTable& monsters, bool deathmatch,
                                       std::uint32_t first) const;

  /// Would the shape meet a player or monster there?
  static bool taken(const Cylinder& shape, DVec3 at, const Rules& rules, const PlayerTable& players,
                    const MonsterTable& monsters);

  static constexpr std::int32_t dry_search_blocks = 1024;

 private:
  SpawnPoint ground_near(const Space& space, Rng& rng, IVec2 low, IVec2 high) const;
  std::optional<double> open_ground(const Space& space, IVec2 at) const;
  SpawnPoint dry_near(const Space& space, Rng& rng, IVec2 low, IVec2 high) const;
  SpawnPoint in_area(const Space& space, Rng& rng) const;

  const Terrain* terrain_ = nullptr;
  std::shared_ptr<const KindSet> kinds_;
  std::vector<MonsterSpawn> map_monsters_;
  std::vector<SpawnPoint> starts_;
  std::array<std::vector<SpawnPoint>, 2>
      starts_of_;                   // cooperative, in the order of their numbers; deathmatch
  IVec2 low_{}, high_{};            // blocks: the home region without its rim
  IVec2 near_low_{}, near_high_{};  // blocks: around the maps
  SpawnArea area_;
  IVec2 land_{};  // dry ground in or near the area or the maps' surroundings
};

}  // namespace ashlar
