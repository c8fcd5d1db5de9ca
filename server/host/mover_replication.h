#pragma once
#include <array>
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

/// Which motions of sectors clients are told. They run the same code on what they know, so what went on as it
/// would with nobody in the way need not be said again: news are the motions that began, turned, met somebody
/// or were stopped. Each goes out in a few snapshots, as some get lost; beside them every motion comes round
/// within half a second (later when more than snapshot_motions_max a snapshot would be needed), for those who
/// have just joined or missed them all.
/// The Host's thread. No allocation once it has seen its world.
class MoverReplication {
 public:
  /// Snapshots that each piece of news goes out in.
  static constexpr std::uint8_t tellings = 4;

  /// What goes out with the world's present tick. Call once per published tick, after the step. Cost: about
  /// 30 ns a mover, and a copy of the heights where something moves.
  std::span<const WireMotion> gather(const World& world);

 private:
  /// One map as a client foresees it that was told everything so far.
  struct Foreseen {
    SectorMovers movers;
    std::vector<SectorHeights> heights;
    std::vector<std::uint8_t> left;  ///< by sector and plane: snapshots that still tell its news
  };
  struct PlaneKey {
    std::uint32_t map = 0, sector = 0;
    Plane plane = Plane::floor;
  };

  void look(const World& world, std::uint32_t ticks, bool anew);
  void add_motions(std::size_t map, const Mover& mover);
  void replicate_movers(const World& world);
  void tell_in_turn(const World& world, std::uint32_t ticks);
  void tell(const World& world, std::size_t map, const Mover& mover);

  std::vector<Foreseen> maps_;
  std::vector<PlaneKey> mover_replication_;  // first come, first told; those with tellings left go to the end
  std::array<WireMotion, snapshot_motions_max> told_{};
  std::size_t told_count_ = 0;
  std::uint32_t tick_ = 0;
  std::uint64_t turn_credit_ = 0;  // movers due in turn, times the ticks of a round
  std::size_t next_in_turn_ = 0;
};

}  // namespace ashlar::server
