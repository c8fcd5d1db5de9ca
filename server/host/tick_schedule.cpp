#include "server/host/tick_schedule.h"

#include <algorithm>

#include "world/math/assert.h"

namespace ashlar::server {
namespace {

/// Each so many ticks behind, one tick fewer is made up for: a stall is forgotten soon, overload slows the
/// tick.
constexpr std::int64_t ticks_per_backlog = 8;

}  // namespace

TickSchedule::TickSchedule(std::uint16_t tick_rate_hz) : rate_hz_(tick_rate_hz) {
  ASHLAR_ASSERT(tick_rate_hz >= 1);
}

/// From the count of ticks, so that no rate drifts by what a length in microseconds leaves out.
Micros TickSchedule::due_at(std::int64_t slot) const { return began_ + Micros{slot * 1'000'000 / rate_hz_}; }

std::int64_t TickSchedule::count_due(Micros now) const {
  if (now < next_at()) return 0;
  const std::int64_t passed = (now - began_).count();
  return ((passed + 1) * rate_hz_ - 1) / 1'000'000 - slots_ + 1;
}

void TickSchedule::begin_again(std::uint16_t tick_rate_hz) {
  const std::uint64_t late = late_, skipped = skipped_;
  *this = TickSchedule(tick_rate_hz);
  late_ = late;
  skipped_ = skipped;
}

bool TickSchedule::take(Micros now) {
  if (!started_) began_ = now;
  started_ = true;
  const std::int64_t due = count_due(now);
  ASHLAR_ASSERT(due >= 0);
  if (due == 0) return false;
  if (due > 1) ++late_;
  behind_ = due > 1 ? behind_ + 1 : 0;
  const std::int64_t backlog_max =
      catch_up_ ? std::max<std::int64_t>(1, Host::catch_up_ticks_max - behind_ / ticks_per_backlog) : 1;
  if (due > backlog_max) {
    skipped_ += static_cast<std::uint64_t>(due - backlog_max);
    slots_ += due - backlog_max;
  }
  ++slots_;
  ASHLAR_ASSERT(count_due(now) < backlog_max);
  return true;
}

}  // namespace ashlar::server
