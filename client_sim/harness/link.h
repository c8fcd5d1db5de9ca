#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "client_sim/client/histogram.h"
#include "protocol/datagram.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

/// What one direction of a link does to datagrams. Shares are in [0, 1].
struct LinkConditions {
  Micros latency{0};
  Micros jitter{0};        ///< each datagram waits between 0 and this on top
  double loss = 0;         ///< share that never arrives
  double duplication = 0;  ///< share that arrives twice, the copy with a wait of its own
  double reordering = 0;   ///< share that waits reorder_delay on top, so that others overtake it
  Micros reorder_delay{20'000};
  double corruption = 0;                     ///< share in which a few bits are flipped, or the end is missing
  std::uint64_t bytes_per_s = 0;             ///< 0: no limit
  std::size_t queue_bytes_max = 256 * 1024;  ///< what waits for the rate beyond this is dropped
  /// A stream (TCP): nothing overtakes, nothing is lost, doubled or corrupted; what would be lost comes later
  /// by resend_after instead, and so does everything behind it. What goes to or comes from a TCP peer always
  /// does.
  bool ordered = false;
  Micros resend_after{200'000};

  /// Does nothing at all.
  bool plain() const {
    return latency == Micros{0} && jitter == Micros{0} && loss == 0 && duplication == 0 && reordering == 0 &&
           corruption == 0 && bytes_per_s == 0;
  }
};

/// Counters only grow.
struct LinkStats {
  std::uint64_t taken = 0, delivered = 0;
  std::uint64_t lost = 0;        ///< by chance
  std::uint64_t cut = 0;         ///< by a partition
  std::uint64_t overflowed = 0;  ///< by the rate's queue
  std::uint64_t duplicated = 0, reordered = 0, corrupted = 0;
  std::uint64_t resent = 0;  ///< ordered: late instead of lost
};

/// One direction of a link between two values, in simulated or real time. Seeded: same calls, same fates.
/// Every datagram draws its whole fate, so one condition does not change another's luck. Conditions may
/// change at any time and hold for what is sent from then on. Its memory is used again.
class Link {
 public:
  Link(const LinkConditions& conditions, std::uint64_t seed) : conditions_(conditions), rng_{seed} {}

  /// For what is sent from now on; what is under way keeps its fate.
  void set_conditions(const LinkConditions& conditions) { conditions_ = conditions; }
  const LinkConditions& conditions() const { return conditions_; }  ///< the present ones

  /// Everything sent before `until` is lost, as in a network that has come apart; a stream's bytes wait.
  void partition(Micros until) { partition_until_ = until; }

  /// Takes datagrams in; their fates are drawn now. Closed connections travel behind all that is under way.
  /// `now` never runs backwards.
  void send(Micros now, const DatagramBatch& batch);

  /// Appends what is due by `now`, in the order of arrival.
  void deliver(Micros now, DatagramBatch& out);

  /// Loses what is under way.
  void clear();
  /// Datagrams and closings under way.
  std::size_t under_way() const { return queue_.size(); }
  /// Is anything of this sender's or receiver's under way? O(under way).
  bool carries(const PeerAddress& peer) const;
  /// That it holds, under way or to be used again: as much as was ever under way at once. O(that).
  std::size_t memory_bytes() const;
  /// When the next of them is due; Micros::max() when there is none.
  Micros next_due() const { return queue_.empty() ? Micros::max() : queue_.front().due; }
  const LinkStats& stats() const { return stats_; }

 private:
  struct Parcel {
    Micros due{0};
    std::uint64_t order = 0;  // of sending: ties go to the earlier
    PeerAddress peer;
    bool closed = false;
    std::vector<std::uint8_t> bytes;
  };
  struct Fate {
    bool lose, twice, overtaken, spoil;
    Micros wait, copy_wait;
  };

  static bool later(const Parcel& a, const Parcel& b);
  Fate draw();
  Micros draw_wait();
  void add(Micros due, const PeerAddress& peer, std::span<const std::uint8_t> bytes, bool spoil, bool closed);
  void send_ordered(Micros start, const Fate& fate, const PeerAddress& peer,
                    std::span<const std::uint8_t> bytes);
  void spoil_bytes(std::vector<std::uint8_t>& bytes);

  LinkConditions conditions_;
  Rng rng_;
  Micros partition_until_{0};
  Micros line_free_{0};  // when the rate lets the next datagram begin
  Micros last_due_{0};   // of an ordered link
  std::uint64_t order_ = 0;
  std::vector<Parcel> queue_;  // a heap by due, then order
  std::vector<std::vector<std::uint8_t>> spare_;
  LinkStats stats_;
};

}  // namespace ashlar::client_sim
