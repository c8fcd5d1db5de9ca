#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "protocol/connection/byte_ring.h"
#include "protocol/connection/close_reason.h"
#include "protocol/connection/intervals.h"
#include "protocol/connection/send_stream.h"
#include "protocol/connection/streams.h"

namespace ashlar {

/// What came of bytes given to a receiving stream.
enum class StreamAccept : std::uint8_t {
  taken,         ///< or held already
  scattered,     ///< not taken: too many gaps are open; must not be acknowledged, so that they come again
  flow_control,  ///< beyond what the peer was allowed: it is broken or hostile
  bad_message,   ///< a message of length 0, or longer than the stream or this end allows
};

/// The receiving half of a stream: puts bytes in order and cuts them into messages. Holds at most its window.
/// The peer may send a window's bytes ahead of what the application has taken; who takes nothing, gets
/// nothing more.
class ReceiveStream {
 public:
  /// Gaps that may be open at once.
  static constexpr std::size_t gaps_max = 1024;

  /// Precondition: window_bytes >= first_credit_bytes.
  ReceiveStream(StreamId stream, std::uint32_t window_bytes);

  /// Any bytes at any offset. What is held already stays as it is, whatever comes for it later.
  StreamAccept accept(std::uint64_t offset, std::span<const std::uint8_t> bytes);
  /// All below the offset is void, messages that were not taken yet included. An old one changes nothing.
  StreamAccept reset(std::uint64_t offset);

  /// Puts the next message in `message` (8-byte aligned, its memory reused). @return false: none is whole
  bool take(std::vector<std::uint8_t>& message) {
    return contiguous_ > ring_.base() && take_whole(message);  // mostly there is nothing
  }

  /// Whether the peer should hear of a higher limit now: half the window was taken since it last did, or its
  /// message needs more, or it was never told, or that was lost.
  bool credit_due() const;
  /// The limit to tell; from now on it holds.
  std::uint64_t grant();
  void credit_lost(std::uint64_t limit) { credit_lost_ = credit_lost_ || limit == limit_; }
  std::uint64_t credit_limit() const { return limit_; }

  /// Bytes held that the application has not taken.
  std::uint64_t held_bytes() const { return contiguous_ - ring_.base() + scattered_.bytes(); }
  std::size_t memory_bytes() const { return ring_.memory_bytes() + scattered_.memory_bytes(); }

 private:
  bool take_whole(std::vector<std::uint8_t>& message);
  /// Length of the message at the base, when it is known.
  std::optional<std::uint32_t> head_length() const;
  bool head_is_bad() const;

  StreamId stream_;
  std::uint32_t window_bytes_;
  bool credit_lost_ = true;  // the first window is told at once
  std::uint64_t limit_ = first_credit_bytes;
  std::uint64_t contiguous_ = 0;  // all below has come
  ByteRing ring_;                 // its base: all below was taken
  IntervalSet scattered_;         // what has come above it
};

}  // namespace ashlar
