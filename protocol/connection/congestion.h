#pragma once
#include <array>
#include <cstdint>

#include "protocol/connection/loss_detection.h"

namespace ashlar {

/// How many bytes may be on their way at once.
///
/// The window follows the delay: once a round trip it moves towards the size at which the path's queue holds
/// `queue_target` (FAST: w' = w (minimum + target) / measured). A loss counts only while the queue is up, as
/// a full queue is the only loss that sending less can heal: chance losses at any rate change nothing.
///
/// A flow that fills queues until they overflow (Reno, Cubic) would starve that. When the queue stays up
/// though the window gives way, be it by much or for long, somebody else is filling it: then the window grows
/// by a packet or so a round trip as Reno's would, and gives up a quarter or so at a loss, until the queue is
/// down again. For a while after that the window does not give way to a queue that is up, and somebody else
/// is believed in sooner; now and then it does give way, to see whether he has gone.
///
/// Sources: FAST TCP (Wei, Jin, Low, Hegde 2006) for the law; Copa (Arun, Balakrishnan 2018), section 2.2,
/// for two modes told apart by whether the queue goes down; BBR (Cardwell et al. 2016) for the start's end by
/// bandwidth that stops growing; RFC 5681 for Reno.
class Congestion {
 public:
  enum class Mode : std::uint8_t {
    start,    ///< grows much each round trip, until the queue rises or the bandwidth does not
    delay,    ///< holds the queue at its target
    compete,  ///< somebody else fills the queue: Reno's rules
  };

  static constexpr std::uint64_t packet_bytes = datagram_bytes_max;
  static constexpr std::uint64_t window_first = 10 * packet_bytes;
  static constexpr std::uint64_t window_min = 2 * packet_bytes;
  static constexpr std::uint64_t window_max = 16 * 1024 * 1024;
  /// Delay that bulk may add to everybody's packets: an eighth of the round trip, or what the line's jitter
  /// hides, within these.
  static constexpr Micros queue_target_min{5'000}, queue_target_max{10'000};

  /// @param limited  more would have been sent, had the window allowed it, since the last call
  /// @param beside_messages  unreliable messages are on their way, too: the start is gentle to them
  void acked(Micros now, const LossDetection::Acked& ack, const RoundTrip& round_trip,
             std::uint64_t next_sequence, bool limited, bool beside_messages);
  void lost(std::uint64_t bytes, std::uint64_t newest_lost, const RoundTrip& round_trip,
            std::uint64_t next_sequence);
  /// Nothing came back for several probe timeouts: begins anew.
  void silence();
  /// Another path, of which nothing is known.
  void new_path() { *this = Congestion{}; }

  /// Bytes that may be on their way at once.
  std::uint64_t window_bytes() const { return static_cast<std::uint64_t>(window_); }
  /// What the pacer spreads the window over a round trip with.
  double rate_bytes_per_s(const RoundTrip& round_trip) const;
  Mode mode() const { return mode_; }
  Micros queue_delay() const { return queue_; }
  double bandwidth_bytes_per_s() const;

 private:
  static constexpr std::size_t rtt_samples = 8, round_samples_min = 3, bandwidth_rounds = 10;

  void note_rtt(Micros rtt, const RoundTrip& round_trip);
  void end_round(Micros now, const RoundTrip& round_trip);
  void leave_start(const RoundTrip& round_trip);
  void follow_delay(Micros queue, Micros goal, const RoundTrip& round_trip);
  void compete();
  bool pushed_out(double next);
  void stand_at_floor();
  bool floor_tried(double bandwidth);
  void limit_window();
  static Micros target(const RoundTrip& round_trip);
  static Micros tolerated(const RoundTrip& round_trip);

  double window_ = static_cast<double>(window_first);
  Mode mode_ = Mode::start;
  bool limited_ = false;  // in this round
  std::uint64_t round_end_ = 0;
  Micros round_since_{0}, round_rtt_ = Micros::max();
  double round_acked_ = 0;
  std::size_t round_samples_ = 0;  // a round lasts until there are some: one alone may have been reordered
  std::array<double, bandwidth_rounds> bandwidth_{};  // of the last rounds
  std::size_t round_ = 0;
  std::uint32_t rounds_without_growth_ = 0;
  double full_bandwidth_ = 0;
  double growth_ = 2;                                  // of the start, when it last grew
  std::array<std::int64_t, rtt_samples> recent_us_{};  // of the last acknowledgements
  std::size_t recent_ = 0;
  Micros queue_{0};  // what the lowest of those lies above the minimum
  std::array<Micros, 2> queue_before_{};
  std::uint32_t rounds_standing_ = 0, rounds_empty_ = 0;
  std::uint32_t wary_rounds_ = 0;                        // that are left in which somebody else is expected
  std::uint32_t wary_entries_ = 0, compete_rounds_ = 0;  // since somebody else was last looked for
  bool trying_floor_ = false;                            // competing, to see whether there is somebody
  std::uint32_t floor_rounds_ = 0, floor_pause_ = 0;
  double floor_bandwidth_ = 0, floor_window_ = 0;
  double window_given_up_ = 0;       // its size when it began to give way to a queue that stood
  std::uint32_t rounds_pushed_ = 0;  // one after the other in which it gave way at all
  double window_pushed_ = 0;         // its size before them
  std::uint64_t cut_until_ = 0;
};

}  // namespace ashlar
