#pragma once
#include <cstdint>
#include <vector>

#include "world/sim/world.h"

namespace ashlar::server {

/// Decides which columns of ground are there: generates the nearest missing one around the players, one a
/// tick, and drops those that nobody has been near. The home region and edited chunks stay. What it decides
/// enters the tick as input, so a recording replays it. The Host's thread.
class ChunkLoader {
 public:
  static constexpr int want_radius = 3;  ///< columns around a player that are made
  static constexpr int keep_radius = 5;  ///< and those that are not dropped; the gap keeps walkers on an
                                         ///< edge from making and dropping the same ground

  /// Fills `ready` and `dropped` for the next tick. At most one column of each a call: about 1 ms.
  void plan(const World& world, std::vector<ReadyChunk>& ready, std::vector<ChunkCoord>& dropped);

  std::size_t extra_columns() const { return extra_.size(); }  ///< loaded outside the home region

 private:
  void make(const World& world, IVec2 column, std::vector<ReadyChunk>& ready);
  bool wanted_by_anyone(const World& world, IVec2 column, int radius) const;

  std::vector<IVec2> settled_;  // per player row: the column around which everything is there
  std::vector<EntityId> settled_for_;
  std::vector<IVec2> extra_;  // loaded columns outside the home region
  std::size_t next_check_ = 0;
  std::size_t first_row_ =
      0;  // another one each time: where two are as near, it is not always the same who waits
};

}  // namespace ashlar::server
