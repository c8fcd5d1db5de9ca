#pragma once
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
/// What a lost snapshot would have said is said again within a second. A height that contradicts the forecast
/// wins over it: the plane rests there until its motion is told. One thread. No allocation after
/// construction.
class SectorForecast {
 public:
  SectorForecast() = default;
  /// Maps in the order of the welcome, placed as it says; nullptr for one that is not held (it has no
  /// heights).
  /// @param changes  of changes() to count on from: more than those of the forecast whose place it takes
  SectorForecast(std::vector<std::shared_ptr<const PlacedMap>> maps, std::uint16_t tick_rate_hz,
                 std::uint64_t changes = 1);

  /// Takes in a part of a snapshot; parts of an older tick than tick() are ignored.
  void take(const SnapshotPart& part);

  /// Of the newest snapshot taken in; 0: none yet.
  std::uint32_t tick() const { return tick_; }
  /// Goes up whenever heights or motions become others; while it stays, so do they.
  std::uint64_t changes() const { return changes_; }
  std::size_t map_count() const { return maps_.size(); }
  /// Heights of one map's sectors as of tick().
  HeightsView heights(std::size_t map) const { return maps_[map].heights; }
  /// The planes in motion as of tick().
  std::span<const Mover> movers(std::size_t map) const { return maps_[map].movers.movers(); }

  /// Heights of one map's sectors so many ticks after tick(), valid until the next call. Cost: 20 ns a mover
  /// and tick, and a copy of the heights.
  HeightsView foresee(std::size_t map, std::uint32_t ticks);

 private:
  struct Map {
    std::shared_ptr<const PlacedMap> placed;
    std::vector<SectorHeights> heights;
    SectorMovers movers;
  };
  void go_on(std::uint32_t ticks);
  void take_height(Map& map, std::uint32_t sector, Plane plane, std::int32_t told);

  std::vector<Map> maps_;
  Map ahead_;
  double tick_s_ = 1.0 / 60;
  std::uint32_t second_ticks_ = 60;
  std::uint32_t tick_ = 0;
  std::uint64_t changes_ = 0;
};

}  // namespace ashlar::client_sim
