#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/datagram.h"
#include "protocol/messages.h"
#include "world/sim/replication.h"

// A part of a packed snapshot: an unreliable message that is no FlatBuffer. A head, then items, each readable
// alone, in whatever order they were added.

namespace ashlar {

/// What a packed part begins with. FlatBuffers begin with an even byte: their root lies at a multiple of 4.
inline constexpr std::uint8_t packed_part_mark = 0x01;
/// Is an unreliable message a part of a packed snapshot?
inline bool is_packed_part(std::span<const std::uint8_t> message) {
  return !message.empty() && message[0] == packed_part_mark;
}

/// Bytes of the longest head, and what a block and an own player cost beside their bytes, at most.
inline constexpr std::size_t packed_head_bytes_max = 24;
inline constexpr std::size_t packed_item_bytes_max = 8;
inline constexpr std::size_t packed_part_room = unreliable_bytes_max - packed_head_bytes_max;

/// What an item is about.
enum class PackedItem : std::uint8_t {
  blocks = 1,
  gone = 2,
  own = 3,
  heights = 4,
  motion = 5,
  fields = 6,
  cues = 7,
  moved = 8,
  own_foreseen = 9
};

/// Writes one part. What does not fit is refused and changes nothing. One thread.
class PackedPartWriter {
 public:
  /// Begins a part; part_count may be set later by set_part_count().
  void begin(const PartHead& head);

  /// A block against a base `age` ticks back (0: whole). Those that follow one another share what names them,
  /// and their age where it is the same. @return false: no room
  bool add_block(std::uint16_t number, std::uint32_t age, std::span<const std::uint8_t> bytes);
  /// A block that the receiver shall forget.
  bool add_gone(std::uint16_t number);
  /// Somebody who is in another block than those told here.
  bool add_moved(const MovedEntity& moved);
  /// Does all of that fit together?
  bool has_room(std::size_t moved, std::size_t block_bytes) const;
  /// The own player (own_delta.h).
  /// @param foreseen  the base is what the receiver said to foresee `age` ticks back: with no bytes it is
  /// that
  bool add_own(std::uint32_t age, std::span<const std::uint8_t> bytes, bool foreseen = false);
  bool add_heights(std::uint8_t map, std::uint16_t slice, std::uint32_t age,
                   std::span<const std::uint8_t> bytes);
  bool add_motion(const WireMotion& motion);
  /// A group of entities whose fields only the receiver is told, whole (field_delta.h).
  /// @param to  owner or team; @param number  of the group among those
  bool add_fields(FieldAudience to, std::uint16_t number, std::span<const std::uint8_t> bytes);

  /// What only shows (cue_codec.h); at most cue_bytes_max bytes.
  bool add_cues(std::span<const std::uint8_t> bytes);

  void set_part_count(std::size_t parts) { bytes_[count_at_] = static_cast<std::uint8_t>(parts); }
  std::size_t size() const { return used_; }
  std::size_t room() const { return bytes_.size() - used_; }
  std::span<const std::uint8_t> bytes() const { return std::span(bytes_).first(used_); }

 private:
  void put(std::uint8_t byte) { bytes_[used_++] = byte; }
  void put_varint(std::uint32_t value);
  void put(std::span<const std::uint8_t> bytes);

  alignas(8) std::array<std::uint8_t, unreliable_bytes_max> bytes_{};
  std::size_t used_ = 0, head_bytes_ = 0, count_at_ = 0;
  // The list that further blocks or gone ones join; 0: none is open.
  PackedItem open_item_{};
  std::uint32_t open_age_ = 0;
  std::size_t open_count_at_ = 0;
};

/// One item of a part; its bytes lie in the part's.
struct PackedEntry {
  PackedItem item{};
  std::uint16_t number =
      0;          ///< of a block, of a slice of heights, or of a group of fields; whereto somebody moved
  EntityId id{};  ///< of who moved
  std::uint8_t map = 0;   ///< of heights
  FieldAudience to{};     ///< of a group of fields: owner or team
  std::uint32_t age = 0;  ///< of the base; 0: none
  std::span<const std::uint8_t> bytes;
  WireMotion motion;
};

/// Walks through a part that came from anywhere: nothing behind its bytes is read.
class PackedPartReader {
 public:
  /// Nothing when the head is cut short or says what no server says.
  static std::optional<PackedPartReader> open(std::span<const std::uint8_t> message);

  const PartHead& head() const { return head_; }
  /// The next item, until the one behind it is asked for. Null at the end, and when what follows is no item:
  /// then failed().
  const PackedEntry* next();
  bool failed() const { return failed_; }
  /// Behind what next() has read.
  std::size_t bytes_left() const { return rest_.size(); }

 private:
  std::uint8_t get();
  std::uint32_t get_varint();
  std::span<const std::uint8_t> get_bytes(std::size_t count);

  std::span<const std::uint8_t> rest_;
  PartHead head_;
  bool failed_ = false;
  PackedItem open_item_{};
  std::uint32_t open_age_ = 0, open_left_ = 0;
  PackedEntry entry_;  // the last one
};

}  // namespace ashlar
