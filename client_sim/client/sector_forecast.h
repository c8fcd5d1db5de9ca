#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "protocol/messages.h"
#include "world/bsp/placement.h"
#include "world/sim/sector_movers.h"

namespace ashlar::client_sim {

/// Floors and ceilings of the server's maps as the newest snapshot has them, and as they will be if nobody
/// gets in their way: the world's own code runs on the motions that snapshots carry, so where nobody does the
/// heights are the server's to the last bit.
///
/// What a lost snapshot would have said is said again until it is acknowledged. A height that contradicts the
/// forecast wins over it: the plane rests there until its motion is told. Parts of one or more snapshots may
/// come in any order: what a late one tells counts as far as nothing newer was told of the same plane. One
/// thread. No allocation once every plane has moved.
class SectorForecast {
 public:
  SectorForecast() = default;
  /// Maps in the order of the welcome, placed as it says; nullptr for one that is not held (it has no
  /// heights).
  /// @param changes  of changes() to count on from: more than those of the forecast whose place it takes
  SectorForecast(std::vector<std::shared_ptr<const PlacedMap>> maps, std::uint16_t tick_rate_hz,
                 std::uint64_t changes = 1);

  /// Takes in a part of a snapshot. One that is five seconds late is ignored.
  void take(const SnapshotPart& part);

  /// Of the newest snapshot taken in; 0: none yet.
  std::uint32_t tick() const { return tick_; }
  /// Goes up whenever heights or motions become others; while it stays, so do they.
  std::uint64_t changes() const { return changes_; }
  /// Calls visit(map, sector) for each sector of which a height may have become another one since changes()
  /// was so, some of them more than once. False, and nobody is visited: it is too long ago to be known.
  template <typename Visit>
  bool visit_changed(std::uint64_t since, Visit&& visit) const {
    if (since < begun_ || since > changes_ || since + changed_.size() < changes_) return false;
    for (std::uint64_t i = since; i < changes_; ++i) {
      const Changed& changed = changed_[i % changed_.size()];
      visit(changed.map, changed.sector);
    }
    return true;
  }
  std::size_t map_count() const { return maps_.size(); }
  /// Heights of one map's sectors as of tick().
  HeightsView heights(std::size_t map) const { return maps_[map].heights; }
  /// The planes in motion as of tick().
  std::span<const Mover> movers(std::size_t map) const { return maps_[map].movers.movers(); }

  /// Heights of one map's sectors so many ticks after tick(), valid until the next call or take(). Cost: 20
  /// ns a mover and tick, and a copy of the heights.
  HeightsView foresee(std::size_t map, std::uint32_t ticks);

 private:
  /// What was last told of a plane.
  struct Told {
    std::uint32_t motion_tick = 0, height_tick = 0;  ///< 0: nothing
    std::int32_t height = 0;
    /// One more than the place of its motion in Map::motions, while the forecast follows from that; else 0.
    std::uint32_t motion = 0;
    std::uint32_t slot = 0;  ///< likewise: where its motions are put
  };
  struct Map {
    std::shared_ptr<const PlacedMap> placed;
    std::vector<SectorHeights> heights;
    SectorMovers movers;
    std::vector<Told> told;           // by sector, floor before ceiling
    std::vector<WireMotion> motions;  // of planes that were told to move
  };
  struct Changed {
    std::uint32_t map = 0, sector = 0;
  };
  void note_changed(const Map& map, std::uint32_t sector);
  void go_on(std::uint32_t ticks);
  void take_motion(Map& map, const WireMotion& motion, std::uint32_t tick);
  void take_height(Map& map, std::uint32_t sector, Plane plane, std::int32_t told, std::uint32_t tick);
  double replay(const Map& map, const WireMotion& motion, std::uint32_t ticks);

  std::vector<Map> maps_;
  Map ahead_;
  double tick_s_ = 1.0 / 60;
  std::uint32_t second_ticks_ = 60;
  std::uint32_t tick_ = 0;
  std::uint64_t changes_ = 0, begun_ = 0;  // begun_: with which it began
  std::array<Changed, 256> changed_{};     // by the number of the change modulo their count
};

}  // namespace ashlar::client_sim
