#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "client_sim/client/client_tap.h"
#include "client_sim/client/packed_memory.h"
#include "client_sim/client/view.h"

namespace ashlar::client_sim {

/// What bytes on their way to a client, and from it, are for.
enum class ByteUse : std::uint8_t {
  seal,         ///< a packet's header and tag
  frames,       ///< acknowledgements, heads of frames, padding, and what was said on streams a second time
  streams,      ///< messages of streams
  head,         ///< of a snapshot's part
  own,          ///< the own player
  heights,      ///< of sectors
  motions,      ///< of sectors
  block_heads,  ///< numbers, lengths and bases of blocks, and blocks to forget
  blocks,       ///< what blocks say of entities
  fields,       ///< of owners and teams, by a game
  cues,         ///< what only shows: shots, hits, steps, doors
  inputs,       ///< commands, from the client
  seal_up,      ///< header and tag of the client's packets
  frames_up,    ///< what else is in them
};
inline constexpr std::size_t byte_use_count = 14;
std::string_view name(ByteUse use);

/// What blocks say of entities of one kind.
struct KindBytes {
  std::array<std::uint64_t, block_field_count> bits{};  ///< by BlockField
  std::uint64_t changes = 0;                            ///< times that one was told by what changed
  std::uint64_t wholes = 0;                             ///< times that one was told whole
  std::uint64_t all_bits() const;
};

/// Messages of streams of one kind.
struct MessageBytes {
  std::uint64_t count = 0, bytes = 0;
};

/// Sums up where the bytes of a session go: what they are for, of streams by message, and of blocks which
/// field of which kind of entity in which cell. Reads packed snapshots beside the client, with a memory of
/// its own. One thread.
class ByteMeter final : public ClientTap, private BlockTally {
 public:
  /// Another world: what was counted stays.
  /// @param snapshot_every_ticks  as the welcome says
  void begin_world(std::uint16_t tick_rate_hz, std::uint16_t snapshot_every_ticks);

  void welcomed(const Welcome& welcome, bool goes_on) override;
  void replicated(const std::shared_ptr<const ReplicationRegistry>& registry) override;
  void unreliable_in(std::span<const std::uint8_t> message) override;
  void stream_in(StreamId stream, std::string_view what, std::size_t bytes) override;
  void input_out(std::size_t bytes) override;
  /// What went over the wire in all: seals are of packets, and what nothing else accounts for is frames. Call
  /// once, at the end.
  void wire(std::uint64_t packets_in, std::uint64_t bytes_in, std::uint64_t packets_out,
            std::uint64_t bytes_out);
  /// Adds another client's.
  void merge(const ByteMeter& other);

  /// Sums, of whole bytes.
  std::uint64_t bytes(ByteUse use) const { return uses_[static_cast<std::size_t>(use)]; }
  std::uint64_t bytes_down() const;
  std::uint64_t bytes_up() const;
  std::uint64_t snapshots() const { return snapshots_; }  ///< parts numbered 0
  const std::map<EntityKind, KindBytes>& kinds() const { return kinds_; }
  /// Bits of blocks that no entity is to blame for: counts, runs and cells.
  std::uint64_t frame_bits() const { return frame_bits_; }
  /// By what they are named in the schema.
  const std::map<std::string_view, MessageBytes>& messages() const { return messages_; }
  const std::map<CellCoord, std::uint64_t>& cells() const { return cells_; }  ///< bytes of their blocks

 private:
  void add_plain(std::span<const std::uint8_t> message);
  void add(ByteUse use, std::uint64_t bytes) { uses_[static_cast<std::size_t>(use)] += bytes; }
  void frame(unsigned bits) override { frame_bits_ += bits; }
  void field(EntityKind kind, BlockField field, unsigned bits) override;
  void entity(EntityKind kind, bool whole) override;
  void block(CellCoord cell, std::size_t bytes) override { cells_[cell] += bytes; }

  PackedMemory memory_;
  View view_;
  std::array<std::uint64_t, byte_use_count> uses_{};
  std::map<EntityKind, KindBytes> kinds_;
  std::map<std::string_view, MessageBytes> messages_;
  std::map<CellCoord, std::uint64_t> cells_;
  std::uint64_t frame_bits_ = 0, snapshots_ = 0;
  std::uint16_t tick_rate_hz_ = 60, snapshot_every_ticks_ = 1;
};

}  // namespace ashlar::client_sim
