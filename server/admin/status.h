#pragma once
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "server/admin/histogram.h"
#include "server/host/host.h"
#include "server/log/log.h"
#include "server/net/counters.h"
#include "server/store/saver.h"

namespace ashlar::server {

/// Half, 99 in 100, and the longest of what was measured, in milliseconds.
struct Spread {
  double p50_ms = 0, p99_ms = 0, max_ms = 0;
};

/// What operators see of an interval: rates and spreads since the last report, totals since the start.
struct StatusReport {
  std::chrono::microseconds up{0};
  double interval_s = 0;  ///< 0: it was too short for rates, which are 0 then
  std::uint32_t tick = 0;
  std::uint64_t ticks = 0;  ///< of this interval
  std::uint32_t clients = 0, monsters = 0;
  std::uint32_t match = 1, match_left_s = 0;
  MatchPhase match_phase{};
  std::int32_t best_score = 0;
  double bytes_in_per_s = 0, bytes_out_per_s = 0;
  double datagrams_in_per_s = 0, datagrams_out_per_s = 0;
  std::uint64_t rejected = 0;         ///< by the host for any reason, too long, or a broken stream; total
  std::uint64_t dropped_kernel = 0;   ///< total
  std::uint64_t dropped_sending = 0;  ///< no room in a buffer or queue; total
  std::uint64_t ticks_late = 0, ticks_skipped = 0;          ///< total
  std::uint8_t overload_rung = 0;                           ///< now, see OverloadRung
  std::uint64_t overload_climbs = 0, snapshots_spared = 0;  ///< total
  std::uint64_t overload_starved = 0;                       ///< total
  std::uint64_t stuck = 0, recovered = 0;                   ///< total
  std::uint64_t snapshots_made = 0;                         ///< total
  std::uint64_t snapshots_cut = 0;                          ///< total
  std::uint64_t snapshots_overdue = 0;                      ///< total
  std::uint32_t snapshot_wait_ticks = 0;                    ///< the longest in this interval
  std::uint32_t snapshot_wait_ticks_p50 = 0;                ///< and that of the median of its ticks
  double busy = 0;              ///< share of the interval in which the loop did not sleep
  std::uint32_t lingering = 0;  ///< bodies of players who left a fight, now
  std::uint64_t notices_lost = 0, chat_given_up = 0;  ///< total
  std::uint64_t blocks_changed = 0;                   ///< total
  std::uint64_t greeted_displaced = 0;                ///< total
  std::uint32_t away = 0;                             ///< bodies of players whose connection broke off, now
  std::uint64_t handshakes = 0;                       ///< finished; total
  std::uint64_t refused = 0;                          ///< for any reason; total
  std::uint64_t snapshots_anew = 0;                   ///< total
  std::uint64_t snapshots_congested = 0, resumed = 0, resume_refused = 0, moved = 0;  ///< total
  ClientMemory memory;                                                                ///< now
  GateCounters gate;                                                                  ///< total
  ContentCounters content;                                                            ///< total
  GroundCounters ground;              ///< total, but for what is under way
  TransportCounters tcp;              ///< total; why connections were closed
  std::optional<SaverStatus> saving;  ///< of a kept world, now
  Spread total;                       ///< from a tick's wake to its last send
  std::array<Spread, phase_count> phases;
};

/// Collects the time of every tick and makes reports of it. The simulation thread's own; adding allocates
/// nothing.
class StatusMeter {
 public:
  explicit StatusMeter(std::chrono::microseconds start) : start_(start), last_(start) {}

  /// Call after every turn. When several ticks ran in one, all count with the last one's times.
  /// @param turn_ns  that the turn took, with a tick in it or without
  /// @return nanoseconds of the last tick, 0 when none ran
  std::uint64_t observe(const HostStatus& status, std::uint64_t turn_ns = 0);

  /// Everything since the last report, then begins anew.
  StatusReport report(std::chrono::microseconds now, const HostStatus& status,
                      const TransportCounters& transports);

 private:
  std::chrono::microseconds start_, last_;
  std::uint32_t tick_seen_ = 0;
  std::uint32_t snapshot_wait_ticks_ = 0;
  std::array<std::uint32_t, 256> waits_{};  // ticks, by the longest wait of each; the last: that or longer
  std::uint64_t busy_ns_ = 0;
  TransportCounters transports_seen_;
  Histogram total_;
  std::array<Histogram, phase_count> phases_;
};

/// Spelled as the enumerator.
std::string_view name(Phase phase);

/// event=status with every figure; times in milliseconds, to a microsecond.
void log_status(Log& log, const StatusReport& report);

/// What the live view shows: a block of lines of plain text.
struct StatusTitle {
  std::uint16_t port = 0;
  std::uint32_t clients_max = 0;
  std::uint16_t tick_rate_hz = 60;
};
std::string status_text(const StatusTitle& title, const StatusReport& report);

}  // namespace ashlar::server
