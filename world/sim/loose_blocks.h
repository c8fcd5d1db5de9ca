#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "world/math/hash.h"
#include "world/sim/body_grid.h"
#include "world/sim/ground_tick.h"

namespace ashlar {

/// Sand, gravel and whatever else falls (BlockType::falls) comes down where an edit took away what was below:
/// a block at a time, each of them an edit like any other. Liquids give way to it. A body in its way holds it
/// up, and so does ground that is not loaded. What was generated hanging hangs until something beside changes
/// below it. Part of the world's state and hash. Nothing allocates after construction but GroundEdits::set().
class LooseBlocks {
 public:
  LooseBlocks() = default;
  explicit LooseBlocks(std::size_t bodies_max);

  /// Falling blocks come down by one in so many seconds.
  static constexpr double fall_s = 0.05;
  /// Blocks that move in one tick at most; the others wait for the next.
  static constexpr std::size_t falls_per_tick_max = 64;
  /// Blocks that may wait to be looked at. Of more the highest hang until something changes below them.
  static constexpr std::size_t waiting_max = 8192;

  /// After all other edits of a tick: moves what waited, the lowest first, and notes what the tick's edits
  /// have set loose. Cost: nothing where no block changes and none waits.
  void fall(const GroundTick& ground, std::uint32_t tick);

  /// Edits of a tick that came after fall(): notes what they have set loose.
  void note_edits(const VoxelVolume& volume, std::span<const AppliedEdit> edits);

  std::span<const IVec3> waiting() const { return waiting_; }  ///< to fall, sorted by z, y, x
  /// What waited when the world last ended. What is no loose block any more is dropped when its turn comes.
  void restore(std::span<const IVec3> waiting);
  /// Adds nothing while nothing waits: worlds without edits hash as if there was none of it.
  void add_to_hash(StripeHasher& hash) const;

 private:
  void note(const VoxelVolume& volume, IVec3 block);
  void move_some(const GroundTick& ground, std::uint32_t tick);

  std::vector<IVec3> waiting_;  // sorted by z, y, x, each once
  std::vector<IVec3> fresh_;    // scratch: to be looked at from the next tick on
  BodyGrid bodies_;             // scratch
};

}  // namespace ashlar
