#pragma once
#include <algorithm>
#include <cstdint>

#include "protocol/connection/loss_detection.h"

namespace ashlar {

/// Spreads packets over the round trip, so that a window's worth does not stand in the path's queue in front
/// of a snapshot. A bucket of tokens: streams wait until there are some; unreliable messages are paid from
/// it, too, but never wait, so it may be in debt.
class Pacer {
 public:
  /// What a caller who comes late may catch up with. Hosts poll every 1 to 2 ms, or once a tick.
  static constexpr Micros catch_up_max{20'000};
  static constexpr double burst_bytes = 2.0 * datagram_bytes_max;

  /// Earns what a rate gives since the last call, up to the burst. Time never goes back.
  void refill(Micros now, double rate_bytes_per_s) {
    rate_ = std::max(rate_bytes_per_s, 1.0);
    const Micros waited = std::clamp(now - refilled_at_, Micros{0}, catch_up_max);
    refilled_at_ = now;
    const double late = std::max(rate_ * static_cast<double>(waited.count()) * 1e-6, 0.0);
    // Never more than was earned since the last call, and a small burst.
    tokens_ = std::min(tokens_ + late, std::max(burst_bytes, late));
    tokens_ = std::max(tokens_, -rate_ * debt_s_max);
  }
  /// May a packet go now?
  bool may_send() const { return tokens_ > 0; }
  /// Pays for a packet that went; may run into debt by one packet.
  void spend(std::size_t bytes) { tokens_ -= static_cast<double>(bytes); }
  /// When may_send() turns true, as of the last refill.
  Micros ready_at() const {
    if (tokens_ > 0) return refilled_at_;
    return refilled_at_ + Micros{static_cast<std::int64_t>(-tokens_ / rate_ * 1e6) + 1};
  }

 private:
  static constexpr double debt_s_max = 0.05;
  double tokens_ = burst_bytes;
  double rate_ = 1.0;
  Micros refilled_at_{0};
};

}  // namespace ashlar
