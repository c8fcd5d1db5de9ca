#pragma once
#include <cstdint>

#include "server/host/host.h"

namespace ashlar::server {

/// Says when a tick is due. After a stall up to Host::catch_up_ticks_max are made up for and the rest is
/// given up; the longer it stays behind the fewer are, at last one, and the tick slows for all. Value; one
/// thread.
class TickSchedule {
 public:
  explicit TickSchedule(std::uint16_t tick_rate_hz);

  /// Another rate from now on, begun with the next take(); the counters go on.
  void begin_again(std::uint16_t tick_rate_hz);

  /// False: no tick is made up for from now on, what was missed is given up and the tick slows at once.
  void set_catch_up(bool on) { catch_up_ = on; }

  /// Is a tick to be played now? Then it counts as played. The first call's time is when the first one is
  /// due.
  /// @param now  never before that of an earlier call's
  bool take(Micros now);
  /// When the next one is due.
  Micros next_at() const { return due_at(slots_); }

  std::uint64_t late() const { return late_; }        ///< begun a tick or more after they were due
  std::uint64_t skipped() const { return skipped_; }  ///< given up

 private:
  Micros due_at(std::int64_t slot) const;
  std::int64_t count_due(Micros now) const;  ///< slots begun by `now`, neither played nor given up

  std::int64_t rate_hz_;
  bool started_ = false, catch_up_ = true;
  Micros began_{0};
  std::int64_t slots_ = 0;   // since then, played or given up
  std::int64_t behind_ = 0;  // played one after the other while the next one was due, too
  std::uint64_t late_ = 0, skipped_ = 0;
};

}  // namespace ashlar::server
