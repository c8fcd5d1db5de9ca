#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/messages.h"
#include "protocol/snapshot/height_delta.h"
#include "protocol/snapshot/moving_record.h"
#include "world/math/vec.h"

namespace ashlar::client_sim {

/// An entity as a picture needs it: the two newest states known, to interpolate between.
struct ViewEntity {
  EntityRecord record;            ///< newest
  std::uint32_t tick = 0;         ///< of the newest
  DVec3 position_m;               ///< of the newest
  std::uint32_t before_tick = 0;  ///< of the one before; equal to tick when there is none
  DVec3 before_m;
  bool current = true;  ///< false only inside View: from a picture that a newer one has replaced

  /// Where it was at a tick between the two (or nearest to them); `tick_now` may have a fraction.
  DVec3 position_at(double tick_now) const;
};

/// A block's entities as of one tick.
struct ViewState {
  std::uint32_t tick = 0;              ///< 0: nothing is known
  std::vector<EntityRecord> entities;  ///< by id
};

/// What is known of one block of a cell: all of it as of a tick, and what that replaced, those who are gone
/// among them.
struct ViewCell {
  CellCoord cell;
  std::uint16_t block = 0;
  ViewState now, before;
  std::uint64_t told_members = 0;  ///< as take_block() was told; 0: it was not
  std::uint64_t changed = 0;       ///< View::changes() when it was told last
  /// And when others were in it last than before. No other block has the same, but for those in which nobody
  /// ever was: they have 0.
  std::uint64_t members = 0;

  /// Null: it is not in the block.
  const EntityRecord* find(EntityId id) const;
};

/// Heights of one map's sectors as the snapshots told them.
struct ViewSector {
  WireHeights heights;
  std::uint32_t tick = 0;  ///< 0: not told yet
};

/// What a client knows of the world around it: blocks of entities and heights of sectors, as PackedMemory
/// makes them of parts of snapshots that come in any order. What was told is there until it is told anew or
/// forgotten by name.
class View {
 public:
  /// @param tick_rate_hz  a second in ticks
  void reset(std::uint16_t tick_rate_hz);

  /// Takes in what a part says of heights, and that there was one of its tick. Late parts are welcome as long
  /// as they are newer than what is known.
  void take(const SnapshotPart& part);

  /// A block as of a tick, in place of what was known by this number; not older than that.
  void take_block(std::uint16_t number, CellCoord cell, std::span<const EntityRecord> entities,
                  std::uint32_t tick);
  /// @param members  the same number as before: the same entities are in it; 0: nobody knows
  void take_block(std::uint16_t number, CellCoord cell, std::span<const MovingRecord> entities,
                  std::uint32_t tick, std::uint64_t members = 0);
  /// What is known of a block, if it is of a tick from `base_tick` on, still was so at a newer tick.
  void confirm_block(CellCoord cell, std::uint16_t number, std::uint32_t base_tick, std::uint32_t tick);
  void forget_block(CellCoord cell, std::uint16_t number);
  /// All of them.
  void forget_blocks();
  /// Somebody is in another block from a tick on: as it is known here until that block is told, is forgotten,
  /// or a second has passed. Nothing happens where it is not known, or was told since.
  void take_moved(const MovedEntity& moved, std::uint32_t tick);
  /// Sectors of a map from `first` on, as of a tick: these heights are so, and what else is known of the
  /// slice still is. False, and nothing changes: some of that is older than `base_tick`. 0: it is all of the
  /// slice.
  bool take_slice(std::size_t map, std::size_t first, std::span<const SliceHeight> heights,
                  std::uint32_t tick, std::uint32_t base_tick);

  /// Newest tick of any part.
  std::uint32_t newest_tick() const { return newest_tick_; }

  /// Something came, a snapshot most likely: asks memory for what it will change.
  void prefetch() const;

  /// By cell's coordinate, those of one by block.
  std::span<const ViewCell> cells() const { return cells_; }

  /// Every entity once, by id, with the newest state known of it. Fills `out`; O(n log n).
  void entities(std::vector<ViewEntity>& out) const;

  /// Calls visit(record, cell, tick) for each record that is known, cell by cell, in each by id. Of one that
  /// just changed cells there may be two, the older one first or last.
  template <typename Visit>
  void visit(Visit&& visit) const {
    for (const ViewCell& c : cells_)
      for (const EntityRecord& e : c.now.entities) visit(e, c.cell, c.now.tick);
    visit_moved(visit);
  }
  /// The same for those alone of whom it is known that they are in another block now, and not yet where.
  template <typename Visit>
  void visit_moved(Visit&& visit) const {
    for (const Moved& m : moved_) visit(m.record, m.cell, m.tick);
  }
  /// Counts what was told of blocks, and of that after which some may be known no more.
  std::uint64_t changes() const { return changes_; }
  std::uint64_t losses() const { return losses_; }

  /// Entities known, counting one that just changed cells twice. O(cells).
  std::size_t entity_count() const;

  /// Sectors of a map of the welcome; those beyond what was told are missing.
  std::span<const ViewSector> sectors(std::size_t map) const;

 private:
  std::vector<ViewCell>::iterator find(CellCoord coord, std::uint16_t block);
  ViewCell& cell(CellCoord coord, std::uint16_t block);
  std::vector<EntityRecord>* begin_state(ViewCell& known, std::uint32_t tick);
  void end_state(ViewCell& known, std::uint64_t members = 0);
  void forget_old();

  /// Somebody between two blocks.
  struct Moved {
    EntityRecord record;
    CellCoord cell;
    std::uint32_t tick = 0;   // of the record
    std::uint32_t since = 0;  // it is in the other block
    std::uint16_t block = 0;
  };
  static constexpr std::size_t moved_max = 4096;
  void settle_moved(const ViewCell& known);
  template <typename Predicate>
  void drop_moved(Predicate&& over);

  std::vector<ViewCell> cells_;
  std::vector<Moved> moved_;
  std::vector<std::vector<ViewSector>> sectors_ = std::vector<std::vector<ViewSector>>(placed_maps_max);
  std::uint64_t changes_ = 1, losses_ = 1;
  std::uint32_t newest_tick_ = 0;
  std::uint32_t forgot_tick_ = 0;
  std::uint32_t second_ticks_ = 60;
};

}  // namespace ashlar::client_sim
