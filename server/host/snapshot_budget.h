#pragma once
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "protocol/connection/congestion.h"

namespace ashlar {
class Connection;  // NOLINT(cppcoreguidelines-virtual-class-destructor): final
}

namespace ashlar::server {

/// Rates between which a client's budget stays, in bytes a second on the wire.
inline constexpr double snapshot_rate_least = 4'000;
inline constexpr double snapshot_rate_most = 1'250'000;

/// Of a path of unknown rate: 192 kbit/s.
inline constexpr double snapshot_rate_first = 24'000;

/// What a datagram costs beside its message: sealed packet, UDP and IPv4.
inline constexpr std::size_t beside_message_bytes = 28 + 40;

/// A path to a client, as its connection sees it.
struct PathState {
  std::uint64_t acked_bytes = 0;      ///< since its session began
  std::uint64_t in_flight_bytes = 0;  ///< of snapshots
  Micros rtt{0}, rtt_min{0};          ///< 0: not known
  Micros rtt_latest{0};               ///< the newest round trip measured
  std::uint64_t rtt_samples = 0;      ///< and how many have been
  bool rival = false;                 ///< somebody else fills the path's queue: the window alone decides
  bool paced = true;                  ///< false: the link paces itself (TCP), and only the rate counts
  Micros tick_time{0};                ///< of the server, and of the commands that acknowledgements come with

  static PathState of(const Connection& connection, Micros tick_time);
};

/// How much a client's snapshots may take of its path, by what the path has been measured to carry.
///
/// The rate grows while more was to be told than it allowed and nothing queues: twofold each round trip until
/// something queued for the first time, by a quarter after that, and slowly where something queued last time.
/// When the path's queue holds more than `queue_high` it falls below what was acknowledged meanwhile, the
/// lower the longer the queue, so that it drains within half a second. It is spent as a bucket of tokens, so
/// that snapshots come rarely rather than late: when there is not enough for one that is worth its header it
/// waits, and at low rates snapshots come 20 times a second. And no more is on its way than the rate carries
/// in the shortest round trip and `flight_slack()`: a path that stalls delays what comes after by that at
/// most.
///
/// Value; some 200 bytes. One thread.
class SnapshotBudget {
 public:
  /// Of delay that snapshots may add: from here on they become fewer, and below queue_low more.
  static constexpr Micros queue_high{50'000}, queue_low{25'000};
  /// Covers what acknowledgements wait for, and queue_high. They wait for the client's next command, for the
  /// tick that reads them, and for as much again where either is late: 100 ms at 60 Hz, 200 at 20. Where
  /// something queues, or it is not known yet, those of 60 Hz have to do.
  static constexpr Micros flight_slack(Micros tick_time) {
    return queue_high + std::max(Micros{50'000}, 3 * tick_time);
  }
  /// So much less of it is for the start, whose rate is a guess that may be far too high.
  static constexpr Micros start_spares{75'000};

  /// Bytes that a snapshot of now may take, with what is beside its messages; 0: it has to wait.
  /// Call once for each snapshot that is due, with ascending times.
  /// @param most_bytes_per_s  the setting's bound, at least snapshot_rate_least
  std::size_t allow(Micros now, const PathState& path, double most_bytes_per_s);
  /// What it took. May be more than was allowed by one part, which those that follow pay for.
  void spend(std::size_t bytes) {
    tokens_ -= static_cast<double>(bytes);
    burst_bytes_ += static_cast<double>(bytes);
  }
  /// More was to be told than was allowed, or nothing was allowed.
  void held_back() { limited_ = true; }

  /// The present rate, headers included.
  double bytes_per_s() const { return rate_; }

 private:
  void note_rtt(const PathState& path);
  void end_round(const PathState& path, double most);
  double growth() const;

  double rate_ = snapshot_rate_first;
  double tokens_ = 0;
  double knee_ = 0;  // what the path carried when something queued; 0: nothing did
  // Time and bytes of the present round count while something was on its way: an idle path carries nothing.
  Micros refilled_at_{-1}, busy_{0};
  std::uint64_t acked_before_ = 0, acked_last_ = 0, rtt_samples_ = 0;
  double burst_bytes_ = 0,
         burst_most_ = 0;  // of a snapshot: the present one's, and of this round and the last
  double burst_before_ = 0;
  bool measured_ = false;            // a round trip, in this round
  std::array<double, 2> carried_{};  // bytes a second in the last rounds
  std::size_t round_ = 0;
  std::array<Micros, 3> rtts_{};  // the newest
  Micros queue_{0};
  bool starting_ = true, limited_ = false;
};

}  // namespace ashlar::server
