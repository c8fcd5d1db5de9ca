#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/snapshot_writer.h"
#include "server/host/mover_replication.h"
#include "server/host/placed_entity.h"
#include "server/host/sight_culler.h"
#include "world/collide/visibility_query.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// What everyone may be told of a tick: quantised and coded once, a block a cell, shared by all receivers.
/// The Host's thread. No allocation once the tables have their size.
class Replicator {
 public:
  /// Quantises the world's entities and codes the cells' blocks. Call once per published tick, after the
  /// step.
  /// @param blocks  false: nobody asks for blocks_near() and heights() of this tick, and they are not made
  void gather(const World& world, bool blocks = true);

  /// Everybody, as of the last gather(): by cell and then id where blocks were asked for, else in the order
  /// of the world's tables.
  std::span<const PlacedEntity> placed() const { return placed_; }
  /// What may be seen through of the world's maps, as of then.
  std::span<const OpenRooms> rooms() const { return rooms_; }

  /// Blocks of the cells within reach of a viewer, nearest first. Whom it cannot see, as far as the maps'
  /// visibility sets know (world/collide/visibility_query.h), is left out: a cell of which everyone may be
  /// seen is the block that all share, one of which some may be seen a block of their records, and one of
  /// which nobody may be seen goes out now and then, empty. Cells that just became empty are always among
  /// them. So a client forgets who left. Valid until the next call of either.
  /// @param margin_m   how far the viewer may be from its eye by the time it sees the snapshot
  /// @param all_empty  cells of which nobody may be seen are among them at every call: where cells go out in
  ///                   turns, now and then would miss them
  /// @param reach      whom rock hides from it is left out, too; null: nobody is for that
  std::span<const CellBlock> blocks_near(DVec3 eye_m, double radius_m, double margin_m,
                                         bool all_empty = false, const SightReach* reach = nullptr);

  /// The sectors' heights that go out this tick: those in motion, and a share of all, so that every sector
  /// comes round within a second and six snapshots, or as soon as snapshot_sector_heights_max a snapshot let
  /// it.
  std::span<const HeightBlock> heights() const { return height_blocks_; }

  /// The sectors' motions that go out this tick.
  std::span<const WireMotion> motions() const { return motions_; }

 private:
  struct Cell {
    CellCoord coord;
    std::uint32_t first = 0, count = 0;              ///< in placed_
    std::uint32_t first_place = 0, place_count = 0;  ///< in places_
  };
  void add(DVec3 position, DVec3 velocity, const Cylinder& shape, EntityRecord record);
  void code_blocks();
  void find_places();
  std::optional<CellBlock> visible_part(std::size_t block, bool all_empty, const SightReach* reach);
  void gather_heights(const World& world);
  void gather_moving(const World& world);

  std::vector<PlacedEntity> placed_;  // sorted by cell, then id
  BlockArena coded_;                  // the blocks that all share
  std::vector<Cell> cells_, cells_before_;
  std::vector<CellBlock> blocks_;  // of cells_, then those that became empty
  // Where entities are as far as sight goes; empty without maps.
  std::span<const MapInSpace> maps_;
  std::vector<OpenRooms> rooms_;              // by map
  std::vector<SightPlace> places_;            // that entities touch, each once by cell
  std::vector<std::uint32_t> first_touched_;  // by record and one more, in touched_
  std::vector<std::uint32_t> touched_;        // places by record, counted from the cell's first
  std::vector<SightPlace> found_;
  VisibilityQuery visibility_query_;
  std::vector<std::uint8_t> in_sight_;  // the cell's places that the viewer may see
  BlockArena private_;                  // one viewer's own blocks
  std::uint32_t round_ = 0;
  std::vector<std::pair<double, CellBlock>> near_;
  std::vector<CellBlock> picked_;
  std::vector<WireHeights> wire_heights_;
  std::vector<HeightBlock> height_blocks_;
  std::size_t next_sector_ = 0, next_moving_ = 0;
  std::uint32_t round_snapshots_ = 0;  // of the present round over all sectors
  std::uint32_t resting_ = 0;          // snapshots until the next one begins
  std::uint32_t told_tick_ = 0;        // of the last heights
  MoverReplication mover_replication_;
  std::span<const WireMotion> motions_;
};

}  // namespace ashlar::server
