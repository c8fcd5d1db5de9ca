#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

#include "protocol/connection/frames.h"
#include "protocol/connection/grow_ring.h"

namespace ashlar {

using Micros = std::chrono::duration<std::int64_t, std::micro>;

/// Round-trip times, without the time that the peer says it waited.
/// Source: RFC 9002, section 5; the minimum is kept over the last one to two minutes, as paths
/// change, and a queue that others keep filled empties now and then.
class RoundTrip {
 public:
  static constexpr Micros first_guess{300'000};
  static constexpr Micros minimum_kept{60'000'000};

  /// Takes a measured round trip, the peer's own delay taken off.
  void sample(Micros now, Micros rtt);
  /// Was any round trip measured?
  bool known() const { return samples_ != 0; }
  /// Running mean (RFC 9002, 5.3).
  Micros smoothed() const { return smoothed_; }
  /// Running mean deviation (RFC 9002, 5.3).
  Micros variation() const { return variation_; }
  /// The last one measured.
  Micros latest() const { return latest_; }
  /// first_guess before the first sample.
  Micros minimum() const { return known() ? std::min(min_, min_before_) : first_guess; }
  std::uint64_t samples() const { return samples_; }

 private:
  Micros smoothed_ = first_guess, variation_ = first_guess / 2, latest_ = first_guess;
  Micros min_ = Micros::max(), min_before_ = Micros::max(), min_since_{0};
  std::uint64_t samples_ = 0;
};

/// Bytes of a stream that went in a packet.
struct StreamChunk {
  std::uint64_t offset = 0;
  std::uint32_t length = 0;
  StreamId stream{};
  friend bool operator==(const StreamChunk&, const StreamChunk&) = default;
};

/// What is remembered of a sent packet until its fate is known.
struct SentPacket {
  enum class Fate : std::uint8_t { unknown, acked, lost, passed_over };
  Micros sent_at{0};
  std::uint64_t told_largest = 0;  ///< the newest packet of the peer's that it acknowledged; 0: none
  std::uint64_t first_chunk = 0;   ///< of its chunks, in the order of sending
  std::uint16_t bytes = 0;         ///< on the wire
  std::uint8_t chunks = 0, credits = 0, resets = 0;  ///< in this order among the chunks
  Fate fate = Fate::unknown;
  bool eliciting = false;   ///< holds more than acknowledgements and padding: the peer must answer
  bool unreliable = false;  ///< holds an unreliable message
  bool elsewhere = false;   ///< went to an address that the peer may have: tells nothing of the path
};

/// Hears what became of packets; within a call of LossDetection. Chunks are those of the packet, credits and
/// resets as chunks of length 0 behind them.
class SentPacketFates {
 public:
  virtual void packet_acked(std::uint64_t sequence, const SentPacket& packet, bool was_lost) = 0;
  virtual void packet_lost(std::uint64_t sequence, const SentPacket& packet) = 0;

 protected:
  ~SentPacketFates() = default;
};

/// Which packets are on their way, and when each counts as lost.
///
/// A packet is lost when one sent later has been acknowledged, and it was sent `packet_threshold` packets or
/// 9/8 of a round trip before that one; both grow when a packet that was called lost turns up after all. When
/// nothing comes back for a probe timeout, doubling each time, the peer is asked for an answer. Who
/// acknowledges whatever it may have been sent would never see a loss, and get more than its path takes: now
/// and then a sequence is passed over, which nobody got. Source: RFC 9002, sections 6.1, 6.2 and appendix A;
/// sequences passed over: RFC 9000, section 21.4; growing thresholds: RFC 8985 (RACK), section 6.2.
class LossDetection {
 public:
  /// Packets whose fate is not known, and lost ones that may still turn up. At the limit nothing is sent.
  static constexpr std::size_t packets_max = 8192;
  static constexpr std::uint64_t packet_threshold_first = 3, packet_threshold_max = 128;
  static constexpr Micros granularity{1'000};
  /// Between probes, unless the timeout itself is longer: an outage is over this soon after it ends, and a
  /// session that keeps one packet in five is not taken for silent.
  static constexpr Micros probe_interval_max{250'000};

  /// @param reliable_link  nothing is lost or overtaken on the way: no timers, and what is passed over by an
  ///                       acknowledgement was dropped by the peer itself
  /// @param ack_delay_max  how long a peer may wait before it acknowledges
  LossDetection(bool reliable_link, Micros ack_delay_max)
      : reliable_link_(reliable_link), ack_delay_max_(ack_delay_max) {}

  /// Sequence of the packet that is sent next.
  std::uint64_t next_sequence() const { return packets_.end() + 1; }
  /// packets_max are open: nothing more may be sent until one's fate is known.
  bool full() const { return packets_.size() >= packets_max; }

  /// Notes a packet under next_sequence(). Precondition: not full().
  void sent(SentPacket packet, std::span<const StreamChunk> chunks);
  /// Passes over next_sequence(): a packet that never goes, so that who acknowledges it is known to
  /// acknowledge what it did not get. Precondition: not full().
  void pass_over(Micros now);
  /// Chunks, credits and resets of a packet that is remembered, in that order.
  const StreamChunk& chunk(const SentPacket& packet, std::size_t i) const {
    return chunks_[packet.first_chunk + i];
  }

  /// What one acknowledgement told.
  struct Acked {
    std::uint64_t bytes = 0;    ///< of eliciting packets, acknowledged for the first time
    std::uint64_t largest = 0;  ///< newest of them; 0: none
    std::optional<Micros> rtt;  ///< the newest packet acknowledged is among them
    bool news = false;          ///< names a packet for the first time, whatever was thought of it
    bool bad = false;           ///< names a packet that never went: nothing was changed
  };
  /// Reads an acknowledgement; older ones than before change what they name for the first time.
  /// @param of_path  it came from where the peer is. A round trip is told by that alone, and of a packet that
  ///                 went there: else it is of two ways, and who copies packets could make it any
  Acked acknowledge(const AckFrame& ack, Micros now, SentPacketFates& fates, bool of_path = true);

  /// Declares lost what is due. @return bytes of eliciting packets that were lost
  std::uint64_t detect(Micros now, SentPacketFates& fates);
  /// Everything whose fate is unknown is lost: the connection is over.
  void abandon(SentPacketFates& fates);

  /// When detect() has something to do; max: never.
  Micros loss_at() const { return loss_at_; }
  /// When a probe is due; max: never.
  Micros probe_at() const;
  /// A probe goes out: the next one waits twice as long.
  void probed(Micros now);
  std::uint32_t probes() const { return probes_; }  ///< since the peer last acknowledged anything new
  Micros probe_timeout() const;
  /// The oldest packet that is on its way and whose fate matters to a stream; 0: none.
  std::uint64_t oldest_with_chunks() const;
  const SentPacket& packet(std::uint64_t sequence) const { return packets_[sequence - 1]; }

  /// Of all packets that ask for an acknowledgement and whose fate is open.
  std::uint64_t bytes_in_flight() const { return bytes_in_flight_; }
  /// Of those, packets with an unreliable message.
  std::uint64_t unreliable_bytes_in_flight() const { return unreliable_bytes_in_flight_; }
  /// The path is another one: round trips are measured anew, by packets that are sent from now on.
  void new_path() { round_trip_ = RoundTrip{}, probes_ = 0, path_begins_ = next_sequence(); }

  /// The path's measured round trips.
  const RoundTrip& round_trip() const { return round_trip_; }
  /// Highest sequence that was acknowledged; 0: none.
  std::uint64_t largest_acked() const { return largest_acked_; }
  /// So many later packets acknowledged make one lost; grows where packets overtake.
  std::uint64_t packet_threshold() const { return packet_threshold_; }
  std::uint64_t late() const { return late_; }  ///< called lost, and acknowledged later
  /// Asks the processor for what the next packet's noting, or its acknowledgement, will need; changes
  /// nothing.
  void prefetch_packets(bool sending) const {
    if (sending)
      packets_.prefetch_ends();
    else
      packets_.prefetch_at(largest_acked_);
  }
  std::size_t memory_bytes() const { return packets_.memory_bytes() + chunks_.memory_bytes(); }

 private:
  static constexpr std::size_t passed_over_kept = 8;
  void settle(SentPacket& packet, SentPacket::Fate fate);
  bool names_passed_over(const AckFrame& ack) const;
  std::uint64_t sent_between(std::uint64_t sequence) const;
  void note_late(std::uint64_t sequence, Micros now);
  void forget(Micros now);
  Micros loss_delay() const;

  bool reliable_link_;
  Micros ack_delay_max_;
  RoundTrip round_trip_;
  GrowRing<SentPacket> packets_;  // sequence s at index s - 1
  GrowRing<StreamChunk> chunks_;
  std::uint64_t first_unknown_ = 1;  // all below have their fate
  std::uint64_t path_begins_ = 1;    // what was sent before went over another path
  std::uint64_t largest_acked_ = 0;
  std::array<std::uint64_t, passed_over_kept> passed_over_{};  // the last ones, a ring; 0: none
  std::size_t next_passed_over_ = 0;
  std::uint64_t bytes_in_flight_ = 0, unreliable_bytes_in_flight_ = 0, eliciting_in_flight_ = 0;
  Micros loss_at_ = Micros::max(), eliciting_sent_at_{0};
  std::uint32_t probes_ = 0;
  std::uint64_t packet_threshold_ = packet_threshold_first;
  std::int64_t loss_delay_eighths_ = 9;
  std::uint64_t late_ = 0;
};

}  // namespace ashlar
