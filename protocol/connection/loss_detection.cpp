#include "protocol/connection/loss_detection.h"

#include <algorithm>
#include <span>

#include "world/math/assert.h"

namespace ashlar {

void RoundTrip::sample(Micros now, Micros rtt) {
  rtt = std::max(rtt, Micros{1});
  latest_ = rtt;
  if (samples_++ == 0) {
    smoothed_ = rtt, variation_ = rtt / 2;
    min_since_ = now;
  } else {
    const Micros off = smoothed_ > rtt ? smoothed_ - rtt : rtt - smoothed_;
    variation_ = (3 * variation_ + off) / 4;
    smoothed_ = (7 * smoothed_ + rtt) / 8;
  }
  if (now - min_since_ >= minimum_kept) {
    min_before_ = min_;
    min_ = rtt, min_since_ = now;
  }
  min_ = std::min(min_, rtt);
}

void LossDetection::sent(SentPacket packet, std::span<const StreamChunk> chunks) {
  ASHLAR_ASSERT(!full());
  packet.first_chunk = chunks_.end();
  for (const StreamChunk& chunk : chunks) chunks_.push_back(chunk);
  if (packet.eliciting) {
    bytes_in_flight_ += packet.bytes;
    if (packet.unreliable) unreliable_bytes_in_flight_ += packet.bytes;
    ++eliciting_in_flight_;
    eliciting_sent_at_ = packet.sent_at;
  }
  packets_.push_back(packet);
  forget(packet.sent_at);
}

void LossDetection::pass_over(Micros now) {
  passed_over_[next_passed_over_] = next_sequence();
  next_passed_over_ = (next_passed_over_ + 1) % passed_over_.size();
  SentPacket nothing;
  nothing.sent_at = now;
  nothing.fate = SentPacket::Fate::passed_over;
  sent(nothing, {});
}

bool LossDetection::names_passed_over(const AckFrame& ack) const {
  const auto ranges = std::span(ack.ranges).first(ack.range_count);
  return std::ranges::any_of(passed_over_, [&](std::uint64_t s) {
    return s != 0 &&
           std::ranges::any_of(ranges, [&](const AckRange& r) { return r.first <= s && s <= r.last; });
  });
}

/// Packets that went from one on, itself included, before the newest that was acknowledged.
std::uint64_t LossDetection::sent_between(std::uint64_t sequence) const {
  const auto passed = std::ranges::count_if(
      passed_over_, [&](std::uint64_t s) { return s > sequence && s < largest_acked_; });
  return largest_acked_ - sequence - static_cast<std::uint64_t>(passed);
}

void LossDetection::settle(SentPacket& packet, SentPacket::Fate fate) {
  packet.fate = fate;
  if (!packet.eliciting) return;
  bytes_in_flight_ -= packet.bytes;
  if (packet.unreliable) unreliable_bytes_in_flight_ -= packet.bytes;
  --eliciting_in_flight_;
}

LossDetection::Acked LossDetection::acknowledge(const AckFrame& ack, Micros now, SentPacketFates& fates,
                                                bool of_path) {
  Acked result;
  if (ack.ranges[0].last >= next_sequence() || names_passed_over(ack)) {
    result.bad = true;
    return result;
  }
  const std::uint64_t newest = ack.ranges[0].last;
  largest_acked_ = std::max(largest_acked_, newest);
  for (std::size_t r = 0; r < ack.range_count; ++r) {
    const AckRange range = ack.ranges[r];
    if (range.last <= packets_.first()) break;  // forgotten, and so is all behind
    for (std::uint64_t s = range.last; s >= range.first && s > packets_.first(); --s) {
      SentPacket& packet = packets_[s - 1];
      if (packet.fate == SentPacket::Fate::acked) continue;
      const bool was_lost = packet.fate == SentPacket::Fate::lost;
      result.news = true;
      if (was_lost) {
        packet.fate = SentPacket::Fate::acked;
        note_late(s, now);
      } else {
        settle(packet, SentPacket::Fate::acked);
        if (packet.eliciting) result.bytes += packet.bytes;
        if (packet.eliciting) result.largest = std::max(result.largest, s);
        if (s == newest && packet.eliciting && of_path && !packet.elsewhere && s >= path_begins_) {
          const Micros whole = now - packet.sent_at;
          const Micros waited{static_cast<std::int64_t>(std::min<std::uint64_t>(ack.delay_us, 1u << 30))};
          result.rtt = waited < whole ? whole - waited : Micros{1};
        }
      }
      fates.packet_acked(s, packet, was_lost);
    }
  }
  if (result.rtt) round_trip_.sample(now, *result.rtt);
  if (result.news) probes_ = 0;
  return result;
}

void LossDetection::note_late(std::uint64_t sequence, Micros now) {
  ++late_;
  // It would not have been called lost, had we waited so long: the path reorders that much.
  packet_threshold_ = std::min(std::max(packet_threshold_, sent_between(sequence) + 1), packet_threshold_max);
  const Micros took = now - packets_[sequence - 1].sent_at;
  if (took > loss_delay() && loss_delay_eighths_ < 16) ++loss_delay_eighths_;
}

Micros LossDetection::loss_delay() const {
  const Micros round = std::max(round_trip_.smoothed(), round_trip_.latest());
  return std::max(round * loss_delay_eighths_ / 8, granularity);
}

std::uint64_t LossDetection::detect(Micros now, SentPacketFates& fates) {
  loss_at_ = Micros::max();
  std::uint64_t lost_bytes = 0;
  const Micros delay = loss_delay();
  first_unknown_ = std::max(first_unknown_, packets_.first() + 1);
  bool all_known = true;
  for (std::uint64_t s = first_unknown_; s < largest_acked_; ++s) {
    SentPacket& packet = packets_[s - 1];
    if (packet.fate != SentPacket::Fate::unknown) {
      if (all_known) first_unknown_ = s + 1;
      continue;
    }
    const bool overtaken = reliable_link_ || sent_between(s) >= packet_threshold_;
    if (overtaken || packet.sent_at + delay <= now) {
      settle(packet, SentPacket::Fate::lost);
      if (packet.eliciting) lost_bytes += packet.bytes;
      fates.packet_lost(s, packet);
      if (all_known) first_unknown_ = s + 1;
    } else {
      all_known = false;
      loss_at_ = std::min(loss_at_, packet.sent_at + delay);
    }
  }
  forget(now);
  return lost_bytes;
}

void LossDetection::abandon(SentPacketFates& fates) {
  for (std::uint64_t s = packets_.first() + 1; s < next_sequence(); ++s) {
    SentPacket& packet = packets_[s - 1];
    if (packet.fate != SentPacket::Fate::unknown) continue;
    settle(packet, SentPacket::Fate::lost);
    fates.packet_lost(s, packet);
  }
  loss_at_ = Micros::max();
  packets_.pop_until(packets_.end());
  chunks_.pop_until(chunks_.end());
}

void LossDetection::forget(Micros now) {
  // A lost one is kept while its acknowledgement may still be on its way. One that asked for none is kept as
  // long, so that its acknowledgement lets us forget what it told.
  const Micros kept = std::max(3 * probe_timeout(), Micros{500'000});
  while (!packets_.empty()) {
    const SentPacket& oldest = packets_[packets_.first()];
    const bool old = oldest.sent_at + kept <= now || 2 * packets_.size() > packets_max;
    const bool done = oldest.fate == SentPacket::Fate::acked ||
                      oldest.fate == SentPacket::Fate::passed_over ||
                      (old && (oldest.fate == SentPacket::Fate::lost || !oldest.eliciting));
    if (!done) break;
    const std::uint64_t behind = oldest.first_chunk + oldest.chunks + oldest.credits + oldest.resets;
    packets_.pop_front();
    chunks_.pop_until(behind);
  }
}

Micros LossDetection::probe_timeout() const {
  return round_trip_.smoothed() + std::max(4 * round_trip_.variation(), granularity) + ack_delay_max_;
}

Micros LossDetection::probe_at() const {
  if (reliable_link_ || eliciting_in_flight_ == 0) return Micros::max();
  const Micros once = probe_timeout();
  const Micros wait =
      std::min(once * (std::int64_t{1} << std::min(probes_, 10u)), std::max(once, probe_interval_max));
  return eliciting_sent_at_ + wait;
}

void LossDetection::probed(Micros now) {
  ++probes_;
  eliciting_sent_at_ = now;
}

std::uint64_t LossDetection::oldest_with_chunks() const {
  for (std::uint64_t s = std::max(first_unknown_, packets_.first() + 1); s < next_sequence(); ++s) {
    const SentPacket& packet = packets_[s - 1];
    if (packet.fate == SentPacket::Fate::unknown && packet.chunks + packet.credits + packet.resets > 0)
      return s;
  }
  return 0;
}

}  // namespace ashlar
