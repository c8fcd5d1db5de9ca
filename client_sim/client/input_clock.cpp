#include "client_sim/client/input_clock.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ashlar::client_sim {
namespace {

constexpr int slopes = 1024;           // of the period: the least one, and what all are counted in
constexpr int slope_max = 64;          // a sixteenth
constexpr int slope_settled_max = 16;  // once settled: 1.6 %
constexpr Micros settle_for{2'000'000};
constexpr int settled_ticks = 3;  // who is further off is not settled: a clock leapt, or the way changed
constexpr int dense_ticks = 15;   // of snapshots further apart one late command tells enough
constexpr int late_jump = 3;      // ticks short of the wish from which numbers are passed over
constexpr int early_hold = 8;     // ticks above it from which the clock waits
constexpr std::uint32_t stall_ticks = 8;
constexpr Micros seldom_called{100'000};
constexpr Micros long_tick{30'000};
constexpr int before_snapshot = 10;  // of a tick: how long before a snapshot comes the next command goes
// The least spare: where ticks are long, and of short ones a quarter.
constexpr Micros spare_least_long{12'000};
constexpr int spare_least_of_tick = 4;
constexpr Micros spare_added_long{20'000};  // to long ones, where commands come later than wished for
constexpr Micros spare_added_most{16'000};  // to short ones, in whole ticks
constexpr int spare_decay = 64;  // windows in which what jitter added to long ones goes, to a third
// And to short ones it goes by so much a snapshot: as one in a thousand tells of a command that waited for
// less than the wish, and of these as few are late.
constexpr Micros spare_forgotten{4};
constexpr int late_snapshots = 16;  // of so many the one that is latest does not count
constexpr int jitter_over = 4;      // windows
constexpr int window_snapshots_min = 4;
constexpr Micros window_over{500'000};
constexpr Micros early_over{250'000};
constexpr Micros pace_over{250'000};
constexpr std::int64_t pace_slowest = 32;  // times the plain period
// Farthest ahead that servers take a command, less one for the tick that is about to begin.
constexpr int reach_ticks = 62;
// A gap in the snapshots, longer than it should be by this, from which the server's tick alone tells where it
// is now.
constexpr Micros lost_sight{250'000};
constexpr Micros catch_up_for{250'000};
constexpr std::int64_t rtt_ticks_max = 1000;
constexpr Micros rtt_over{500'000};
// Of the first round trip no more is believed: the hello may have waited for the network or for the server.
constexpr Micros first_rtt_max{250'000};

/// Whole ticks that hold a way.
std::int64_t ticks_of(std::chrono::nanoseconds way, std::chrono::nanoseconds tick) {
  return std::clamp<std::int64_t>((way.count() + tick.count() - 1) / tick.count(), 0, rtt_ticks_max);
}

}  // namespace

void InputClock::reset(std::uint16_t tick_rate_hz, int lead_ticks, std::uint16_t snapshot_every_ticks) {
  *this = InputClock{};
  tick_rate_hz_ = tick_rate_hz;
  lead_ticks_ = lead_ticks;
  snapshot_every_ticks_ = snapshot_every_ticks;
  spare_wish_ = spare_least();
}

int InputClock::ahead_max() const {
  return std::min(std::clamp(tick_rate_hz_ / 2, 8, 32) + snapshot_every_ticks_ - 1,
                  reach_ticks - lead_ticks_);
}

InputClock::Nanos InputClock::period() const { return pace() + pace() * slope_ / slopes; }

bool InputClock::long_ticks() const { return plain_period() >= long_tick; }

InputClock::Nanos InputClock::spare_least() const {
  return long_ticks() ? Nanos{spare_least_long} : plain_period() / spare_least_of_tick;
}

/// The number that a command sent now should carry, as far as the server's tick and the round trip tell.
std::uint32_t InputClock::anchor() const {
  return snapshot_tick_ + static_cast<std::uint32_t>(ticks_of(rtt_, pace()) + lead_ticks_);
}

/// How long commands should wait beyond the wish for whole ticks. Where ticks are short a little more, so
/// that there and back it takes whole ones: then the next snapshot comes just behind a command, and the
/// picture that is made of it is no older than it must be.
InputClock::Nanos InputClock::spare_wanted() const {
  const Nanos tick = plain_period();
  if (long_ticks() || rtt_ == Micros{0}) return spare_wish_;
  return way_ticks_ * tick + tick / before_snapshot - Nanos{rtt_} - jitter_;
}

/// The whole ticks change only where that many are too few, or one less would do with a quarter to spare.
void InputClock::count_way() {
  const Nanos tick = plain_period(), way = Nanos{rtt_} + jitter_ + spare_wish_ - tick / before_snapshot;
  if (way > way_ticks_ * tick || way * 4 < (4 * way_ticks_ - 5) * tick) way_ticks_ = ticks_of(way, tick);
}

/// What the newest command should be and when the next one should go, if the newest snapshot came just now.
InputClock::Aim InputClock::aim(Micros now) const {
  if (rtt_ == Micros{0}) return {anchor(), now};
  const Nanos way = Nanos{rtt_} + spare_wanted();
  const std::int64_t ticks = ticks_of(way, pace());
  const std::int64_t ahead = ticks + lead_ticks_ - 1;
  return {snapshot_tick_ + static_cast<std::uint32_t>(ahead), now + std::max(ticks * pace() - way, Nanos{0})};
}

void InputClock::forget_window() {
  lead_min_ = 127, window_count_ = 0, short_count_ = 0;
  spare_min_ = Nanos::max(), spare_max_ = spare_second_ = Nanos::min();
}

void InputClock::skip_to(Micros now, std::uint32_t tick) {
  settled_at_ = now + settle_for;
  // Where our clock leapt back the next command is due when it shows that time again.
  due_ = std::min(due_, Nanos{now} + period());
  skipped_ += tick - tick_;
  tick_ = tick;
  blind_until_ = tick;
  slope_ = 0;
  forget_window();
}

void InputClock::take_round_trip(Micros now, Micros rtt) {
  if (rtt_ == Micros{0}) {
    rtt_before_ = rtt_now_ = std::min(rtt, first_rtt_max);
    rtt_begin_ = now;
  } else if (now - rtt_begin_ >= rtt_over) {
    // Half a second is counted from its first round trip: after a silence there is none of it yet.
    rtt_before_ = std::exchange(rtt_now_, rtt);
    rtt_begin_ = now;
  } else {
    rtt_now_ = std::min(rtt_now_, rtt);
  }
  rtt_ = std::max(Micros{1}, std::min(rtt_before_, rtt_now_));
  count_way();
}

void InputClock::start(Micros now, std::uint32_t snapshot_tick) {
  snapshot_tick_ = snapshot_tick;
  const Aim first = aim(now);
  tick_ = first.tick, due_ = first.due;
  settled_at_ = now + settle_for;
  running_ = true;
  blind_until_ = tick_;
  forget_pace(now, snapshot_tick);
}

void InputClock::resume(Micros now) {
  if (!running_) return;
  due_ = now;
  settled_at_ = now + settle_for;
  catch_up_until_ = now + catch_up_for;
  forget_pace(now, snapshot_tick_);
  forget_window();
}

void InputClock::forget_pace(Micros now, std::uint32_t snapshot_tick) {
  pace_begin_ = seen_at_ = now;
  pace_begin_tick_ = seen_tick_ = snapshot_tick;
  measured_ = Nanos{0};
}

void InputClock::measure_pace(Micros now, std::uint32_t snapshot_tick) {
  // Snapshots that waited for us, or in a stream behind a late one, come in a bunch: only what is known once
  // the bunch is over tells the pace.
  if (now > seen_at_ && seen_at_ - pace_begin_ >= pace_over && seen_tick_ > pace_begin_tick_) {
    const Nanos plain = plain_period();
    Nanos measured = Nanos{seen_at_ - pace_begin_} / (seen_tick_ - pace_begin_tick_);
    measured = measured * 8 < plain * 9 ? Nanos{0} : std::min(measured, plain * pace_slowest);
    pace_ = std::min(measured, measured_);
    measured_ = measured;
    pace_begin_ = seen_at_;
    pace_begin_tick_ = seen_tick_;
  }
  seen_at_ = now;
  seen_tick_ = snapshot_tick;
}

void InputClock::observe(Micros now, std::uint32_t snapshot_tick, std::optional<int> input_ahead) {
  if (!running_ || snapshot_tick <= snapshot_tick_) return;
  const std::int64_t gap_ticks = std::int64_t{snapshot_tick - snapshot_tick_} - (snapshot_every_ticks_ - 1);
  if (gap_ticks * plain_period() > lost_sight) catch_up_until_ = now + catch_up_for;
  measure_pace(now, snapshot_tick);
  snapshot_tick_ = snapshot_tick;
  if (now < catch_up_until_) {
    const Aim to = aim(now);
    if (tick_ < to.tick) {
      // The last one of those that should have gone by now goes at once: who is seldom called would find each
      // time that the next one is not due yet, and send none.
      skip_to(now, to.tick - 1);
      due_ = to.due - period();
      blind_until_ = to.tick;
      return;
    }
  }
  if (!input_ahead || snapshot_tick <= blind_until_) return;
  if (window_count_++ == 0) window_begin_ = now;
  lead_min_ = std::min(lead_min_, *input_ahead);
  short_count_ += *input_ahead < lead_ticks_ ? 1 : 0;
  const Nanos spare_now = spare(now) - gained(now);
  spare_min_ = std::min(spare_min_, spare_now);
  spare_second_ = std::max(spare_second_, std::min(spare_max_, spare_now));
  spare_max_ = std::max(spare_max_, spare_now);
  // Commands that come too late are lost ones, and ahead of a server that slows down they soon wait for long:
  // both are mended sooner than the rest.
  const Micros watched = now - window_begin_;
  const bool late = lead_min_ < 0;
  const bool one_will_do = late && snapshot_every_ticks_ > dense_ticks;
  if (window_count_ < window_snapshots_min && watched < window_over && !one_will_do) return;
  const bool early = lead_min_ - lead_ticks_ >= early_hold && watched >= early_over;
  if (late || early || watched >= window_over) correct(now);
}

/// How long before the newest snapshot's tick began the command came that its lead asks for, as commands go
/// now.
InputClock::Nanos InputClock::spare(Micros now) const {
  const std::int64_t since = std::int64_t{tick_} + 1 - snapshot_tick_ - lead_ticks_;
  return Nanos{now} - Nanos{rtt_} - (due_ - since * period());
}

/// How much earlier commands go than when the window began, as the slope has it.
InputClock::Nanos InputClock::gained(Micros now) const {
  return -slope_ * Nanos{now - window_begin_} / slopes;
}

/// When what a slope did is seen, and at least the second snapshot from now.
InputClock::Nanos InputClock::seen_after() const {
  const Nanos tick = plain_period();
  const std::int64_t ticks = (Nanos{rtt_} + Nanos{window_over}) / tick;
  return std::max<std::int64_t>({ticks, 1, 2 * snapshot_every_ticks_}) * tick;
}

/// Until then it should not have made up for more than what is off: over a long way the clock would swing
/// about its wish, ever wider.
int InputClock::slope_most(Micros now, Nanos off) const {
  const int most = now < settled_at_ ? slope_max : slope_settled_max;
  return static_cast<int>(std::clamp<std::int64_t>(slopes * off / seen_after(), 1, most));
}

/// Of a command that was lost or late the next packet should tell in time.
void InputClock::wish_spare() {
  const Nanos tick = plain_period(), least = spare_least();
  const bool late = lead_min_ < 0;
  if (long_ticks()) {
    if (short_count_ > 0)
      spare_wish_ = std::min(spare_wish_ + (late ? tick : Nanos{spare_added_long}), tick + least);
    else
      spare_wish_ -= (spare_wish_ - least) / spare_decay;
    return;
  }
  if (lead_min_ - lead_ticks_ <= -late_jump) return;  // a clock leapt, or the way changed
  if (late)
    spare_wish_ += tick;
  else if (short_count_ > 0)
    spare_wish_ += std::min(short_count_, 2) * tick / 4;
  else
    spare_wish_ -= window_count_ * spare_forgotten;
  spare_wish_ = std::clamp(spare_wish_, least, ticks_of(spare_added_most, tick) * tick + least);
  // How much later than the first some snapshots come.
  const Nanos jitter = (window_count_ < late_snapshots ? spare_max_ : spare_second_) - spare_min_;
  jitter_ += jitter_ == Nanos{0} ? jitter : (jitter - jitter_) / jitter_over;
  count_way();
}

/// Stretches what the spare is off. @param made_up  by the slope of the window that ended
void InputClock::keep_spare(Micros now, int off, Nanos made_up) {
  if (calls_apart_ >= seldom_called) {
    // Commands go with calls and not as they are due: only whole ticks of lead tell.
    const int slope = off == 0 ? 0 : slope_most(now, std::abs(off) * plain_period());
    slope_ = off < 0 ? -slope : slope;
    return;
  }
  const Nanos is = spare_min_ + made_up, wanted = spare_wanted(), little = seen_after() / slopes;
  // The shortest round trip of a few is longer than the way at its best, so that the spare may be more: of
  // long ticks half of it will do.
  Nanos under = (off < 0 || !long_ticks() ? wanted : wanted / 2) - is;
  if (lead_min_ < 0) under = std::max(under, -off * plain_period() - made_up);
  if (under > little)
    slope_ = -slope_most(now, under);
  else if (is - wanted > little)
    slope_ = slope_most(now, is - wanted);
}

void InputClock::correct(Micros now) {
  const int off = lead_min_ - lead_ticks_;
  const Nanos made_up = gained(now);
  slope_ = 0;
  if (std::abs(off) > settled_ticks) settled_at_ = now + settle_for;
  wish_spare();
  if (off <= -late_jump) {
    // Where the server's tick says that commands are in time they are not late but lost on the way, and more
    // haste would bring none back: some is allowed for jitter, no more.
    const std::uint32_t wanted = tick_ + static_cast<std::uint32_t>(-off);
    // Who is seldom called has to send commands for all the time until the next call.
    const auto apart = static_cast<int>(ticks_of(calls_apart_, plain_period()));
    const std::uint32_t most =
        anchor() + static_cast<std::uint32_t>(std::clamp(apart, ahead_max() / 2, ahead_max()));
    if (const std::uint32_t to = std::min(wanted, most); to > tick_) return skip_to(now, to);
    slope_ = -slope_most(now, -off * plain_period());
  } else if (off >= early_hold) {
    due_ += period() * off;
    blind_until_ = tick_;
  } else {
    keep_spare(now, off, made_up);
  }
  forget_window();
}

double InputClock::share(Micros now) const {
  if (!running_) return 0;
  const double left =
      static_cast<double>((due_ - Nanos{now}).count()) / static_cast<double>(period().count());
  return std::clamp(1 - left, 0.0, 0.999'999);
}

/// A single long pause is none that will come again.
void InputClock::note_call(Micros now) {
  if (now == called_) return;
  const Micros since = now - std::exchange(called_, now);
  calls_apart_ = std::max(Micros{0}, std::min(since, std::exchange(call_before_, since)));
}

bool InputClock::next(Micros now) {
  note_call(now);
  if (!running_ || now < due_) return false;
  const std::uint32_t most = anchor() + static_cast<std::uint32_t>(ahead_max());
  if (tick_ >= most) {
    due_ = now;  // the next snapshot lets it go on, without a backlog
    return false;
  }
  const Nanos step = period();
  const std::int64_t behind = (Nanos{now} - due_) / step;
  if (behind >= stall_ticks) {
    const auto pass = std::min(static_cast<std::uint32_t>(behind), most - 1 - tick_);
    tick_ += pass;
    skipped_ += pass;
    due_ += step * behind;
  }
  ++tick_;
  due_ += step;
  issued_ = true;
  return true;
}

}  // namespace ashlar::client_sim
