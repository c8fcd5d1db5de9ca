#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "protocol/messages.h"

namespace ashlar {

/// Turns messages into bytes, for a stream of a Connection, its unreliable messages or a handshake's finish.
///
/// One builder is used again and again: nothing is allocated once it has grown. The bytes returned are valid
/// until the next call, and 8-byte aligned. Values beyond the bounds in messages.h are our own bug: asserted.
/// Snapshots have writers of their own, snapshot/plain_part.h and packed_part.h. One thread.
class MessageWriter {
 public:
  MessageWriter();
  ~MessageWriter();
  MessageWriter(MessageWriter&&) noexcept;
  MessageWriter& operator=(MessageWriter&&) noexcept;

  /// At most hello_bytes_max, whatever it holds.
  std::span<const std::uint8_t> write(const Hello& message);
  std::span<const std::uint8_t> write(const Join& message);
  /// At most unreliable_bytes_max.
  std::span<const std::uint8_t> write(const Input& message);
  std::span<const std::uint8_t> write(const Chat& message);

  /// At most message_bytes_max.
  std::span<const std::uint8_t> write(const Welcome& message);
  std::span<const std::uint8_t> write(const ChatLine& message);

  /// Messages of streams, without a packet around them.
  std::span<const std::uint8_t> write(const ContentRequest& message);
  std::span<const std::uint8_t> write(const ContentPart& message);  ///< copies the part's bytes
  std::span<const std::uint8_t> write(const ContentRefused& message);
  std::span<const std::uint8_t> write(const Acts& message);
  std::span<const std::uint8_t> write(const ActAnswers& message);
  std::span<const std::uint8_t> write(const Saved& message);
  std::span<const std::uint8_t> write(const BlockKinds& message);
  std::span<const std::uint8_t> write(const Fight& message);
  std::span<const std::uint8_t> write(const InventoryChange& message);
  std::span<const std::uint8_t> write(const HeldByBlock& message);
  std::span<const std::uint8_t> write(const GameCallMessage& message);
  std::span<const std::uint8_t> write(const WeaponKinds& message);
  std::span<const std::uint8_t> write(const MonsterShows& message);
  std::span<const std::uint8_t> write(const Carried& message);
  std::span<const std::uint8_t> write(const Score& message);
  std::span<const std::uint8_t> write(const ReplicatedKinds& message);
  std::span<const std::uint8_t> write(const GameMessage& message);
  std::span<const std::uint8_t> write(const GroundChunk& message);  ///< copies its bytes and changes
  std::span<const std::uint8_t> write(const GroundGone& message);
  std::span<const std::uint8_t> write(const BlockEdits& message);  ///< at most 16.5 KB: 4 bytes a block

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar
