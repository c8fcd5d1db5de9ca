#include "client_sim/client/input_clock.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ashlar::client_sim {
namespace {

constexpr int slope_max = 4;          // of 64: a sixteenth
constexpr int slope_settled_max = 1;  // likewise, once settled: 1.6 %
constexpr Micros settle_for{2'000'000};
constexpr int settled_ticks = 3;  // who is further off is not settled: a clock leapt, or the way changed
constexpr int dense_ticks = 15;   // of snapshots further apart one late command tells enough
constexpr int late_jump = 3;      // ticks short of the wish from which numbers are passed over
constexpr int early_hold = 8;     // ticks above it from which the clock waits
constexpr std::uint32_t stall_ticks = 8;
constexpr Micros long_tick{30'000};  // from it on phases are kept, not whole ticks alone
constexpr Micros spare_least{20'000};
constexpr Micros spare_band{10'000};  // no more than that is left
constexpr int spare_decay = 64;       // windows in which what jitter added goes, to a third
constexpr std::uint32_t window_snapshots_min = 4;
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
  spare_wish_ = spare_least;
}

int InputClock::ahead_max() const {
  return std::min(std::clamp(tick_rate_hz_ / 2, 8, 32) + snapshot_every_ticks_ - 1,
                  reach_ticks - lead_ticks_);
}

InputClock::Nanos InputClock::period() const { return pace() + pace() * slope_ / 64; }

bool InputClock::phased() const { return plain_period() >= long_tick && rtt_ != Micros{0}; }

/// The number that a command sent now should carry, as far as the server's tick and the round trip tell.
std::uint32_t InputClock::anchor() const {
  return snapshot_tick_ + static_cast<std::uint32_t>(ticks_of(rtt_, pace()) + lead_ticks_);
}

/// What the newest command should be and when the next one should go, if the newest snapshot came just now.
InputClock::Aim InputClock::aim(Micros now) const {
  if (!phased()) return {anchor(), now};
  const Nanos way = Nanos{rtt_} + spare_wish_;
  const std::int64_t ticks = ticks_of(way, pace());
  const std::int64_t ahead = ticks + lead_ticks_ - 1;
  return {snapshot_tick_ + static_cast<std::uint32_t>(ahead), now + std::max(ticks * pace() - way, Nanos{0})};
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
      skip_to(now, to.tick);
      if (phased()) due_ = to.due;
      return;
    }
  }
  if (!input_ahead || snapshot_tick <= blind_until_) return;
  if (window_count_++ == 0) window_begin_ = now;
  lead_min_ = std::min(lead_min_, *input_ahead);
  spare_min_ = std::min(spare_min_, spare(now));
  // Commands that come too late are lost ones, and ahead of a server that slows down they soon wait for long:
  // both are mended sooner than the rest.
  const Micros watched = now - window_begin_;
  const bool late = lead_min_ < 0;
  const bool one_will_do = late && snapshot_every_ticks_ > dense_ticks;
  if (window_count_ < window_snapshots_min && watched < window_over && !one_will_do) return;
  const bool early = lead_min_ - lead_ticks_ >= early_hold && watched >= early_over;
  if (late || early || watched >= window_over) correct(now);
}

/// How long before the newest snapshot's tick began the command came that its lead asks for.
InputClock::Nanos InputClock::spare(Micros now) const {
  const std::int64_t since = std::int64_t{tick_} + 1 - snapshot_tick_ - lead_ticks_;
  return Nanos{now} - Nanos{rtt_} - (due_ - since * period());
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
  return static_cast<int>(std::clamp<std::int64_t>(64 * off / seen_after(), 1, most));
}

void InputClock::correct(Micros now) {
  const int off = lead_min_ - lead_ticks_;
  slope_ = 0;
  const Nanos tick = plain_period();
  if (std::abs(off) > settled_ticks) settled_at_ = now + settle_for;
  // Of a command that was lost or late the next packet should tell in time.
  if (off < 0)
    spare_wish_ = std::min(spare_wish_ + (lead_min_ < 0 ? tick : tick / 2), tick + spare_least);
  else
    spare_wish_ -= (spare_wish_ - spare_least) / spare_decay;
  if (off <= -late_jump) {
    // Where the server's tick says that commands are in time they are not late but lost on the way, and more
    // haste would bring none back: some is allowed for jitter, no more.
    const std::uint32_t wanted = tick_ + static_cast<std::uint32_t>(-off);
    const std::uint32_t most = anchor() + static_cast<std::uint32_t>(ahead_max()) / 2;
    if (const std::uint32_t to = std::min(wanted, most); to > tick_) return skip_to(now, to);
    slope_ = -slope_most(now, -off * tick);
  } else if (off >= early_hold) {
    due_ += period() * off;
    blind_until_ = tick_;
  } else if (off < 0) {
    slope_ = std::max(2 * off, -slope_most(now, -off * tick));
  } else if (phased() && spare_min_ - spare_wish_ > std::max(Nanos{spare_band}, seen_after() / 64)) {
    slope_ = slope_most(now, spare_min_ - spare_wish_);
  } else if (off > 1) {
    slope_ = std::min(off, slope_most(now, off * tick));
  }
  forget_window();
}

double InputClock::share(Micros now) const {
  if (!running_) return 0;
  const double left =
      static_cast<double>((due_ - Nanos{now}).count()) / static_cast<double>(period().count());
  return std::clamp(1 - left, 0.0, 0.999'999);
}

bool InputClock::next(Micros now) {
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
