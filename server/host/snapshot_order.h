#pragma once
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "protocol/snapshot_writer.h"

namespace ashlar::server {

/// Where one client's turns stand: kept while its snapshots do not hold everything that it is to be told.
struct SnapshotTurn {
  bool active = false;
  CellCoord cell;           ///< the next to be told of, in the order of coordinates
  EntityId id{0};           ///< and from which id on
  std::uint32_t began = 0;  ///< tick at which the present lap over everything began
  std::uint32_t lap = 0;    ///< ticks that the last one took

  /// Ticks that somebody has waited at most, up to now.
  std::uint32_t waited(std::uint32_t tick) const;
};

/// Snapshots after which everybody in reach was told of, whatever the crowd, while nothing is lost: half of
/// what a snapshot holds goes round. The bound that server/README.md states and the simulation holds.
/// @param records  entities in reach and the cells that they are in
/// @param parts    a snapshot's, at least snapshot_parts_least
constexpr std::uint32_t refresh_snapshots(std::size_t records, std::size_t parts) {
  const std::size_t each = (parts - snapshot_parts_full_of_sectors) * snapshot_part_records_min;
  return records <= each ? 1 : static_cast<std::uint32_t>((2 * records + each - 1) / each + 1);
}

/// Snapshots after which everybody in reach was told of, whatever the crowd, while nothing is lost: a quarter
/// of the parts go to those who have waited longest, and one has room for any block. The bound that
/// server/README.md states.
/// @param entities  in reach, or that were a moment ago
constexpr std::uint32_t packed_refresh_snapshots(std::size_t entities, std::size_t parts) {
  // In the worst case each block has few entities, and each of them is told whole.
  constexpr std::size_t entities_a_part = 24;
  const std::size_t each = (parts + 3) / 4 * entities_a_part;
  return entities <= each ? 1 : static_cast<std::uint32_t>((entities + each - 1) / each + 1);
}

/// Decides what goes first where a snapshot has no room for all. Up to half of it are the nearest cells,
/// those that fit there whole. The rest goes round over everything else, and goes on in the next snapshot
/// where this one ended: whoever found no room is first in the next. No allocation once grown. One thread.
class SnapshotOrder {
 public:
  /// @param nearest_first  all blocks, with no more than one for a cell
  /// @return the same in their order now, valid until the next call; the block that goes round first may come
  ///         in two, of which the other one is last
  std::span<const CellBlock> arrange(std::span<const CellBlock> nearest_first, std::size_t parts,
                                     const SnapshotTurn& turn);

  /// Notes how far the writer came with what arrange() gave.
  void advance(const SnapshotPlan& plan, std::uint32_t tick, std::uint32_t tick_before,
               SnapshotTurn& turn) const;

 private:
  std::vector<CellBlock> round_, order_;
  std::size_t near_count_ = 0;
  std::size_t wrap_ = 0;  // where in order_ the round is back at its lowest cell
};

}  // namespace ashlar::server
