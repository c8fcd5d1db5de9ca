#include "protocol/connection/congestion.h"

#include <algorithm>

namespace ashlar {

namespace {
double seconds(Micros t) { return static_cast<double>(t.count()) * 1e-6; }

// Of the way to what the law asks for, each round: all of it swings, as a change shows a round later.
constexpr double law_step = 0.5;
// Of the window, each round of the start. What is in flight too much when the queue shows is as much as the
// last round added: snapshots beside it would wait for that.
constexpr double start_growth = 2, start_growth_beside_messages = 1.4;
// A step upwards adds no more of delay than so many of the queue's goals, nor more than a quarter.
constexpr double step_goals_max = 2, step_max = 0.25;
// A window holds at most this much more than the bandwidth seen would fill: where a queue is too short to be
// seen as delay (a policer), this bounds what is sent in vain.
constexpr double bandwidth_headroom = 1.4;
// Of the mean deviation of round trips, which is of jitter: a queue comes and goes more slowly.
constexpr int jitter_tolerance = 3;
// Rounds in which the queue stays up though the window gave way, before somebody else is blamed.
constexpr std::uint32_t standing_rounds_min = 5;
// Rounds in which it gave way, and what was left of it then: alone it would long have emptied the queue. So
// one who fills the queue as slowly as we empty it is seen, too.
constexpr std::uint32_t pushed_rounds_min = 8;
constexpr double pushed_share = 0.6;
// Added each round of competing. Reno adds one; of the rounds some are spent in looking whether it is there.
constexpr double compete_packets = 1.2;
// After the last round of competing. Reno needs some ten to a hundred to fill a queue again.
constexpr std::uint32_t wary_rounds = 200;
// So many times, and then he has to show himself anew; as he has after so many rounds without a loss.
constexpr std::uint32_t wary_entries_max = 8, compete_rounds_max = 150;
// At the least window: rounds before the queue is tried by growing, by how much, what it must bring of
// bandwidth to show that somebody else fills the queue, and rounds before it is tried again if it did not.
constexpr std::uint32_t floor_rounds_min = 8, floor_pause_rounds = 200;
constexpr double floor_growth = 4, floor_bandwidth_growth = 2;
// Rounds without any queue before the window grows in steps: the path has become faster.
constexpr std::uint32_t empty_rounds_min = 4;
}  // namespace

Micros Congestion::target(const RoundTrip& round_trip) {
  return std::clamp(round_trip.minimum() / 8, queue_target_min, queue_target_max);
}

/// A line that jitters shows a queue where there is none.
Micros Congestion::tolerated(const RoundTrip& round_trip) {
  return std::clamp(jitter_tolerance * round_trip.variation(), target(round_trip), queue_target_max);
}

double Congestion::bandwidth_bytes_per_s() const {
  return *std::max_element(bandwidth_.begin(), bandwidth_.end());
}

double Congestion::rate_bytes_per_s(const RoundTrip& round_trip) const {
  const double gain = mode_ == Mode::start ? 2.0 : 1.2;
  return gain * window_ / seconds(std::max(round_trip.smoothed(), Micros{1'000}));
}

void Congestion::limit_window() {
  window_ = std::clamp(window_, static_cast<double>(window_min), static_cast<double>(window_max));
}

void Congestion::note_rtt(Micros rtt, const RoundTrip& round_trip) {
  if (recent_ == 0) recent_us_.fill(rtt.count());
  recent_us_[recent_++ % rtt_samples] = rtt.count();
  queue_ = Micros{*std::min_element(recent_us_.begin(), recent_us_.end())} - round_trip.minimum();
  queue_ = std::max(queue_, Micros{0});
  round_rtt_ = std::min(round_rtt_, rtt);
  ++round_samples_;
}

void Congestion::acked(Micros now, const LossDetection::Acked& ack, const RoundTrip& round_trip,
                       std::uint64_t next_sequence, bool limited, bool beside_messages) {
  limited_ = limited_ || limited;
  const auto bytes = static_cast<double>(ack.bytes);
  round_acked_ += bytes;
  if (ack.rtt) note_rtt(*ack.rtt, round_trip);
  if (mode_ == Mode::start) {
    growth_ = beside_messages ? start_growth_beside_messages : start_growth;
    if (limited_) window_ += (growth_ - 1) * bytes;
    if (queue_ > target(round_trip)) {
      leave_start(round_trip);
      cut_until_ = next_sequence;  // what overflowed then is paid for
    }
  } else if (mode_ == Mode::compete && limited_) {
    window_ += compete_packets * static_cast<double>(packet_bytes) * bytes / window_;
  }
  limit_window();
  if (ack.largest >= round_end_ && ack.largest != 0 && round_samples_ >= round_samples_min) {
    end_round(now, round_trip);
    round_end_ = next_sequence;
    round_since_ = now;
    round_acked_ = 0;
    round_samples_ = 0;
    round_rtt_ = Micros::max();
    limited_ = false;
  }
}

void Congestion::leave_start(const RoundTrip& round_trip) {
  mode_ = Mode::delay;
  // What was added during the round trip that it took to see the queue goes at once.
  const double fits = bandwidth_bytes_per_s() * seconds(round_trip.minimum() + target(round_trip));
  window_ = std::max(window_ / growth_, std::min(window_, fits));
  rounds_standing_ = rounds_empty_ = 0;
}

void Congestion::end_round(Micros now, const RoundTrip& round_trip) {
  const double took = seconds(now - round_since_);
  double& bandwidth = bandwidth_[round_++ % bandwidth_rounds];
  bandwidth = took > 0 ? round_acked_ / took : 0;
  if (round_rtt_ == Micros::max()) return;  // nothing was measured
  Micros queue = std::max(round_rtt_ - round_trip.minimum(), Micros{0});
  // A round of a few packets may show nothing but jitter: those before it are as good.
  if (window_ < static_cast<double>(window_first) && wary_rounds_ == 0) queue = std::min(queue, queue_);
  const Micros goal = tolerated(round_trip);
  if (mode_ == Mode::start) {
    if (!limited_) return;
    const bool grew = bandwidth > 1.25 * full_bandwidth_;
    if (grew) full_bandwidth_ = bandwidth;
    rounds_without_growth_ = grew ? 0 : rounds_without_growth_ + 1;
    if (rounds_without_growth_ >= 3) leave_start(round_trip);
  } else if (mode_ == Mode::compete) {
    if (trying_floor_ && !floor_tried(bandwidth)) return limit_window();
    const bool look = ++compete_rounds_ >= compete_rounds_max;
    if (look) wary_rounds_ = 0;
    if (look || queue < goal) mode_ = Mode::delay, rounds_standing_ = rounds_empty_ = 0;
  } else {
    follow_delay(queue, goal, round_trip);
  }
  queue_before_ = {queue_before_[1], queue};
  limit_window();
}

void Congestion::compete() {
  mode_ = Mode::compete;
  wary_entries_ = wary_rounds_ > 0 ? wary_entries_ + 1 : 0;
  wary_rounds_ = wary_entries_ < wary_entries_max ? wary_rounds : 0;
  compete_rounds_ = 0;
  rounds_standing_ = rounds_empty_ = rounds_pushed_ = 0;
}

// Its least window gives way no more: either the line is so slow that this alone makes a queue, or somebody
// else has left it no more. Growing tells: alone it brings nothing.
void Congestion::stand_at_floor() {
  if (++floor_rounds_ < floor_rounds_min) return;
  if (floor_pause_ > 0) {
    --floor_pause_;
    return;
  }
  floor_rounds_ = 0;
  floor_bandwidth_ = bandwidth_[(round_ - 1) % bandwidth_rounds];
  floor_window_ = window_;
  trying_floor_ = true;
  compete();
}

/// @return false: nobody else is there
bool Congestion::floor_tried(double bandwidth) {
  if (window_ < floor_growth * floor_window_) return true;
  trying_floor_ = false;
  if (bandwidth >= floor_bandwidth_growth * floor_bandwidth_) return true;
  mode_ = Mode::delay;
  window_ = static_cast<double>(window_min);
  floor_pause_ = floor_pause_rounds;
  wary_rounds_ = 0;
  return false;
}

/// Has somebody else taken, a little each round, what this gave up?
bool Congestion::pushed_out(double next) {
  if (next >= window_) {
    rounds_pushed_ = 0;
    return false;
  }
  if (rounds_pushed_++ == 0) window_pushed_ = window_;
  return rounds_pushed_ >= pushed_rounds_min && next < pushed_share * window_pushed_;
}

void Congestion::follow_delay(Micros queue, Micros goal, const RoundTrip& round_trip) {
  const bool wary = wary_rounds_ > 0;
  if (wary) --wary_rounds_;
  if (window_ <= 1.5 * static_cast<double>(window_min) && queue > 2 * goal) return stand_at_floor();
  floor_rounds_ = 0;
  // Our own queue shrinks with our window within two rounds.
  const bool stands = queue > 2 * goal && (wary || 4 * queue > 3 * queue_before_[0]);
  if (stands && rounds_standing_ == 0) window_given_up_ = window_;
  rounds_standing_ = stands ? rounds_standing_ + 1 : 0;
  if (rounds_standing_ >= (wary ? 1 : standing_rounds_min)) {
    window_ = std::max(window_, window_given_up_);
    return compete();
  }
  // What lies in the queue when all is well: at low rates that is less than a packet, which nobody can see.
  const double rtt_s = seconds(round_trip.minimum() + queue);
  const double queued = std::max(window_ * seconds(goal) / rtt_s, static_cast<double>(packet_bytes));
  double next = window_ + law_step * (window_ * seconds(round_trip.minimum()) / rtt_s + queued - window_);
  if (pushed_out(next)) {
    window_ = (window_ + window_pushed_) / 2;
    return compete();
  }
  if (next < window_) {
    rounds_empty_ = 0;
    if (!wary) window_ = next;
    return;
  }
  if (!limited_) return;
  if (wary) next = std::max(next, window_ + static_cast<double>(packet_bytes));
  rounds_empty_ = 4 * queue < goal ? rounds_empty_ + 1 : 0;
  if (rounds_empty_ >= empty_rounds_min) {
    next = window_ * (1 + std::min(step_max, step_goals_max * seconds(goal) / seconds(round_trip.minimum())));
    rounds_empty_ -= 2;  // what it brings shows two rounds later
  }
  // A round of a few packets lasts longer than a round trip, as they come a tick apart and acknowledgements
  // are waited with: what it brought counts, not how fast.
  const double filled =
      std::max(bandwidth_bytes_per_s() * seconds(round_trip.minimum() + goal), round_acked_);
  const double fits = std::max(bandwidth_headroom * filled, static_cast<double>(window_first));
  window_ = std::max(window_, std::min(next, fits));
}

void Congestion::lost(std::uint64_t bytes, std::uint64_t newest_lost, const RoundTrip& round_trip,
                      std::uint64_t next_sequence) {
  if (bytes == 0 || newest_lost < cut_until_) return;
  // A few packets a round show nothing but jitter for a queue, and fill none.
  const int shown = window_ < static_cast<double>(window_first) ? 1 : 2;
  if (shown * queue_ <= tolerated(round_trip)) return;  // chance
  if (mode_ == Mode::start) leave_start(round_trip);
  cut_until_ = next_sequence;
  // What empties the queue, so that a chance loss costs little. Beside a rival we give up less than Reno
  // does, as the time in which we look whether he is still there is his.
  const double empties = seconds(round_trip.minimum()) / seconds(round_trip.minimum() + queue_);
  window_ *= mode_ == Mode::compete ? std::clamp(empties, 0.55, 0.7) : std::clamp(empties, 0.5, 1.0);
  if (mode_ == Mode::compete) mode_ = Mode::delay;
  rounds_standing_ = rounds_empty_ = 0;
  limit_window();
}

void Congestion::silence() {
  const std::uint64_t cut = cut_until_;
  *this = Congestion{};
  cut_until_ = cut;
}

}  // namespace ashlar
