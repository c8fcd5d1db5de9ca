#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/messages.h"
#include "protocol/sector_motion.h"
#include "world/bsp/heights.h"
#include "world/sim/sector_movers.h"

namespace ashlar {
class World;
}

namespace ashlar::server {

/// A floor or ceiling in motion, as of the tick that is told.
struct MovingPlane {
  WireMotion motion;
  std::uint32_t changed = 0;  ///< newest tick at which it did not go on as foreseen
  std::uint16_t key = 0;      ///< its own in this world; motion_keys_max: it has none
};

/// Planes that ever moved of which it is known what each client holds; the others are told in turns for as
/// long as they move.
inline constexpr std::uint16_t motion_keys_max = 1024;

/// Which motions of sectors clients are to be told. They run the same code on what they know, so what went on
/// as it would with nobody in the way need not be said again: a client that has acknowledged a motion as of
/// `changed` or later foresees the rest. The Host's thread. No allocation once it has seen its world and
/// every plane has moved.
class MoverReplication {
 public:
  /// All that move at the world's present tick, by map, sector and plane. Call once per published tick, after
  /// the step. Cost: about 30 ns a mover, and a copy of the heights where something moves.
  std::span<const MovingPlane> gather(const World& world);

 private:
  /// One map as a client foresees it that was told everything so far.
  struct Foreseen {
    SectorMovers movers;
    std::vector<SectorHeights> heights;
    std::vector<std::uint32_t> changed;  ///< by sector and plane
    std::vector<std::uint16_t> key;      ///< likewise, one more; 0: none yet
  };

  void look(const World& world, std::uint32_t ticks, bool anew);
  std::uint16_t key_of(Foreseen& map, std::size_t plane);

  std::vector<Foreseen> maps_;
  std::vector<MovingPlane> moving_;
  std::uint32_t tick_ = 0;
  std::uint16_t keys_ = 0;
};

}  // namespace ashlar::server
