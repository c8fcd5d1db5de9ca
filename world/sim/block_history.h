#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "world/sim/block_act.h"
#include "world/sim/command.h"
#include "world/voxel/volume.h"

namespace ashlar {

/// The blocks that changed of late: what a shot is judged against whose player saw an older state. A ring of
/// bounded size; what it holds follows from the ticks that were stepped, so it is no part of the world's
/// hash. Nothing allocates after construction.
class BlockHistory {
 public:
  /// So many changes are remembered; of more at once (a mountain blown up) the oldest count as made at all
  /// times.
  static constexpr std::size_t edits_max = 4096;
  /// Blocks that one shot sees otherwise than they are, at most: those that changed last.
  static constexpr std::size_t along_max = 64;

  BlockHistory() = default;
  /// @param ticks_max  how long a change is remembered
  explicit BlockHistory(std::uint32_t ticks_max);

  /// What has changed so far in a tick that is under way: its list from its beginning on, as often as it has
  /// grown. Cost: 5 ns a change that is new.
  void note(TickId tick, std::span<const AppliedEdit> applied);

  /// Blocks on a way as somebody saw them, for as long as this lives: changes after a tick are undone but the
  /// seer's own, which it foresaw. Cost: 2 ns a change that is remembered, 0.1 us one that is undone.
  class Past {
   public:
    Past(const BlockHistory& history, VoxelVolume& volume, TickId seen, EntityId seer, DVec3 origin,
         DVec3 direction, double range_m);
    ~Past();
    Past(const Past&) = delete;
    Past& operator=(const Past&) = delete;

   private:
    struct Undone {
      IVec3 block;
      BlockId now{};
    };
    void undo(IVec3 block, BlockId before);

    VoxelVolume& volume_;
    std::array<Undone, along_max> undone_;
    std::size_t count_ = 0;
  };

 private:
  struct Change {
    std::uint32_t tick = 0;  // in which it was made
    AppliedEdit edit;
  };
  std::vector<Change> ring_;
  std::size_t next_ = 0, count_ = 0;
  std::uint32_t ticks_max_ = 0;
  std::uint32_t tick_ = 0;  // under way
  std::size_t noted_ = 0;   // of its list
};

}  // namespace ashlar
