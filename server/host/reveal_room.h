#pragma once
#include <cstdint>
#include <vector>

#include "server/host/change_log.h"
#include "world/sim/block_act.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Tells of blocks that no client can compute, as a second seed made them (ores): of each when something
/// beside it is opened, and when a player looks at it from near. Until then clients hold it for stone, so
/// that who sees through the ground sees no more of them than everybody else. The Host's thread. Cost: six
/// look-ups a changed block, some 0.4 us a player and tick.
class RevealRoom {
 public:
  /// @param seen_m  so far away players see what nobody dug free, as in caves; 0: only dug free it is told
  explicit RevealRoom(double seen_m) : seen_m_(seen_m) {}

  /// After a step: appends what is to be told from now on to what changed in it.
  void look(const World& world, const ChangeLog& told, std::vector<AppliedEdit>& changes);

  std::uint64_t revealed() const { return revealed_; }  ///< blocks, since the start

 private:
  void tell(const World& world, const ChangeLog& told, IVec3 block, std::vector<AppliedEdit>& changes);

  double seen_m_;
  std::uint64_t revealed_ = 0;
};

}  // namespace ashlar::server
