#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>

#include "world/sim/body_grid.h"
#include "world/sim/dropped_items.h"
#include "world/sim/ground_tick.h"

namespace ashlar {

/// What timers that run out read and write.
struct BlockTimersTick : GroundTick {
  DroppedItems& items;
  EditRule& rule;          ///< what explosions may take
  std::uint64_t life = 0;  ///< tick of the world's life (World::life_tick())
};

/// Blocks that become others some time after they were put there (BlockType::timer_s): saplings grow, charges
/// explode. When is part of what a block holds (BlockData::due), counted in ticks of the world's life, so
/// that a timer goes on where it was when a kept world goes on; here is in which order. What was generated
/// has no timer: one starts where an edit puts such a block, and ends with the block.
///
/// In ground that is not loaded nothing happens; what was due meanwhile is as soon as the ground is there. A
/// body in the way of what grows holds it up. All of it is a function of what blocks hold and of what entered
/// the ticks, so nothing of it is hashed by itself.
class BlockTimers {
 public:
  BlockTimers() = default;
  explicit BlockTimers(std::size_t bodies_max) : bodies_(bodies_max) {}

  /// Timers that are looked at in one tick at most, and explosions; the others wait for the next.
  static constexpr std::size_t fires_per_tick_max = 64, blasts_per_tick_max = 4;
  /// What a body holds up is tried again after so long.
  static constexpr double retry_s = 1;

  /// What blocks hold at the start.
  void restore(const BlockContents& contents);
  /// What was due there while it was not loaded is due now.
  void chunk_loaded(ChunkCoord at);
  /// Lets run out what is due, the longest due first; of those of one tick the lowest first. Cost: a
  /// comparison where nothing is.
  void fire(const BlockTimersTick& tick);
  /// Behind all of a tick's edits: starts the timers of what they put there, and forgets those of what is
  /// gone. Cost: nothing where nothing was changed. Allocates some 100 bytes a timer that starts.
  void note_edits(const VoxelVolume& volume, const Rules& rules, std::uint64_t life, GroundEdits& edits);

  std::size_t waiting() const { return due_.size() + asleep_.size(); }

 private:
  struct Due {
    std::uint64_t life = 0;
    IVec3 block;
    friend bool operator<(const Due& a, const Due& b) {
      return std::tie(a.life, a.block.z, a.block.y, a.block.x) <
             std::tie(b.life, b.block.z, b.block.y, b.block.x);
    }
  };
  struct ByChunk {
    bool operator()(IVec3 a, IVec3 b) const {
      const auto key = [](IVec3 v) {
        return std::tuple(v.x >> chunk_bits, v.y >> chunk_bits, v.z >> chunk_bits, v.z, v.y, v.x);
      };
      return key(a) < key(b);
    }
  };
  enum class Fired : std::uint8_t { done, exploded, held_up };
  Fired fire_one(const BlockTimersTick& tick, const Due& due, EntityId who);
  bool body_in(const BlockTimersTick& tick, IVec3 block);

  std::map<Due, EntityId> due_;                     // who put it there, in this run
  std::map<IVec3, std::uint64_t, ByChunk> asleep_;  // due, and not loaded
  BodyGrid bodies_;                                 // scratch
  bool bodies_known_ = false;                       // bodies_ are those of this tick
};

}  // namespace ashlar
