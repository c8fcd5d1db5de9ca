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
/// acknowledgements to seem older gets less: its path looks congested, and its snapshots find no base.
/// From the same acknowledgements follows of which two states a picture was made
/// (PlayerCommand::told_before). Value, 1.8 KiB, no allocation; the Host's thread.
class PictureLimit {
 public:
  /// Pictures are behind the newest snapshot that is there by its jitter: as far as the ages tell that
  /// snapshots had when they were acknowledged, and so many ticks; as long as few were, and in any case, no
  /// more than slack_s behind the newest that was. What snapshots are apart, as some are lost or go out
  /// seldom, comes on top: a picture is between two of them.
  static constexpr double slack_s = 0.1;
  static constexpr std::uint32_t margin_ticks = 1;
  /// So many ages count, those of some seconds, and of them the one that in_time_share do not exceed: as many
  /// as pictures wait for (client_sim/client/others.h).
  static constexpr std::size_t ages_max = 256, ages_least = 32;
  static constexpr double in_time_share = 0.94;
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
    if (!fate.acked || sent.tick == 0 || sent.sequence != fate.sequence) return;
    note_held(sent.tick);
    if (sent.tick <= held_tick_) return;
    note_gap(held_tick_ == 0 ? 0 : sent.tick - held_tick_);
    held_tick_ = sent.tick;
    note_age(sent_tick_ - sent.tick);
  }
  /// Another world: nothing of it was sent.
  void reset() { *this = PictureLimit{}; }

  /// The claim of a command that arrives now, brought within the bounds. Not known stays not known.
  TickId believed(TickId seen, std::uint32_t tick_rate_hz) const {
    if (seen == TickId{0} || sent_tick_ == 0) return TickId{0};
    const auto slack = static_cast<std::uint32_t>(slack_s * tick_rate_hz + 0.999);
    const auto before = [](std::uint32_t tick, std::uint32_t by) { return tick > by ? tick - by : 1; };
    std::uint32_t oldest = before(held_tick_, slack + gap());
    if (age_count_ >= ages_least) oldest = std::max(oldest, before(sent_tick_, age_ + gap() + margin_ticks));
    return TickId{std::min(std::max(number(seen), oldest), sent_tick_)};
  }

  /// Completes a command whose claim is believed: the states that its picture was made of, as far as they are
  /// acknowledged. One that was told makes a picture of its own. Cost: 1 ns a snapshot that is newer.
  void add_told(PlayerCommand& command) const {
    command.told_before = 0, command.told_after = 0;
    const std::uint32_t seen = number(command.seen);
    std::size_t newer = 0;  // of those that it holds
    while (newer < held_count_ && held(newer) > seen) ++newer;
    if (seen == 0 || newer == held_count_ || held(newer) == seen) return;
    // Beyond the newest it goes on as it went from the one before.
    const std::size_t from = newer == 0 ? 1 : newer;
    if (from >= held_count_) return;
    const std::uint32_t before = seen - held(from);
    const auto after = static_cast<std::int32_t>(held(from - 1) - seen);
    if (before > 255 || after > 127 || after < -128) return;  // older than any shot is judged by
    command.told_before = static_cast<std::uint8_t>(before);
    command.told_after = static_cast<std::int8_t>(after);
  }

 private:
  struct Sent {
    std::uint64_t sequence = 0;
    std::uint32_t tick = 0;  // 0: none
  };
  static constexpr std::uint32_t age_most = 63;  // older ones than any shot is judged by
  void note_age(std::uint32_t ticks) {
    const auto age = static_cast<std::uint8_t>(std::min(ticks, age_most));
    if (age_count_ == ages_max) {
      --ages_alike_[ages_[age_at_]];
      if (ages_[age_at_] >= age_) --no_younger_;
    }
    ages_[age_at_] = age;
    age_at_ = (age_at_ + 1) % ages_max;
    age_count_ = std::min(age_count_ + 1, ages_max);
    ++ages_alike_[age];
    if (age >= age_) ++no_younger_;
    // The oldest that more than the late ones reach: it moves by a step or two.
    const auto late = static_cast<std::size_t>((1 - in_time_share) * static_cast<double>(age_count_));
    while (no_younger_ <= late) no_younger_ += ages_alike_[--age_];
    while (no_younger_ - ages_alike_[age_] > late) no_younger_ -= ages_alike_[age_++];
  }
  /// What snapshots are apart beyond a tick, which is as near as they come.
  std::uint32_t gap() const { return second_ > 0 ? second_ - 1u : 0; }
  void note_gap(std::uint32_t ticks) {
    const auto gap = static_cast<std::uint8_t>(std::min<std::uint32_t>(ticks, 255));
    const std::uint8_t old = gaps_[gap_at_];
    gaps_[gap_at_] = gap;
    gap_at_ = (gap_at_ + 1) % gaps_max;
    // What is below the second widest changes nothing, and most are.
    if (old >= second_ || gap > second_) second_ = second_widest();
  }
  /// Newest first.
  std::uint32_t held(std::size_t i) const { return held_[(held_at_ + held_.size() - i) % held_.size()]; }
  /// They nearly always come in order.
  void note_held(std::uint32_t tick) {
    std::size_t newer = 0;
    while (newer < held_count_ && held(newer) > tick) ++newer;
    if (newer == held_.size() || (newer < held_count_ && held(newer) == tick)) return;
    held_at_ = (held_at_ + 1) % held_.size();
    held_count_ = std::min(held_count_ + 1, held_.size());
    for (std::size_t i = 0; i < newer; ++i) held_[(held_at_ + held_.size() - i) % held_.size()] = held(i + 1);
    held_[(held_at_ + held_.size() - newer) % held_.size()] = tick;
  }
  std::uint8_t second_widest() const {
    std::uint8_t widest = 0, second = 0;
    for (const std::uint8_t gap : gaps_) {
      second = std::max(second, std::min(widest, gap));
      widest = std::max(widest, gap);
    }
    return second;
  }

  std::array<Sent, 64> sent_{};                // by sequence modulo
  std::array<std::uint8_t, gaps_max> gaps_{};  // ticks from one acknowledged snapshot to the next
  std::size_t gap_at_ = 0;
  std::uint8_t second_ = 0;                    // widest of gaps_
  std::array<std::uint8_t, ages_max> ages_{};  // a ring: how many ticks newer ones were under way
  std::array<std::uint16_t, age_most + 1> ages_alike_{};
  std::size_t age_at_ = 0, age_count_ = 0;
  std::uint32_t age_ = 0;       // of in_time_share
  std::size_t no_younger_ = 0;  // of ages_: those of age_ or more
  std::uint32_t sent_tick_ = 0, held_tick_ = 0;
  std::array<std::uint32_t, 64> held_{};  // ticks of acknowledged snapshots, ascending, a ring
  std::size_t held_at_ = 0, held_count_ = 0;
};

}  // namespace ashlar::server
