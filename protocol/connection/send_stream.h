#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/connection/byte_ring.h"
#include "protocol/connection/intervals.h"
#include "protocol/connection/streams.h"

namespace ashlar {

/// What the peer may be sent of a stream before it grants more. Both ends know it.
inline constexpr std::uint32_t first_credit_bytes = 4 * 1024;

/// The sending half of a stream: messages wait here until the peer has acknowledged every byte. It knows
/// nothing of packets or time: it is told which bytes arrived and which were lost, and says which go next,
/// lost ones first.
class SendStream {
 public:
  explicit SendStream(StreamId stream) : stream_(stream) {}

  /// Queues a message of 1 byte or more (asserted), or refuses it whole: too_long, queue_full.
  SendResult send(std::span<const std::uint8_t> message);

  /// The next bytes for a packet, at most `bytes_max`; nothing when all was sent or the peer's credit is
  /// spent. They count as on their way from then on.
  std::optional<Interval> next(std::size_t bytes_max);
  /// Offset at which next() would begin.
  std::optional<std::uint64_t> next_offset() const;
  /// Precondition: from next(), and not acknowledged since.
  void copy(Interval bytes, std::span<std::uint8_t> out) const;

  /// These bytes have arrived: they are forgotten.
  void acked(Interval bytes);
  /// @return how many of them go again: others arrived in another packet, or belong to no message any more
  std::uint64_t lost(Interval bytes);
  /// The peer's limit; a lower one than before is an old one.
  void credit(std::uint64_t limit);

  /// Gives up all that is queued, on its way or not. The peer is told where the next message begins: that
  /// frame goes before the stream's bytes in every packet until reset_acked().
  void reset();
  std::optional<std::uint64_t> reset_pending() const { return reset_; }
  /// Whether the reset has to go, though there may be no bytes to go with it.
  bool reset_due() const { return reset_ && reset_due_; }
  void reset_sent() { reset_due_ = false; }
  void reset_lost(std::uint64_t offset) { reset_due_ = reset_ && *reset_ == offset; }
  void reset_acked(std::uint64_t offset);

  /// Bytes that are not acknowledged, lengths of messages included; at most queue_bytes_max.
  std::uint64_t queued_bytes() const { return ring_.top() - ring_.base(); }
  /// Nothing waits: neither bytes that are not acknowledged nor a reset.
  bool idle() const { return queued_bytes() == 0 && !reset_; }
  bool blocked_by_credit() const { return lost_.empty() && sent_end_ < ring_.top() && sent_end_ >= credit_; }
  std::size_t memory_bytes() const {
    return ring_.memory_bytes() + acked_.memory_bytes() + lost_.memory_bytes();
  }

 private:
  StreamId stream_;
  bool reset_due_ = false;
  ByteRing ring_;             // what is not acknowledged, from its lowest byte on
  IntervalSet acked_, lost_;  // within [ring_.base(), sent_end_), disjoint from each other
  std::uint64_t sent_end_ = 0;
  std::uint64_t credit_ = first_credit_bytes;
  std::optional<std::uint64_t> reset_;
};

}  // namespace ashlar
