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

/// Those of a cell whose ids are from `first` to `last`, as of one tick.
struct ViewRange {
  EntityId first{0}, last = entity_id_max;
  std::uint32_t tick = 0;
  std::vector<EntityRecord> entities;  ///< by id
};

/// The number of what no packed snapshot told.
inline constexpr std::uint32_t no_block = 0xffffffffu;

/// What is known of one cell, or of one block of a packed snapshot in it. A crowded cell comes in ranges of
/// ids, which are of different ticks; a block is one range.
struct ViewCell {
  CellCoord cell;
  std::uint32_t block = no_block;
  std::vector<ViewRange> ranges;  ///< by id, none over another; what is between them is not known
  std::vector<ViewRange> before;  ///< what newer ones have replaced, those who are gone among them

  /// The range that an id falls into; null when nothing is known of it.
  const ViewRange* range_of(EntityId id) const;
};

/// Heights of one map's sectors as the snapshots told them.
struct ViewSector {
  WireHeights heights;
  std::uint32_t tick = 0;  ///< 0: not told yet
};

/// What a client knows of the world around it, put together from snapshot parts in any order, plain or
/// packed.
///
/// What packed snapshots told is there until it is told anew or forgotten by name; of plain ones: a block of
/// tick T replaces what was known of its cell's range of ids, unless some of that is newer. What no snapshot
/// has mentioned for a second and two of the server's refreshes is forgotten.
class View {
 public:
  /// @param tick_rate_hz  a second in ticks
  void reset(std::uint16_t tick_rate_hz);

  /// Takes in a part. Late parts are welcome as long as they are newer than what is known.
  void take(const SnapshotPart& part);

  // What PackedMemory makes of packed ones.

  /// A block as of a tick, in place of what was known by this number; not older than that.
  void take_block(std::uint16_t number, CellCoord cell, std::span<const EntityRecord> entities,
                  std::uint32_t tick);
  void take_block(std::uint16_t number, CellCoord cell, std::span<const MovingRecord> entities,
                  std::uint32_t tick);
  /// What is known of a block, if it is of a tick from `base_tick` on, still was so at a newer tick.
  void confirm_block(CellCoord cell, std::uint16_t number, std::uint32_t base_tick, std::uint32_t tick);
  void forget_block(CellCoord cell, std::uint16_t number);
  /// All of them.
  void forget_blocks();
  /// Sectors of a map from `first` on, as of a tick: these heights are so, and what else is known of the
  /// slice still is. False, and nothing changes: some of that is older than `base_tick`. 0: it is all of the
  /// slice.
  bool take_slice(std::size_t map, std::size_t first, std::span<const SliceHeight> heights,
                  std::uint32_t tick, std::uint32_t base_tick);

  /// Newest tick of any part.
  std::uint32_t newest_tick() const { return newest_tick_; }

  /// Cells by coordinate, those of one by block.
  std::span<const ViewCell> cells() const { return cells_; }

  /// Every entity once, by id, with the newest state known of it. Fills `out`; O(n log n).
  void entities(std::vector<ViewEntity>& out) const;

  /// Calls visit(record, cell, tick) for each record that is known, cell by cell, in each by id. Of one that
  /// just changed cells there may be two, the older one first or last.
  template <typename Visit>
  void visit(Visit&& visit) const {
    for (const ViewCell& c : cells_)
      for (const ViewRange& range : c.ranges)
        for (const EntityRecord& e : range.entities) visit(e, c.cell, range.tick);
  }

  /// Entities known, counting one that just changed cells twice. O(cells).
  std::size_t entity_count() const;

  /// Sectors of a map of the welcome; those beyond what was told are missing.
  std::span<const ViewSector> sectors(std::size_t map) const;

 private:
  std::vector<ViewCell>::iterator find(CellCoord coord, std::uint32_t block);
  ViewCell& cell(CellCoord coord, std::uint32_t block = no_block);
  void take_block(ViewCell& known, const CellBlock& block, std::uint32_t tick);
  void take_ranges(ViewCell& known, const CellBlock& block, std::uint32_t tick);
  void forget_old();

  std::vector<ViewCell> cells_;
  std::vector<ViewRange> ranges_;  // scratch of take_block()
  std::vector<std::vector<ViewSector>> sectors_ = std::vector<std::vector<ViewSector>>(placed_maps_max);
  std::uint32_t newest_tick_ = 0;
  std::uint32_t forgot_tick_ = 0;
  std::uint32_t second_ticks_ = 60;
  std::uint32_t refresh_ticks_ = 0;  // as the newest snapshot says
};

}  // namespace ashlar::client_sim
