#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "protocol/datagram.h"
#include "protocol/messages.h"

namespace ashlar {

/// Parts a snapshot may have; what does not fit is left out and told by SnapshotPlan.
inline constexpr std::size_t snapshot_parts_max = 32;
/// Parts a receiver's budget has at least: fewer would leave no room for entities where floors move.
inline constexpr std::size_t snapshot_parts_least = 4;
/// Heights and motions may fill the first two parts; every further one has room for entities.
inline constexpr std::size_t snapshot_parts_full_of_sectors = 2;
/// Blocks and their entities of which at least so many fit a part that has nothing else: a block counts as
/// one, as an entity does.
inline constexpr std::size_t snapshot_part_records_min = 54;
/// Runs of sector heights a snapshot may carry, and heights in all of them.
inline constexpr std::size_t snapshot_sector_runs_max = 16;
inline constexpr std::size_t snapshot_sector_heights_max = 96;
/// Motions of sectors that a snapshot may carry.
inline constexpr std::size_t snapshot_motions_max = 16;

/// Heights of sectors first .. first + heights.size() of one map.
struct HeightBlock {
  std::uint16_t map = 0;
  std::uint16_t first = 0;
  std::span<const WireHeights> heights;
};

/// What is one receiver's own in a snapshot.
struct SnapshotHead {
  std::uint32_t tick = 0;
  std::uint32_t applied_tick = 0;
  std::uint8_t world = 0;
  std::int8_t input_ahead = input_ahead_none;
  std::uint16_t refresh_ticks = 0;
  const OwnPlayer* own = nullptr;  ///< may be null: a client that only watches
};

/// What begin() found room for.
struct SnapshotPlan {
  std::size_t parts = 0;         ///< 1 to parts_max
  std::size_t blocks_taken = 0;  ///< the first so many of the blocks travel whole; the rest found no room
  EntityId resume{0};            ///< of the first that does not travel whole: the ids below this one do
};

/// WireHeights of a sector. Heights beyond +-32767 m are clamped.
WireHeights quantise_heights(const SectorHeights& heights);

/// Packs a snapshot into parts, each an unreliable message. All but the last are unreliable_bytes_max long,
/// filled up with zeros where no record fits any more, so that they go out as the segments of one send.
///
/// Blocks are taken in the order given, so the caller's order is the priority, and cut where a part ends:
/// each piece is a block of its own, for a smaller range of ids. So parts are full, and however large a block
/// is, as much of it travels as there is room for. A block's bytes are copied once, as they were coded, from
/// where they lie into the packet: no encoding per receiver.
/// Nothing is allocated once it has grown. One thread.
class SnapshotWriter {
 public:
  SnapshotWriter();
  ~SnapshotWriter();
  SnapshotWriter(SnapshotWriter&&) noexcept;
  SnapshotWriter& operator=(SnapshotWriter&&) noexcept;

  /// Lays out a snapshot. `parts_max` is the receiver's budget, 1 to snapshot_parts_max; the own player and
  /// the heights (at most snapshot_sector_heights_max, asserted) always fit into part 0. The motions (at most
  /// snapshot_motions_max, asserted) follow in part 0 and 1; with a budget of one part some may be left out.
  /// The blocks' bytes must live until the last part is written; all else is copied. Snapshots of one tick,
  /// whose heights and motions are the same, share what is coded of them.
  SnapshotPlan begin(const SnapshotHead& head, std::span<const CellBlock> blocks,
                     std::span<const HeightBlock> heights, std::size_t parts_max,
                     std::span<const WireMotion> motions = {});

  /// Bytes of a part of the snapshot begun. Precondition, as of write(): part < plan.parts.
  std::size_t part_bytes(std::size_t part) const;

  /// Writes a part. @param out  exactly part_bytes(part)
  void write(std::size_t part, std::span<std::uint8_t> out) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar
