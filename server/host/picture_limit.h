#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "protocol/connection/connection.h"
#include "world/sim/told_ticks.h"

namespace ashlar::server {

/// What one client can have been looking at: nothing newer than it was sent, and nothing much older than what
/// it acknowledged by then. Commands claim to have seen a tick, and shots are judged by it
/// (world/sim/history.h), so a claim is believed within these bounds alone. A client that holds back its
/// acknowledgements to seem older gets less: its path looks congested, and its snapshots find no base.
/// Of which two states a picture was made (PlayerCommand::told_before) a command says itself, and is believed
/// unless an acknowledgement that its client had sent by then says otherwise; from the acknowledgements it
/// follows where the command does not say. Value, 2.6 KiB, no allocation; the Host's thread.
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
    sent_ticks_.note(tick);
  }
  /// Packets that are not known are ignored.
  /// @param now  the tick that will be played next
  void note_fate(const Connection::Fate& fate, std::uint32_t now) {
    const Sent& sent = sent_[fate.sequence % sent_.size()];
    if (!fate.acked || sent.tick == 0 || sent.sequence != fate.sequence) return;
    held_.note(sent.tick);
    learned_[sent.tick % learned_.size()] = {sent.tick, now};
    if (sent.tick <= held_tick_) return;
    note_gap(held_tick_ == 0 ? 0 : sent.tick - held_tick_);
    held_tick_ = sent.tick;
    note_age(sent_tick_ - sent.tick);
  }
  /// Asks the processor for what the next snapshot, or what became of one, will change: first for where that
  /// lies, then, a step later, for that. Changes nothing.
  void prefetch_heads() const {
    prefetch_until(&gap_at_, &gaps_);
    sent_ticks_.prefetch_head();
    held_.prefetch_head();
  }
  void prefetch_sent(std::uint64_t sequence) const {
    ashlar::prefetch(&sent_[sequence % sent_.size()], sizeof(Sent));
    sent_ticks_.prefetch_newest();
  }
  void prefetch_fate(std::uint64_t sequence) const {
    prefetch_sent(sequence);
    ashlar::prefetch(&ages_[age_at_], 1);
    ashlar::prefetch(ages_alike_.data(), sizeof ages_alike_);
    held_.prefetch_newest();
  }
  /// Another world: nothing of it was sent.
  void reset() { *this = PictureLimit{}; }

  /// What was lost comes again with the next command, or the one after that: of a command that is some ticks
  /// older than what it came with the picture was older, too. Nobody is believed more than so long of it.
  static constexpr double repeated_s_max = 0.05;

  /// The claim of a command that arrives now, brought within the bounds. Not known stays not known.
  /// @param ticks_ago  the command is so many ticks older than the newest that came with it
  /// @param now        the tick that will be played next
  TickId believed(TickId seen, std::uint32_t ticks_ago, std::uint32_t now, std::uint32_t tick_rate_hz) const {
    if (seen == TickId{0} || sent_tick_ == 0) return TickId{0};
    const auto slack = static_cast<std::uint32_t>(slack_s * tick_rate_hz + 0.999);
    const auto before = [](std::uint32_t tick, std::uint32_t by) { return tick > by ? tick - by : 1; };
    const auto ago = std::min(ticks_ago, static_cast<std::uint32_t>(repeated_s_max * tick_rate_hz + 0.999));
    std::uint32_t oldest = before(held_tick_, slack + gap() + ago);
    if (age_count_ >= ages_least) {
      // Snapshots that are apart are acknowledged as seldom: until the next acknowledgement one more may have
      // been sent, which ages do not tell of.
      const std::uint32_t usual = before(sent_by(before(now, ago)), age_ + gap() + margin_ticks);
      const std::uint32_t held = before(held_tick_, gap() + margin_ticks);
      const std::uint32_t apart = gap() > 0 ? gap() + 1 : 0;
      oldest = std::max({oldest, before(usual, apart), std::min(usual, held)});
    }
    return TickId{std::min(std::max(number(seen), oldest), sent_tick_)};
  }

  /// Brings what a command claims to have seen within the bounds, and completes it: the states that its
  /// picture was made of as it says, where that can be so, else as acknowledgements tell. Cost: 1 ns a
  /// snapshot that is newer.
  /// @param ticks_ago  the command is so many ticks older than the newest that came with it
  /// @param now        the tick that will be played next
  void complete(PlayerCommand& command, std::uint32_t ticks_ago, std::uint32_t now,
                std::uint32_t tick_rate_hz) const {
    const TickId seen = believed(command.seen, ticks_ago, now, tick_rate_hz);
    const bool possible = seen == command.seen && can_be_made_of(command, ticks_ago, now);
    command.seen = seen;
    if (possible) return;
    const ToldTicks::Pair told = held_.around(seen);
    command.told_before = told.before, command.told_after = told.after;
  }

 private:
  struct Sent {
    std::uint64_t sequence = 0;
    std::uint32_t tick = 0;  // 0: none
  };
  /// The newest snapshot that had been sent when a tick was to be played next.
  std::uint32_t sent_by(std::uint32_t next) const {
    std::size_t i = 0;
    while (i + 1 < sent_ticks_.count() && sent_ticks_[i] >= next) ++i;
    return sent_ticks_[i];
  }
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
  /// Were both sent, and did the client hold nothing between them, or beyond them where it goes on?
  bool can_be_made_of(const PlayerCommand& command, std::uint32_t ticks_ago, std::uint32_t now) const {
    const std::int64_t seen = number(command.seen);
    const std::int64_t before = seen - command.told_before, after = seen + command.told_after;
    if (command.told_before == 0 || command.told_after == 0 || before <= 0 || after <= before) return false;
    const auto from = static_cast<std::uint32_t>(before), to = static_cast<std::uint32_t>(after);
    if (!sent_ticks_.has(from) || !sent_ticks_.has(to)) return false;
    for (std::size_t i = 0; i < held_.count() && held_[i] > from; ++i)
      if (held_[i] != to && (held_[i] < to || after < seen) && held_then(held_[i], ticks_ago, now))
        return false;
    return true;
  }
  /// Had the client acknowledged a snapshot before it gave a command? Of older commands than those that bring
  /// them, which are here as others were lost, acknowledgements may be younger; by a tick, as they travel
  /// alone, too.
  bool held_then(std::uint32_t tick, std::uint32_t ticks_ago, std::uint32_t now) const {
    const Learned& learned = learned_[tick % learned_.size()];
    if (learned.tick != tick || ticks_ago == 0) return true;
    return learned.at + ticks_ago + 1 <= now;
  }
  std::uint8_t second_widest() const {
    std::uint8_t widest = 0, second = 0;
    for (const std::uint8_t gap : gaps_) {
      second = std::max(second, std::min(widest, gap));
      widest = std::max(widest, gap);
    }
    return second;
  }

  std::size_t gap_at_ = 0, age_at_ = 0, age_count_ = 0;
  std::size_t no_younger_ = 0;  // of ages_: those of age_ or more
  std::uint32_t age_ = 0;       // of in_time_share
  std::uint32_t sent_tick_ = 0, held_tick_ = 0;
  std::uint8_t second_ = 0;                    // widest of gaps_
  std::array<std::uint8_t, gaps_max> gaps_{};  // ticks from one acknowledged snapshot to the next
  std::array<std::uint8_t, ages_max> ages_{};  // a ring: how many ticks newer ones were under way
  std::array<std::uint16_t, age_most + 1> ages_alike_{};
  std::array<Sent, 64> sent_{};  // by sequence modulo
  struct Learned {
    std::uint32_t tick = 0, at = 0;
  };
  ToldTicks held_, sent_ticks_;        // acknowledged snapshots, and all
  std::array<Learned, 64> learned_{};  // by tick modulo: when a snapshot was acknowledged
};

}  // namespace ashlar::server
