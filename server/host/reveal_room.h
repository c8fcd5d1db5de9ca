#pragma once
#include <cstdint>
#include <vector>

#include "server/host/change_log.h"
#include "server/host/exposed_ores.h"
#include "world/sim/block_act.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// Tells of blocks that no client can compute, as a second seed made them (ores): of each when something
/// beside it is opened, and when a player looks at it from near. Until then clients hold it for stone, so
/// that who sees through the ground sees no more of them than everybody else. Each player's view is looked
/// into ten times a second, in turns: a ray along it and rays_per_look to blocks in its field of view that
/// anything lets one see. The Host's thread. Cost: six look-ups a changed block, some 0.1 us a player and
/// tick where no such blocks are near.
class RevealRoom {
 public:
  /// @param seen_m  so far away players see what nobody dug free, as in caves; 0: only dug free it is told
  explicit RevealRoom(double seen_m) : seen_m_(seen_m) {}

  /// After a step: appends what is to be told from now on to what changed in it.
  void look(const World& world, const ChangeLog& told, std::vector<AppliedEdit>& changes);
  /// Another world: nothing is known of it.
  void begin_world();

  std::uint64_t revealed() const { return revealed_; }  ///< blocks, since the start

 private:
  struct Glance {
    DVec3 eye, way;
    std::uint32_t turn = 0;  // counts a player's looks
    std::uint32_t rays = 0, skipped = 0;
  };
  void tell(const World& world, const ChangeLog& told, IVec3 block, std::vector<AppliedEdit>& changes);
  bool look_at(const World& world, const ChangeLog& told, Glance& glance, IVec3 block,
               std::vector<AppliedEdit>& changes);
  void look_about(const World& world, const ChangeLog& told, Glance& glance, std::size_t row,
                  std::vector<AppliedEdit>& changes);

  double seen_m_;
  ExposedOres exposed_;
  std::vector<std::uint32_t> next_;  // by player's row: how many in view the next look passes over
  std::uint64_t revealed_ = 0;
};

}  // namespace ashlar::server
