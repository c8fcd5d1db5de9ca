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

/// Tells of blocks that no client can compute, as a second seed made them (ores, treasures): of each when
/// something beside it is opened, and when a player looks at it from near. Until then clients hold it for
/// stone, so that who sees through the ground sees no more of them than everybody else. Each player's view is
/// looked into ten times a second, in turns: a ray along it and rays_per_look to blocks in its field of view
/// that anything lets one see. The Host's thread. Cost: six look-ups a changed block, some 0.1 us a player
/// and tick where no such blocks are near. Which chunks near a player hold any is listed anew when it comes
/// into another one, every ExposedOres::check_every_ticks while some near it are not loaded, and else every
/// list_every_ticks: what a change of blocks opens is told with that.
class RevealRoom {
 public:
  static constexpr std::uint32_t list_every_ticks = 4 * ExposedOres::check_every_ticks;

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
  /// A chunk with something to be seen.
  struct Listed {
    ChunkCoord at{};
    ExposedOres::Known* known = nullptr;
  };
  /// What is to be seen around a player.
  struct Around {
    ChunkCoord of{};
    std::uint32_t listed_tick = 0;
    std::uint64_t times_cleared = 0;  // as of then; with others nothing listed is valid
    bool whole = false;               // listed, and no chunk was left out that has to be looked through first
    bool loaded = false;              // nor one that is not loaded
    std::vector<Listed> chunks;
    std::uint32_t skips = 0;  // so many blocks in view the next look passes over
  };
  void tell(const World& world, const ChangeLog& told, IVec3 block, std::vector<AppliedEdit>& changes);
  bool look_at(const World& world, const ChangeLog& told, Glance& glance, IVec3 block,
               std::vector<AppliedEdit>& changes);
  void look_about(const World& world, const ChangeLog& told, Glance& glance, Around& around,
                  std::vector<AppliedEdit>& changes);
  void list_around(const World& world, ChunkCoord of, Around& around);

  double seen_m_;
  ExposedOres exposed_;
  std::vector<Around> around_;  // by player's row
  std::uint64_t revealed_ = 0;
};

}  // namespace ashlar::server
