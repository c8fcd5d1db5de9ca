#pragma once
#include <chrono>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/datagram.h"
#include "world/math/random.h"

namespace ashlar::client_sim {

/// Time since an arbitrary start; handed in, never read from a clock.
using Micros = std::chrono::duration<std::int64_t, std::micro>;

/// What a network does to datagrams on one way. Shares are in [0, 1].
struct LinkConditions {
  Micros delay{0};             ///< of every datagram
  Micros jitter{0};            ///< up to so much more, drawn for each: late ones overtake
  double loss_share = 0;       ///< vanish
  double duplicate_share = 0;  ///< arrive again, once to three times
  double reorder_share = 0;    ///< are held back behind those sent after them, by hold_back
  Micros hold_back{40'000};    ///< how long
  double corrupt_share = 0;    ///< have one to eight bits flipped, or lose their end
  std::uint32_t bytes_per_second_max =
      0;  ///< 0: no limit; what would wait longer than queue_wait_max is lost
  Micros queue_wait_max{250'000};
  bool cut = false;  ///< nothing comes through
  /// A stream, as TCP: nothing is lost, doubled, reordered or corrupted; what would be lost comes later
  /// instead (resend_after), and so does everything behind it.
  bool stream = false;
  Micros resend_after{200'000};
};

/// What a link did to datagrams. Counters only grow.
struct LinkCounters {
  std::uint64_t sent = 0, delivered = 0, lost = 0, duplicated = 0, held_back = 0, corrupted = 0;
  std::uint64_t over_rate = 0;  ///< lost because too much waited already
  std::uint64_t cut_off = 0;
  std::uint64_t resent = 0;  ///< stream: delayed instead of lost
};

/// One way of a network path: datagrams go in, and come out later, changed, twice or never. Seeded: the same
/// datagrams at the same times meet the same fate. Conditions may change at any time and hold for what is
/// sent from then on. Allocates nothing once it has grown to the datagrams on their way.
class Link {
 public:
  explicit Link(std::uint64_t seed) : rng_(rng_for(seed, 0x117c)) {}

  void set(const LinkConditions& conditions) { conditions_ = conditions; }
  const LinkConditions& conditions() const { return conditions_; }
  const LinkCounters& counters() const { return counters_; }

  /// Takes a datagram on its way. `peer` is kept and handed out with it.
  /// Precondition: bytes.size() <= datagram_bytes_max; now never goes back.
  void send(Micros now, const PeerAddress& peer, std::span<const std::uint8_t> bytes);

  /// Adds what has arrived by `now` to `out`, in the order of arrival.
  void receive(Micros now, DatagramBatch& out);

  /// When the next datagram arrives; Micros::max() when none is on its way.
  Micros next_arrival() const;
  /// Datagrams on their way.
  std::size_t waiting() const { return heap_.size(); }
  /// Loses what is on its way.
  void clear();

 private:
  struct Waiting {
    Micros at{0};
    std::uint64_t number = 0;  // the order of sending decides between equal times
    std::uint32_t slot = 0;
  };
  struct Slot {
    PeerAddress peer;
    std::vector<std::uint8_t> bytes;
  };
  static bool later(const Waiting& a, const Waiting& b) {
    return a.at != b.at ? a.at > b.at : a.number > b.number;
  }
  bool happens(double share) { return share > 0 && rng_.unit() < share; }
  Micros drawn(Micros up_to);
  void put(Micros at, const PeerAddress& peer, std::span<const std::uint8_t> bytes, bool corrupt);
  void flip(std::vector<std::uint8_t>& bytes);
  void send_in_stream(Micros at, const PeerAddress& peer, std::span<const std::uint8_t> bytes);

  LinkConditions conditions_;
  LinkCounters counters_;
  Rng rng_;
  std::vector<Waiting> heap_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t number_ = 0;
  Micros busy_until_{0};   // of the rate limit
  Micros stream_last_{0};  // arrival of the newest in a stream
};

}  // namespace ashlar::client_sim
