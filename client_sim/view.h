#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/messages.h"
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

/// What one cell held when it was last complete.
struct ViewCell {
  CellCoord cell;
  std::uint32_t tick = 0;         ///< 0: never complete
  std::uint32_t before_tick = 0;  ///< 0: nothing before
  std::vector<EntityRecord> entities;
  std::vector<EntityRecord> before;
};

/// Heights of one map's sectors as the snapshots told them.
struct ViewSector {
  WireHeights heights;
  std::uint32_t tick = 0;  ///< 0: not told yet
};

/// What a client knows of the world around it, put together from snapshot parts in any order.
///
/// A cell of tick T is taken when all its pieces of T have arrived, and then replaces what was known of it;
/// nothing is mixed from two ticks. What no snapshot has mentioned for a second is forgotten.
class View {
 public:
  /// @param tick_rate_hz  a second in ticks
  void reset(std::uint16_t tick_rate_hz);

  /// Takes in a part. Late parts are welcome as long as they are newer than what is known.
  void take(const SnapshotPart& part);

  /// Newest tick of any part.
  std::uint32_t newest_tick() const { return newest_tick_; }

  /// Cells in no particular order.
  std::span<const ViewCell> cells() const { return cells_; }

  /// Every entity once, by id, with the newest state known of it. Fills `out`; O(n log n).
  void entities(std::vector<ViewEntity>& out) const;

  /// Entities known, counting one that just changed cells twice. O(cells).
  std::size_t entity_count() const;

  /// Sectors of a map of the welcome; those beyond what was told are missing.
  std::span<const ViewSector> sectors(std::size_t map) const;

 private:
  struct Pieces {
    CellCoord cell;
    std::uint32_t tick = 0;
    std::uint32_t have = 0;  // a bit for each piece
    std::vector<EntityRecord> entities;
  };

  ViewCell& cell(CellCoord coord);
  void complete(CellCoord coord, std::uint32_t tick, std::span<const EntityRecord> entities);
  void take_piece(const CellHeader& header, std::uint32_t tick, std::span<const EntityRecord> entities);
  void forget_old();

  std::vector<ViewCell> cells_;
  std::vector<Pieces> pieces_;
  std::vector<std::vector<ViewSector>> sectors_ = std::vector<std::vector<ViewSector>>(placed_maps_max);
  std::uint32_t newest_tick_ = 0;
  std::uint32_t forgot_tick_ = 0;
  std::uint32_t second_ticks_ = 60;
};

}  // namespace ashlar::client_sim
