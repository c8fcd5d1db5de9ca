#pragma once
#include <cstdint>
#include <vector>

#include "world/collide/space.h"
#include "world/math/hash.h"
#include "world/math/random.h"
#include "world/sim/kinds.h"
#include "world/sim/rules.h"
#include "world/sim/tables.h"
#include "world/voxel/block_registry.h"

namespace ashlar {

/// What a tick of spawning reads and writes.
struct GroundSpawnerTick {
  Space space;
  const Rules& rules;
  const PlayerTable& players;
  MonsterTable& monsters;
  std::uint32_t tick = 0;
  std::uint64_t seed = 0;        ///< the world's
  std::uint32_t& monster_count;  ///< alive
  int sky = 15;                  ///< sky_light() of now
};

/// Keeps the open ground around players inhabited, as the rules of a file of kinds say (SpawnRule), and takes
/// away those whom no player is near any more. Of the world's state and hash; deterministic. A tick makes
/// tries_per_tick tries at most, each for one rule and one player, and looks after sweep_rows rows: some
/// 20 us in a crowd of 10 000; without rules nothing. No allocation after construction.
class GroundSpawner {
 public:
  static constexpr int tries_per_tick = 4;
  static constexpr std::size_t sweep_rows = 64;
  static constexpr double forget_m = 32;  ///< beyond SpawnRule::within_m they are taken away

  GroundSpawner() = default;
  /// @param kinds  whose spawn rules they are; rules whose ground is no block here spawn nothing
  GroundSpawner(const KindSet& kinds, const BlockRegistry& blocks, std::uint64_t seed,
                std::size_t monsters_max);

  void advance(GroundSpawnerTick& tick);
  /// Does this row belong to one that was spawned here, alive or dead? It does not come back by itself.
  bool owns(const MonsterTable& monsters, std::size_t row) const {
    return row < spawned_.size() && spawned_[row].generation != 0 &&
           spawned_[row].generation == monsters.generation[row];
  }
  void add_to_hash(StripeHasher& hash) const;

  std::uint64_t spawned() const { return spawns_; }       ///< since the start
  std::uint64_t taken_away() const { return removals_; }  ///< likewise

  /// How bright it is there, from 0 to 15: that of the sky with nothing opaque within sky_blocks above, or of
  /// the brightest block within lamp_blocks, one less a block of distance, if that is more.
  /// @param sky  sky_light() of the tick
  static int light_at(const VoxelVolume& voxels, const BlockRegistry& blocks, IVec3 at,
                      int sky = block_light_max);
  static constexpr std::int32_t sky_blocks = 64, lamp_blocks = 7;

 private:
  struct Rule {
    SpawnRule rule;
    BlockId ground{};  // air: any
  };
  struct Spawned {
    std::uint32_t generation = 0;  // of the row; 0: none
    std::uint8_t rule = 0;
  };
  void try_for(GroundSpawnerTick& tick, std::size_t rule, DVec3 player);
  bool put(GroundSpawnerTick& tick, std::size_t rule, DVec3 at);
  bool fits(const GroundSpawnerTick& tick, const Rule& rule, DVec3 at) const;
  std::uint32_t near(const GroundSpawnerTick& tick, std::size_t rule, DVec3 player) const;
  void sweep(GroundSpawnerTick& tick);

  std::vector<Rule> rules_;
  std::vector<Spawned> spawned_;  // by monster row
  const BlockRegistry* blocks_ = nullptr;
  Rng rng_;
  std::size_t next_ = 0;  // row that the sweep goes on at
  std::uint64_t spawns_ = 0, removals_ = 0;
};

}  // namespace ashlar
