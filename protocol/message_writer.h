#pragma once
#include <cstdint>
#include <memory>
#include <span>

#include "protocol/messages.h"
#include "protocol/packet.h"

namespace ashlar {

/// Turns messages into whole packets, header included, ready for a DatagramBatch.
///
/// One builder is used again and again: nothing is allocated once it has grown to a packet's size. The bytes
/// returned are valid until the next call. Values beyond the bounds in messages.h are our own bug: asserted.
/// Snapshots have a writer of their own, snapshot_writer.h. One thread.
class MessageWriter {
 public:
  MessageWriter();
  ~MessageWriter();
  MessageWriter(MessageWriter&&) noexcept;
  MessageWriter& operator=(MessageWriter&&) noexcept;

  /// The header goes out as it is given, sealed (packet.h). Hello is padded with zeros to datagram_bytes_max,
  /// Ping to ping_bytes.
  std::span<const std::uint8_t> write(const PacketHeader& header, const Hello& message);
  std::span<const std::uint8_t> write(const PacketHeader& header, const Join& message);
  std::span<const std::uint8_t> write(const PacketHeader& header, const Input& message);
  std::span<const std::uint8_t> write(const PacketHeader& header, const Chat& message);
  std::span<const std::uint8_t> write(const PacketHeader& header, const Leave& message);
  std::span<const std::uint8_t> write(const PacketHeader& header, const Ping& message);

  /// Precondition: it fits a datagram (bytes_of), as it does with any maps and message and few props.
  std::span<const std::uint8_t> write(const PacketHeader& header, const Welcome& message);
  /// How large the welcome's packet would be, so that whoever makes a world with many props can tell.
  std::size_t bytes_of(const Welcome& message);
  std::span<const std::uint8_t> write(const PacketHeader& header, const Refuse& message);
  std::span<const std::uint8_t> write(const PacketHeader& header, const ChatLine& message);
  std::span<const std::uint8_t> write(const PacketHeader& header, const Goodbye& message);
  std::span<const std::uint8_t> write(const PacketHeader& header, const Pong& message);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar
