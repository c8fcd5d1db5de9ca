#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "protocol/datagram.h"
#include "protocol/messages.h"

namespace ashlar {

/// What an item costs at most beside its bytes, and a part beside all items but the own player.
inline constexpr std::size_t plain_item_bytes_max = 24;
inline constexpr std::size_t plain_part_fixed_bytes = 160;
inline constexpr std::size_t plain_part_room = unreliable_bytes_max - plain_part_fixed_bytes;

/// Writes one part of a plain snapshot, a FlatBuffer: the same items as a PackedPartWriter, of bytes that
/// plain_codec.h coded. What does not fit is refused and changes nothing. Nothing is allocated once it has
/// grown. One thread.
class PlainPartWriter {
 public:
  PlainPartWriter();
  ~PlainPartWriter();
  PlainPartWriter(PlainPartWriter&&) noexcept;
  PlainPartWriter& operator=(PlainPartWriter&&) noexcept;

  void begin(const PartHead& head);
  /// @return false: no room
  bool add_block(std::uint16_t number, std::uint32_t age, std::span<const std::uint8_t> bytes);
  bool add_gone(std::uint16_t number);
  bool add_moved(const MovedEntity& moved);
  /// Does all of that fit together?
  bool has_room(std::size_t moved, std::size_t block_bytes) const;
  /// @param bytes  empty: it is as it was `age` ticks ago
  bool add_own(std::uint32_t age, std::span<const std::uint8_t> bytes);
  bool add_heights(std::uint8_t map, std::uint16_t slice, std::uint32_t age,
                   std::span<const std::uint8_t> bytes);
  bool add_motion(const WireMotion& motion);
  bool add_fields(FieldAudience to, std::uint16_t number, std::span<const std::uint8_t> bytes);
  bool add_cues(std::span<const std::uint8_t> bytes);

  /// Makes the message: call it once, behind the last item.
  void set_part_count(std::size_t parts);
  /// Bytes of the message; before set_part_count() what they may come to.
  std::size_t size() const;
  /// The message; empty before set_part_count(). 8-byte aligned.
  std::span<const std::uint8_t> bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar
