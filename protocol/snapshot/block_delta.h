#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/messages.h"
#include "protocol/snapshot/field_delta.h"
#include "protocol/snapshot/moving_record.h"

// A block of a packed snapshot: some entities of one cell at a tick, told by what has changed since a tick
// that the receiver holds, its base, or whole. Readable with the base and nothing else; WIRE.md draws its
// bits.

namespace ashlar {

/// Ticks back to a base, at most.
inline constexpr std::uint32_t base_age_max = 255;
/// Bytes of a coded block at most: told plainly, it takes less.
inline constexpr std::size_t coded_block_bytes_max = 1100;

/// What a block holds: entities of one cell, by ascending id.
struct BlockContent {
  CellCoord cell;
  std::span<const MovingRecord> entities;
  /// By entity, where the registry has fields for everybody; there are block_entities_with_fields_max of them
  /// at most then.
  std::span<const FieldValues> fields{};
  const ReplicationRegistry* registry = nullptr;  ///< null: kinds have no added fields
  /// At which players run, in steps of velocity, below 2^pace_bits: who does so is told in few bits.
  std::int32_t pace = usual_pace_steps;
};

/// What differs between two codings of the same content.
struct BlockBase {
  std::uint32_t age = 0;                   ///< ticks since the base, 1 to base_age_max; 0: no base
  std::span<const MovingRecord> entities;  ///< as they were then, of the same cell
  /// Nothing changed between the base and the snapshot before this one.
  bool quiet = false;
  std::span<const FieldValues> fields{};  ///< by entity, where the registry has fields for everybody
  std::uint32_t tick = 0;                 ///< of what is told against it
};

/// Codes a block; plainly where it would be longer than coded_block_bytes_max. Cost: 100 to 200 ns an entity
/// that moves, 20 one that rests.
/// @param out  at least coded_block_bytes_max bytes; @return how many were written
std::size_t encode_block(const BlockContent& now, const BlockBase& base, std::uint32_t tick_rate_hz,
                         std::span<std::uint8_t> out);

/// What the bits of an entity in a block tell.
enum class BlockField : std::uint8_t { id, place, velocity, yaw, pitch, health, state, flags, kind };
inline constexpr std::size_t block_field_count = 9;

/// Is told what the bits of blocks were for, as they are read.
class BlockTally {
 public:
  virtual ~BlockTally() = default;
  /// Of the block itself: cell, counts, who is gone, how many are as foretold.
  virtual void frame(unsigned bits) = 0;
  virtual void field(EntityKind kind, BlockField field, unsigned bits) = 0;
  /// Its fields were told. @param whole  not by what changed
  virtual void entity(EntityKind kind, bool whole) = 0;
  /// A block was read to its end, and is one.
  virtual void block(CellCoord cell, std::size_t bytes) = 0;
};

/// A block that was read.
struct DecodedBlock {
  CellCoord cell;  ///< of a block without a base; else the base's
  bool quiet = false;
  bool same_members = false;           ///< as in the base; false: nobody looked, or there is none
  std::vector<MovingRecord> entities;  ///< by ascending id, at most block_entities_max
  std::vector<FieldValues> fields;     ///< by entity; empty without a registry with fields for everybody
};

/// Reads a block's bytes, from anywhere. False when they are not a block against this base: cells outside of
/// the world, ids 0 or not ascending or twice, pitch beyond a quarter, places outside of the cell, more
/// entities than a block has, bytes that no writer of the same decisions writes. What was cut may be another
/// block: its length and that it is whole is its packet's to say.
/// @param base      with the age that the snapshot names; quiet is not looked at
/// @param registry  what the world's game adds to kinds; null: nothing
/// @param tally     null: nobody asks, and nothing is counted
bool decode_block(std::span<const std::uint8_t> bytes, CellCoord base_cell, const BlockBase& base,
                  std::uint32_t tick_rate_hz, DecodedBlock& out,
                  const ReplicationRegistry* registry = nullptr, BlockTally* tally = nullptr);

}  // namespace ashlar
