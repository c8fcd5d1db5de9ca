#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <expected>

#include "protocol/drop_reason.h"
#include "protocol/packet.h"

namespace ashlar {

/// Which of the other side's packets were seen: drops duplicates and replays, and fills acknowledgements.
/// A sliding window of bits behind the highest sequence. 144 bytes, O(1) but for a jump ahead.
/// Source: the anti-replay window of RFC 6479 (blocks of bits cleared as the window moves on).
class SequenceWindow {
 public:
  static constexpr std::uint64_t width = 1024;

  /// Notes a sequence as seen, or says why it must be dropped: duplicate, or too_old when it lies `width` or
  /// more behind the highest.
  /// @param sequence  1 or more (decode_packet holds that)
  std::expected<void, DropReason> accept(std::uint64_t sequence);

  /// Highest sequence seen; 0: none.
  std::uint64_t highest() const { return highest_; }

  /// Fills ack and ack_bits of a header about to be sent.
  void fill(PacketHeader& header) const;

 private:
  bool seen(std::uint64_t sequence) const;
  void set(std::uint64_t sequence);

  std::uint64_t highest_ = 0;
  std::array<std::uint64_t, width / 64 + 1> bits_{};  // one word more than the window: see accept()
};

/// What was sent and when: turns acknowledgements into round trips and counts what arrived. 17 KiB, O(1).
class AckTracker {
 public:
  /// Packets that are remembered: a second's of the largest snapshots at 128 ticks a second, two at 60.
  static constexpr std::uint64_t width = 4096;
  using Micros = std::chrono::duration<std::int64_t, std::micro>;

  /// Hands out the next sequence, from 1.
  std::uint64_t next_sequence(Micros now);

  /// Newest sequence handed out; 0: none.
  std::uint64_t newest() const { return newest_; }

  /// What one header's acknowledgements told. A header speaks of 33 packets; where more are sent between two
  /// of them, some are never spoken of, and that says nothing about whether they arrived.
  struct Result {
    std::uint32_t newly_told = 0;   ///< packets spoken of for the first time, as arrived or not yet, 0 to 33
    std::uint32_t newly_acked = 0;  ///< packets acknowledged for the first time, 0 to 33
    bool has_rtt = false;           ///< the newest acknowledged packet was acknowledged for the first time
    Micros rtt{0};                  ///< includes the time the other side waited before it sent something
  };

  /// Reads a header's acknowledgements. bad_ack: it names a packet that was never sent.
  /// What it says of packets `width` or more behind the newest is ignored.
  std::expected<Result, DropReason> acknowledge(const PacketHeader& header, Micros now);

 private:
  using Bits = std::array<std::uint64_t, width / 64>;
  std::uint64_t newest_ = 0;
  std::array<std::uint32_t, width> sent_us_{};  // the low half: round trips of an hour are nobody's
  Bits told_{}, acked_{};
};

}  // namespace ashlar
