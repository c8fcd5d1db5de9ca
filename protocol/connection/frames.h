#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <variant>

#include "protocol/connection/ack_ranges.h"
#include "protocol/connection/close_reason.h"
#include "protocol/connection/streams.h"
#include "protocol/secure/packet_protection.h"

// The frames in a packet's plaintext; WIRE.md draws each. Numbers are varints: LEB128 in its shortest
// form, at most 2^62 - 1. Reading and writing never allocate.

namespace ashlar {

/// What a sealed packet holds at most, and where in the packet it begins.
inline constexpr std::size_t plaintext_bytes_max = secure::sealed_plaintext_bytes_max;
inline constexpr std::size_t plaintext_begin = secure::sealed_header_bytes;

/// Frames in a packet, at most, padding aside: what one packet can cost is bounded by it.
inline constexpr std::size_t frames_max = 40;

/// An unreliable message lies at a multiple of 8 from its packet's first byte, header included.
inline constexpr std::size_t unreliable_alignment = 8;

inline constexpr std::uint64_t varint_max = (1ull << 62) - 1;

/// First byte of a frame.
enum class FrameType : std::uint8_t {
  padding = 0,
  ping = 1,
  ack = 2,
  credit = 3,
  stream_reset = 4,
  path_challenge = 5,
  path_response = 6,
  close = 7,
  unreliable = 8,
  stream = 16,  ///< plus the stream's number, to 20
};

struct PingFrame {};
/// Which packets arrived. Ranges newest first, one at least, neither overlapping nor touching. One a packet,
/// at most: each costs a walk over all packets that it names.
struct AckFrame {
  std::uint64_t delay_us = 0;  ///< how long the newest had arrived when this was sent
  std::array<AckRange, AckRanges::ranges_max> ranges;
  std::size_t range_count = 0;
};
/// The sender may send the stream's bytes below `limit`. A lower limit than before is an old one.
struct CreditFrame {
  StreamId stream{};
  std::uint64_t limit = 0;
};
/// Nothing of the stream below `offset` will come any more; a message begins there.
struct StreamResetFrame {
  StreamId stream{};
  std::uint64_t offset = 0;
};
struct PathChallengeFrame {
  std::uint64_t data = 0;
};
struct PathResponseFrame {
  std::uint64_t data = 0;
};
struct CloseFrame {
  CloseReason reason = CloseReason::none;
  std::string_view text;  ///< printable, at most close_text_bytes_max; into the packet
};
/// Always a packet's last frame. Into the packet.
struct UnreliableFrame {
  std::span<const std::uint8_t> message;
};
/// Bytes of a stream from `offset` on, one at least. Into the packet.
struct StreamFrame {
  StreamId stream{};
  std::uint64_t offset = 0;
  std::span<const std::uint8_t> bytes;
};

using Frame = std::variant<PingFrame, AckFrame, CreditFrame, StreamResetFrame, PathChallengeFrame,
                           PathResponseFrame, CloseFrame, UnreliableFrame, StreamFrame>;

/// Takes a plaintext apart, frame by frame; padding is skipped. Safe with any bytes.
class FrameReader {
 public:
  explicit FrameReader(std::span<const std::uint8_t> plaintext) : bytes_(plaintext) {}
  /// Puts the next frame in `frame`. @return false: the end, or bytes that are no frame (see malformed()),
  /// behind which there is nothing more
  bool next(Frame& frame);
  bool malformed() const { return malformed_; }

 private:
  bool read(std::uint8_t type, Frame& frame);
  bool read_ack(AckFrame& ack);
  bool read_close(CloseFrame& close);
  std::uint8_t u8();
  std::uint64_t u64();
  std::uint64_t varint();
  std::span<const std::uint8_t> take(std::uint64_t count);
  std::size_t left() const { return bytes_.size() - at_; }

  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0, frames_ = 0, acks_ = 0;
  bool malformed_ = false;
};

/// Lays frames into a plaintext. Each call writes a whole frame and says true, or nothing and says false when
/// it does not fit.
class FrameWriter {
 public:
  explicit FrameWriter(std::span<std::uint8_t> plaintext) : bytes_(plaintext) {}
  std::size_t size() const { return at_; }
  std::size_t left() const { return bytes_.size() - at_; }

  /// Goes on behind bytes that are written already. Precondition: count <= left().
  void skip(std::size_t count) { at_ += count; }
  /// Padding up to that size. Precondition: there is room.
  void pad_to(std::size_t size) {
    while (at_ < size) type(FrameType::padding);
  }

  /// Adds a frame that only asks for an acknowledgement. @return false: no room
  bool ping();
  /// As many of the ranges, newest first, as fit in `bytes_max`. @return how many; 0: nothing was written
  std::size_t ack(std::span<const AckRange> ranges, std::uint64_t delay_us, std::size_t bytes_max);
  bool credit(const CreditFrame& frame);
  bool stream_reset(const StreamResetFrame& frame);
  bool path_challenge(std::uint64_t data);
  bool path_response(std::uint64_t data);
  /// The text is cut to what fits.
  bool close(CloseReason reason, std::string_view text);
  /// Room for stream bytes in a frame at this offset: 0 when none.
  std::size_t stream_room(std::uint64_t offset) const;
  /// The frame's head; the caller fills the span, `count` bytes. Precondition: 1 <= count <= stream_room().
  std::span<std::uint8_t> stream(StreamId stream, std::uint64_t offset, std::size_t count);
  /// The message becomes the rest of the packet: nothing can follow it.
  bool unreliable(std::span<const std::uint8_t> message);

 private:
  void put(std::uint64_t value);
  void put_u64(std::uint64_t value);
  void type(FrameType value, std::size_t plus = 0) {
    bytes_[at_++] = static_cast<std::uint8_t>(static_cast<std::size_t>(value) + plus);
  }
  std::span<std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

/// The longest unreliable message: beside it there is always room for an acknowledgement of a few ranges.
static_assert(22 + unreliable_bytes_max <= plaintext_bytes_max);  // 22 lies at byte 32 of the packet

}  // namespace ashlar
