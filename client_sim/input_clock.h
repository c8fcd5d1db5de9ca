#pragma once
#include <cstdint>

#include "client_sim/histogram.h"

namespace ashlar::client_sim {

/// Says when the client issues the command of which server tick.
///
/// Commands should arrive a little before the server needs them: too late and they are dropped, too early and
/// the player feels the wait. Snapshots tell how many ticks ahead the newest command was when its tick began.
/// Over half a second the smallest such lead is compared with the wish; the clock's period then changes by at
/// most a sixteenth until it fits, and jumps when it is off by more than a period's work could mend.
class InputClock {
 public:
  /// @param lead_ticks  the smallest lead wished for
  void reset(std::uint16_t tick_rate_hz, int lead_ticks);

  bool running() const { return running_; }

  /// Starts from the first snapshot: its tick, and the round trip so far.
  void start(Micros now, std::uint32_t snapshot_tick, Micros rtt);

  /// A newer snapshot told its input_ahead (not input_ahead_none).
  void observe(std::uint32_t snapshot_tick, int input_ahead);

  /// True once for each command that is due by `now`; newest_tick() is then its number. After a stall of the
  /// caller the ticks that nobody could have played are skipped and counted.
  bool next(Micros now);

  std::uint32_t newest_tick() const { return tick_; }
  std::uint64_t skipped() const { return skipped_; }
  /// When the next command is due.
  Micros due() const { return std::chrono::duration_cast<Micros>(due_); }

 private:
  using Nanos = std::chrono::duration<std::int64_t, std::nano>;
  Nanos period() const;
  void correct();

  std::uint16_t tick_rate_hz_ = 60;
  int lead_ticks_ = 2;
  bool running_ = false;
  std::uint32_t tick_ = 0;
  Nanos due_{0};
  int slope_ = 0;  // 1/64 of the period: negative is faster
  int lead_min_ = 127;
  std::uint32_t window_count_ = 0;
  std::uint32_t blind_until_ = 0;  // snapshots before this tick do not show the last change yet
  std::uint64_t skipped_ = 0;
};

}  // namespace ashlar::client_sim
