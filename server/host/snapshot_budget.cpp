#include "server/host/snapshot_budget.h"

#include <algorithm>
#include <utility>

#include "protocol/connection/connection.h"

namespace ashlar::server {
namespace {

double seconds(Micros t) { return static_cast<double>(t.count()) * 1e-6; }

// Acknowledgements come in lumps of some 25 ms: what a shorter time tells is noise.
constexpr Micros round_min{100'000}, round_start{40'000};
// After so many nothing that queues has gone unseen.
constexpr std::size_t rounds_known = 5;
constexpr double growth_start = 2, growth_usual = 1.25, growth_near_knee = 1.04, growth_beyond_knee = 1.1;
// Of the knee: where growth is slow, and where it was none.
constexpr double knee_begins = 0.85, knee_ends = 1.15, no_knee = 1.5;
constexpr double drain_least = 0.9, drain_most = 0.5;
constexpr double drained_within_s = 0.5;
// One round in which nothing was heard (a client that stood still) must not cost everything.
constexpr double cut_most = 0.3;
// Growth that nobody has seen arrive ends here: something else than the rate holds snapshots back.
constexpr double beyond_delivered = 1.5;
// What is saved up for one snapshot while none was due.
constexpr Micros burst{35'000}, burst_start{250'000};
// A snapshot of fewer bytes is mostly header, unless it would be later than a twentieth of a second for it.
constexpr double worth_bytes = 300;
constexpr Micros wait_max{50'000};
// Of a rival's: he fills the queue, so that it tells nothing. A window this small is no rival's doing.
constexpr std::uint64_t rival_window = 4 * Congestion::window_min;

}  // namespace

PathState PathState::of(const Connection& connection, Micros tick_time) {
  const RoundTrip& round_trip = connection.round_trip();
  const Congestion& congestion = connection.congestion();
  PathState path;
  path.acked_bytes = connection.acked_bytes();
  path.in_flight_bytes = connection.unreliable_bytes_in_flight();
  path.rtt_samples = round_trip.samples();
  if (round_trip.known()) {
    path.rtt = round_trip.smoothed();
    path.rtt_min = round_trip.minimum();
    path.rtt_latest = round_trip.latest();
  }
  path.rival = congestion.mode() == Congestion::Mode::compete && congestion.window_bytes() > rival_window;
  path.paced = connection.address().transport != Transport::tcp;
  path.tick_time = tick_time;
  return path;
}

/// The least of a few: lines jitter, and a snapshot's last packet waits for its first.
void SnapshotBudget::note_rtt(const PathState& path) {
  if (path.rtt_samples == rtt_samples_) return;
  if (rtt_samples_ == 0) rtts_.fill(path.rtt_latest);
  rtts_[path.rtt_samples % rtts_.size()] = path.rtt_latest;
  rtt_samples_ = path.rtt_samples;
  measured_ = true;
  queue_ = std::max(*std::ranges::min_element(rtts_) - path.rtt_min, Micros{0});
}

double SnapshotBudget::growth() const {
  if (starting_) return growth_start;
  if (rate_ < knee_begins * knee_ || rate_ > no_knee * knee_) return growth_usual;
  return rate_ < knee_ends * knee_ ? growth_near_knee : growth_beyond_knee;
}

void SnapshotBudget::end_round(const PathState& path, double most) {
  carried_[round_++ % carried_.size()] =
      static_cast<double>(path.acked_bytes - acked_before_) / seconds(busy_);
  const double carried = *std::ranges::max_element(carried_);
  // The last packet of a snapshot waits for those before it, which is no queue.
  const double burst_s = carried > 0 ? std::max(burst_most_, burst_before_) / carried : 0;
  const Micros queue = queue_ - Micros{static_cast<std::int64_t>(std::min(burst_s, 1.0) * 1e6)};
  if (queue >= queue_low) starting_ = false;
  if (queue > queue_high && !path.rival) {
    const double drain =
        std::clamp(1 - seconds(queue - queue_low) / drained_within_s, drain_most, drain_least);
    knee_ = carried;
    rate_ = std::max(rate_ * cut_most, std::min(rate_, drain * carried));
  } else if (limited_ && (queue < queue_low || path.rival)) {
    rate_ = std::max(rate_, std::min(rate_ * growth(), beyond_delivered * carried));
  }
  rate_ = std::clamp(rate_, snapshot_rate_least, most);
  busy_ = Micros{0};
  acked_before_ = path.acked_bytes;
  burst_before_ = std::exchange(burst_most_, 0);
  limited_ = measured_ = false;
}

std::size_t SnapshotBudget::allow(Micros now, const PathState& path, double most_bytes_per_s) {
  if (refilled_at_ < Micros{0}) {
    refilled_at_ = now;
    acked_before_ = acked_last_ = path.acked_bytes;
    rate_ = std::clamp(rate_, snapshot_rate_least, most_bytes_per_s);
    tokens_ = rate_ * seconds(burst_start);
  }
  if (path.in_flight_bytes > 0 || path.acked_bytes != acked_last_) busy_ += now - refilled_at_;
  acked_last_ = path.acked_bytes;
  const double spent = std::exchange(burst_bytes_, 0);
  burst_most_ = std::max(burst_most_, spent);
  note_rtt(path);
  if (measured_ && busy_ >= std::max(path.rtt, starting_ ? round_start : round_min))
    end_round(path, most_bytes_per_s);
  const double earned = rate_ * seconds(now - refilled_at_);
  refilled_at_ = now;
  // Who lives on the credit of the start needs more before it is used up.
  if (starting_ && spent > earned) limited_ = true;
  const double saved_most = std::max({rate_ * seconds(burst), worth_bytes, earned, starting_ ? tokens_ : 0});
  tokens_ = std::min(tokens_ + earned, saved_most);
  if (tokens_ < std::min(worth_bytes, rate_ * seconds(wait_max))) {
    limited_ = true;
    return 0;
  }
  if (path.paced) {
    const double carried = knee_ > 0 ? std::min(rate_, no_knee * knee_) : rate_;
    // Before it is known to be empty, all that is on its way beyond the round trip may lie in a queue.
    const bool empty = queue_ < queue_low && round_ >= rounds_known;
    const Micros slack = flight_slack(empty ? path.tick_time : Micros{0});
    const double flight = path.rtt == Micros{0}
                              ? 0
                              : carried * seconds(path.rtt_min + (starting_ ? slack - start_spares : slack));
    if (static_cast<double>(path.in_flight_bytes) >= std::max(flight, 2.0 * datagram_bytes_max)) return 0;
  }
  // The credit of the start is not for one snapshot.
  return static_cast<std::size_t>(
      std::min(tokens_, std::max({rate_ * seconds(burst), 1.0 * datagram_bytes_max, earned})));
}

}  // namespace ashlar::server
