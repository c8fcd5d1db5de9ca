#pragma once
#include <cstdint>
#include <optional>

#include "client_sim/client/histogram.h"

namespace ashlar::client_sim {

/// Says when the client issues the command of which server tick.
///
/// Commands should arrive a little before the server needs them: too late and they are dropped, too early and
/// the player feels the wait. The clock follows the server, by two things that snapshots tell: the server's
/// tick, and how many ticks ahead the newest command was when that tick began (its lead).
///
/// - Small errors are stretched away, twice a second: the period changes until what is off is made up for, by
///   at most a sixteenth in the first two seconds from a start or a jump, and by a sixty-fourth once settled.
/// - Leads are whole ticks. How long before the tick from which they wait for one more commands come, their
///   spare, follows from the round trip and from when snapshots come; it is kept. A quarter of a tick at
///   least, 12 ms where ticks are long (30 ms or more), and more for a while where some come later than
///   wished for, as jitter and losses make them. Of short ticks it is brought up to where way and spare are
///   whole ticks: then snapshots come just behind commands, most of the late ones, too, and a picture that is
///   whole ticks behind the commands is made of what was told.
/// - A server that slows down in overload is followed at its own pace, measured from its ticks.
/// - Large errors are jumped: numbers are passed over when commands come too late, and the clock waits when
///   they come far too early.
/// - Of who calls next() a few times a second a call numbers commands for all the time until the next one.
/// - It never runs further ahead of the newest snapshot than the round trip, the wish and ahead_max(): a
///   server's input buffer does not reach further, and what lies beyond it is refused. So after a clock that
///   leapt, or a server that stood still, the next command is one that the server takes.
class InputClock {
 public:
  /// As new, and stopped until start().
  /// @param lead_ticks  the smallest lead wished for
  /// @param snapshot_every_ticks  from one snapshot to the next, as the server says; up to a second's
  void reset(std::uint16_t tick_rate_hz, int lead_ticks, std::uint16_t snapshot_every_ticks = 1);

  bool running() const { return running_; }  ///< started since the last reset()

  /// A round trip was measured. The clock goes by the shortest of the last half second to second: long ones
  /// are of packets that waited for something once, in a stream many at a time, and commands numbered by them
  /// are refused as too early.
  void take_round_trip(Micros now, Micros rtt);

  /// Starts from the first snapshot.
  void start(Micros now, std::uint32_t snapshot_tick);

  /// A newer snapshot arrived.
  /// @param input_ahead  the lead that it told; nullopt: it has had no command yet
  void observe(Micros now, std::uint32_t snapshot_tick, std::optional<int> input_ahead);

  /// The caller was away, or its clock leapt: nobody knows how much of the time since has passed at the
  /// server. The clock goes on where it was, and catches up with what the next snapshots show. Call it before
  /// them.
  void resume(Micros now);

  /// True once for each command that is due by `now`; newest_tick() is then its number. After a short stall
  /// of the caller the ticks that nobody could have played are passed over and counted.
  bool next(Micros now);

  /// Would next() have one?
  bool due(Micros now) const { return running_ && now >= due_; }
  std::uint32_t newest_tick() const { return issued_ ? tick_ : 0; }  ///< of the last command; 0: none yet
  std::uint64_t skipped() const { return skipped_; }  ///< tick numbers passed over since reset()
  /// When the next command is due.
  Micros due() const { return std::chrono::duration_cast<Micros>(due_); }

  /// The share of a tick that has passed since the last command was due, in [0, 1).
  double share(Micros now) const;

  /// How far beyond round trip and wish commands may run ahead of the newest snapshot: half a second, within
  /// 8 to 32 ticks, and until the next one is due; with the wish never beyond a server's reach.
  int ahead_max() const;

 private:
  using Nanos = std::chrono::duration<std::int64_t, std::nano>;
  Nanos plain_period() const { return Nanos{1'000'000'000 / tick_rate_hz_}; }
  Nanos pace() const { return pace_ > Nanos{0} ? pace_ : plain_period(); }
  Nanos period() const;
  bool long_ticks() const;
  Nanos spare_least() const;
  std::uint32_t anchor() const;
  /// A command's number, and when the next one is due.
  struct Aim {
    std::uint32_t tick = 0;
    Nanos due{0};
  };
  Aim aim(Micros now) const;
  void skip_to(Micros now, std::uint32_t tick);
  void measure_pace(Micros now, std::uint32_t snapshot_tick);
  void forget_pace(Micros now, std::uint32_t snapshot_tick);
  void forget_window();
  Nanos spare(Micros now) const;
  Nanos gained(Micros now) const;
  Nanos seen_after() const;
  int slope_most(Micros now, Nanos off) const;
  void wish_spare();
  void keep_spare(Micros now, int off, Nanos made_up);
  Nanos spare_wanted() const;
  void count_way();
  void correct(Micros now);
  void note_call(Micros now);

  std::uint16_t tick_rate_hz_ = 60;
  int lead_ticks_ = 2;
  int snapshot_every_ticks_ = 1;
  bool running_ = false;
  bool issued_ = false;  // a command
  std::uint32_t tick_ = 0;
  Nanos due_{0};
  std::uint64_t skipped_ = 0;

  // How long from one call of next() to another: of the last two the shorter, and the last one.
  Micros called_{0}, calls_apart_{0}, call_before_{0};

  // Where the server is.
  std::uint32_t snapshot_tick_ = 0;    // the newest
  Micros rtt_{0};                      // 0: not known yet
  Micros rtt_before_{0}, rtt_now_{0};  // the shortest of the half second before, and of the present one
  Micros rtt_begin_{0};                // of the present one
  Micros catch_up_until_{0};           // until then the server's tick alone moves the clock forward

  // What commands arrive ahead.
  int slope_ = 0;  // 1/1024 of the period: negative is faster
  int lead_min_ = 127;
  int window_count_ = 0, short_count_ = 0;  // snapshots, and those of leads below the wish
  // How early commands came, beyond the wish, without what the slope gained: the least, and the two longest.
  Nanos spare_min_ = Nanos::max(), spare_max_ = Nanos::min(), spare_second_ = Nanos::min();
  Nanos jitter_{0};  // of the snapshots, and 0 until something is known of it
  Nanos spare_wish_{0};
  std::int64_t way_ticks_ = 0;  // whole ones that hold way and spare
  Micros window_begin_{0};
  Micros settled_at_{0};           // from then on the period changes but little
  std::uint32_t blind_until_ = 0;  // snapshots before this tick do not show the last change yet

  // The length of the server's ticks: of two measurements the shorter, as one long one may be a delay that
  // began on the way.
  Nanos pace_{0}, measured_{0};  // 0: the plain one
  Micros pace_begin_{0}, seen_at_{0};
  std::uint32_t pace_begin_tick_ = 0, seen_tick_ = 0;
};

}  // namespace ashlar::client_sim
