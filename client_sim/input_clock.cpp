#include "client_sim/input_clock.h"

#include <algorithm>

namespace ashlar::client_sim {
namespace {

constexpr int slope_max = 4;   // of 64: a sixteenth
constexpr int late_jump = 3;   // ticks short of the wish from which numbers are skipped
constexpr int early_hold = 8;  // ticks above it from which the clock waits
constexpr std::uint32_t stall_ticks = 8;

}  // namespace

void InputClock::reset(std::uint16_t tick_rate_hz, int lead_ticks) {
  *this = InputClock{};
  tick_rate_hz_ = tick_rate_hz;
  lead_ticks_ = lead_ticks;
}

InputClock::Nanos InputClock::period() const {
  const std::int64_t plain = 1'000'000'000 / tick_rate_hz_;
  return Nanos{plain + plain * slope_ / 64};
}

void InputClock::start(Micros now, std::uint32_t snapshot_tick, Micros rtt) {
  const std::int64_t rtt_ticks = (rtt.count() * tick_rate_hz_ + 999'999) / 1'000'000;
  tick_ =
      snapshot_tick + static_cast<std::uint32_t>(std::clamp<std::int64_t>(rtt_ticks, 0, 1000) + lead_ticks_);
  due_ = now;
  running_ = true;
  blind_until_ = tick_;
}

void InputClock::observe(std::uint32_t snapshot_tick, int input_ahead) {
  if (!running_ || snapshot_tick <= blind_until_) return;
  lead_min_ = std::min(lead_min_, input_ahead);
  ++window_count_;
  // Commands that come too late are lost ones: that is mended at once.
  const bool late = lead_min_ < 0 && window_count_ >= 4;
  if (late || window_count_ >= tick_rate_hz_ / 2u) correct();
}

void InputClock::correct() {
  const int off = lead_min_ - lead_ticks_;
  slope_ = 0;
  if (off <= -late_jump) {
    tick_ += static_cast<std::uint32_t>(-off);
    skipped_ += static_cast<std::uint64_t>(-off);
    blind_until_ = tick_;
  } else if (off >= early_hold) {
    due_ += period() * off;
    blind_until_ = tick_;
  } else if (off < 0) {
    slope_ = std::max(2 * off, -slope_max);
  } else if (off > 1) {
    slope_ = std::min(off, slope_max);
  }
  lead_min_ = 127;
  window_count_ = 0;
}

bool InputClock::next(Micros now) {
  if (!running_ || now < due_) return false;
  const Nanos step = period();
  const std::int64_t behind = (Nanos{now} - due_) / step;
  if (behind >= stall_ticks) {
    tick_ += static_cast<std::uint32_t>(behind);
    skipped_ += static_cast<std::uint64_t>(behind);
    due_ += step * behind;
  }
  ++tick_;
  due_ += step;
  return true;
}

}  // namespace ashlar::client_sim
