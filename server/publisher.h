#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/snapshot_writer.h"
#include "server/motion_news.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// What everyone may be told of a tick: quantised once, sorted into cells, shared by all receivers.
/// The Host's thread. No allocation once the tables have their size.
class Publisher {
 public:
  /// Quantises the world's entities. Call once per published tick, after the step.
  void gather(const World& world);

  /// Blocks of the cells within reach of a viewer, nearest first; cells that just became empty are among
  /// them, so that a client forgets who left. Valid until the next call of either.
  std::span<const CellBlock> blocks_near(DVec3 eye_m, double radius_m);

  /// The sectors' heights that go out this tick: those in motion, and a share of all, so that every sector
  /// comes round within a second.
  std::span<const HeightBlock> heights() const { return height_blocks_; }

  /// The sectors' motions that go out this tick.
  std::span<const WireMotion> motions() const { return motions_; }

 private:
  struct Placed {
    CellCoord cell;
    EntityRecord record;
  };
  struct Cell {
    CellCoord coord;
    std::uint32_t first = 0, count = 0;
  };
  void add(DVec3 position, EntityRecord record);
  void gather_heights(const World& world);
  void gather_moving(const World& world);

  std::vector<Placed> placed_;
  std::vector<EntityRecord> records_;  // sorted by cell, then id
  std::vector<Cell> cells_, cells_before_;
  std::vector<CellBlock> blocks_;
  std::vector<std::pair<double, CellBlock>> near_;
  std::vector<CellBlock> picked_;
  std::vector<WireHeights> wire_heights_;
  std::vector<HeightBlock> height_blocks_;
  std::size_t next_sector_ = 0, next_moving_ = 0;
  MotionNews news_;
  std::span<const WireMotion> motions_;
};

}  // namespace ashlar::server
