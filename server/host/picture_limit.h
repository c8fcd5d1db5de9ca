#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "protocol/connection/connection.h"
#include "world/sim/command.h"

namespace ashlar::server {

/// What one client can have been looking at: nothing newer than it was sent, and nothing much older than what
/// it acknowledged by then. Commands claim to have seen a tick, and shots are judged by it
/// (world/sim/history.h), so a claim is believed within these bounds alone. A client that holds back its
/// acknowledgements to seem older gets less: its path looks congested, and its snapshots find no base. Value,
/// 1.2 KiB, no allocation; the Host's thread.
class PictureLimit {
 public:
  /// Pictures are behind the newest snapshot that is there by its jitter: this much is believed of it. What
  /// snapshots are apart, as some are lost or go out seldom, comes on top: a picture is between two of them.
  static constexpr double slack_s = 0.1;
  /// Of so many acknowledged snapshots the second widest gap counts: a picture that waits for what is lost
  /// now and then would be behind by it, and one alone says nothing.
  static constexpr std::size_t gaps_max = 64;

  /// A snapshot of a tick began with this packet.
  void note_sent(std::uint64_t sequence, std::uint32_t tick) {
    sent_[sequence % sent_.size()] = {sequence, tick};
    sent_tick_ = tick;
  }
  /// Packets that are not known are ignored.
  void note_fate(const Connection::Fate& fate) {
    const Sent& sent = sent_[fate.sequence % sent_.size()];
    if (!fate.acked || sent.tick <= held_tick_ || sent.sequence != fate.sequence) return;
    const std::uint32_t gap = held_tick_ == 0 ? 0 : sent.tick - held_tick_;
    gaps_[gap_at_] = static_cast<std::uint8_t>(std::min<std::uint32_t>(gap, 255));
    gap_at_ = (gap_at_ + 1) % gaps_max;
    held_tick_ = sent.tick;
    gap_ = second_widest();
  }
  /// Another world: nothing of it was sent.
  void reset() { *this = PictureLimit{}; }

  /// The claim of a command that arrives now, brought within the bounds. Not known stays not known.
  TickId believed(TickId seen, std::uint32_t tick_rate_hz) const {
    if (seen == TickId{0} || sent_tick_ == 0) return TickId{0};
    const auto slack = static_cast<std::uint32_t>(slack_s * tick_rate_hz + 0.999);
    const std::uint32_t behind = slack + gap_;
    const std::uint32_t oldest = held_tick_ > behind ? held_tick_ - behind : 1;
    return TickId{std::min(std::max(number(seen), oldest), sent_tick_)};
  }

 private:
  struct Sent {
    std::uint64_t sequence = 0;
    std::uint32_t tick = 0;  // 0: none
  };
  std::uint32_t second_widest() const {
    std::uint32_t widest = 0, second = 0;
    for (const std::uint8_t gap : gaps_) {
      second = std::max(second, std::min<std::uint32_t>(widest, gap));
      widest = std::max<std::uint32_t>(widest, gap);
    }
    return second > 0 ? second - 1 : 0;  // one tick apart is as near as they come
  }

  std::array<Sent, 64> sent_{};                // by sequence modulo
  std::array<std::uint8_t, gaps_max> gaps_{};  // ticks from one acknowledged snapshot to the next
  std::size_t gap_at_ = 0;
  std::uint32_t gap_ = 0;
  std::uint32_t sent_tick_ = 0, held_tick_ = 0;
};

}  // namespace ashlar::server
