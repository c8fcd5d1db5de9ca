#include "server/host/overload.h"

#include <algorithm>
#include <array>

#include "server/host/host.h"

namespace ashlar::server {
namespace {

constexpr std::uint32_t late_share = 4;  // one in so many
/// At low rates few ticks are enough, but never so few that what one stall leaves to make up for fills them.
constexpr std::uint32_t window_ticks_min = late_share * Host::catch_up_ticks_max + 4;
constexpr Micros patience_min{2'000'000};
constexpr Micros patience_max{64'000'000};
constexpr Micros proof{10'000'000};
/// So long after a climb lateness is that of before: what waits is made up for first.
constexpr Micros settle{1'000'000};
constexpr double busy_max = 0.6;
/// Of the time that passed: who is late and used less was not kept from the processor by itself.
constexpr double own_share_min = 0.5;

constexpr std::array<std::string_view, overload_rung_count> names{"none", "far_cells", "half_rate",
                                                                  "quarter_rate", "slow_tick"};

OverloadRung next(OverloadRung rung, int by) {
  return static_cast<OverloadRung>(static_cast<int>(rung) + by);
}

}  // namespace

std::string_view name(OverloadRung rung) { return names[static_cast<std::size_t>(rung)]; }

void OverloadLadder::climb(Micros now) {
  if (proving_) patience_ = std::min(patience_ * 2, patience_max);
  proving_ = false;
  rung_ = next(rung_, 1);
  ++climbs_;
  well_since_ = climbed_at_ = now;
}

void OverloadLadder::come_down(Micros now) {
  rung_ = next(rung_, -1);
  came_down_at_ = well_since_ = now;
  proving_ = true;
}

void OverloadLadder::begin_window(Micros now, std::uint64_t cpu_ns) {
  ticks_ = late_ = strikes_ = 0;
  window_began_ = now;
  cpu_began_ns_ = cpu_ns;
}

bool OverloadLadder::starved_by_others(Micros now, std::uint64_t cpu_ns) const {
  if (cpu_ns == 0 || now <= window_began_) return false;
  const double used_ns = static_cast<double>(cpu_ns - cpu_began_ns_);
  return used_ns < own_share_min * 1000 * static_cast<double>((now - window_began_).count());
}

void OverloadLadder::observe(Micros now, bool late, double busy, std::uint64_t cpu_ns) {
  if (!started_) well_since_ = now, begin_window(now, cpu_ns);
  started_ = true;
  if (proving_ && now - came_down_at_ >= proof) {
    proving_ = false;
    if (rung_ == OverloadRung::none) patience_ = std::max(patience_ / 2, patience_min);
  }
  const bool settling = rung_ != OverloadRung::none && now - climbed_at_ < settle;
  ++ticks_;
  late_ += late ? 1 : 0;
  strikes_ += late && !settling ? 1 : 0;
  const std::uint32_t window = std::max<std::uint32_t>(window_ticks_min, tick_rate_hz_ / 2u);
  if (strikes_ * late_share >= window && rung_ != OverloadRung::slow_tick) {
    if (starved_by_others(now, cpu_ns))
      ++starved_;
    else
      climb(now);
    begin_window(now, cpu_ns);
  }
  // One in a window is a noisy machine's.
  if (late && late_ > 1) well_since_ = now;
  if (now == well_since_) busy_sum_ = busy_ticks_ = 0;
  busy_sum_ += busy;
  ++busy_ticks_;
  if (ticks_ >= window) begin_window(now, cpu_ns);
  if (rung_ == OverloadRung::none || now - well_since_ < patience_) return;
  // Not well after all: more time is to pass before it is asked again.
  if (busy_sum_ > busy_max * busy_ticks_)
    well_since_ = now;
  else
    come_down(now);
}

}  // namespace ashlar::server
