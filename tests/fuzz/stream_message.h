#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "protocol/connection/frames.h"
#include "protocol/connection/streams.h"

namespace ashlar::fuzz {

/// A message on a stream, whole and in its place, as the plaintext of a packet.
/// @param offset  of the stream; behind the message afterwards
/// @return empty when it does not fit into one packet
inline std::span<const std::uint8_t> stream_message(
    StreamId stream, std::uint64_t& offset, std::span<const std::uint8_t> message,
    std::array<std::uint8_t, plaintext_bytes_max>& plaintext) {
  FrameWriter writer(plaintext);
  const std::size_t size = message_prefix_bytes + message.size();
  if (message.empty() || size > writer.stream_room(offset)) return {};
  const auto bytes = writer.stream(stream, offset, size);
  for (std::size_t i = 0; i < message_prefix_bytes; ++i)
    bytes[i] = static_cast<std::uint8_t>(message.size() >> (8 * i));
  std::ranges::copy(message, bytes.begin() + message_prefix_bytes);
  offset += size;
  return std::span(plaintext).first(writer.size());
}

}  // namespace ashlar::fuzz
