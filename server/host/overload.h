#pragma once
#include <cstdint>
#include <string_view>

#include "server/host/host.h"

namespace ashlar::server {

/// How much a server that does not keep up leaves out, in the order in which it does.
enum class OverloadRung : std::uint8_t {
  none,          ///< all is told as configured
  far_cells,     ///< who is far from a client is in every fourth of its snapshots
  half_rate,     ///< and of its snapshots every second one goes out
  quarter_rate,  ///< every fourth
  slow_tick,     ///< and no tick is made up for: the tick slows for all, and clients follow
};
inline constexpr std::size_t overload_rung_count = 5;
std::string_view name(OverloadRung rung);

/// Of a client's snapshots who is far from it is in every so many.
constexpr std::uint32_t far_every(OverloadRung rung) { return rung >= OverloadRung::far_cells ? 4 : 1; }

/// Every so many of its snapshots go out to a client, so that at least ten a second are left.
/// @param every_ticks  from one snapshot to the next, as configured
constexpr std::uint32_t snapshot_divisor(OverloadRung rung, std::uint32_t tick_rate_hz,
                                         std::uint32_t every_ticks) {
  const std::uint32_t wanted = rung >= OverloadRung::quarter_rate ? 4
                               : rung == OverloadRung::half_rate  ? 2
                                                                  : 1;
  const std::uint32_t most = tick_rate_hz / (10 * every_ticks);
  return most < 1 ? 1 : (wanted < most ? wanted : most);
}

/// Decides how far to go. A rung is climbed when of a window's ticks (half a second's, 20 at least) a quarter
/// began a tick or more late, and the next one a second later at the soonest. It comes down again one rung at
/// a time, after two seconds with at most one late tick in each window, and where it is known at most 60 % of
/// the time used: less load on this rung is not less work on the one below. Where that proved to be too soon
/// (within ten seconds it climbs again) it waits twice as long the next time, up to 64 s, and half as long
/// again each time that all of it was left behind for ten seconds. So under a steady load it does not swing.
///
/// Where the processor time that the loop used is known, lateness counts only in windows of which it
/// used half or more: who is late though it hardly ran is starved by others on the machine, and leaving
/// things out would take from players and give nothing. Value; one thread.
class OverloadLadder {
 public:
  explicit OverloadLadder(std::uint16_t tick_rate_hz) : tick_rate_hz_(tick_rate_hz) {}

  /// Another rate from now on, all told as configured; the count goes on.
  void begin_again(std::uint16_t tick_rate_hz) {
    const std::uint64_t climbs = climbs_, starved = starved_;
    *this = OverloadLadder(tick_rate_hz);
    climbs_ = climbs, starved_ = starved;
  }

  /// One tick was begun.
  /// @param late  a tick or more after it was due
  /// @param busy    share of a tick's length that the last one took; 0: not known
  /// @param cpu_ns  processor time that the loop has used so far; 0: not known
  void observe(Micros now, bool late, double busy, std::uint64_t cpu_ns = 0);

  OverloadRung rung() const { return rung_; }
  std::uint64_t climbs() const { return climbs_; }  ///< times that it went up by one
  /// Windows (half a second, at least 20 ticks) in which it would have climbed, had the loop not been starved
  /// of the processor.
  std::uint64_t starved() const { return starved_; }
  /// How long everything has to be well before it comes down by one.
  Micros patience() const { return patience_; }

 private:
  void climb(Micros now);
  void come_down(Micros now);
  void begin_window(Micros now, std::uint64_t cpu_ns);
  bool starved_by_others(Micros now, std::uint64_t cpu_ns) const;

  std::uint16_t tick_rate_hz_;
  OverloadRung rung_ = OverloadRung::none;
  std::uint32_t ticks_ = 0, late_ = 0;  // of the present window
  std::uint32_t strikes_ = 0;           // late ones that count, as it has settled
  bool started_ = false;
  Micros well_since_{0};
  double busy_sum_ = 0;  // since then
  std::uint32_t busy_ticks_ = 0;
  Micros patience_{2'000'000};
  Micros came_down_at_{0}, climbed_at_{0};
  bool proving_ = false;  // it came down, and nobody knows yet whether too soon
  Micros window_began_{0};
  std::uint64_t cpu_began_ns_ = 0;
  std::uint64_t climbs_ = 0, starved_ = 0;
};

}  // namespace ashlar::server
