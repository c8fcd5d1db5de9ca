#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/connection/grow_ring.h"
#include "protocol/messages.h"

namespace ashlar::client_sim {

/// Something to show or to be heard, and when it happened.
struct HeardCue {
  Cue cue;
  std::uint32_t tick = 0;  ///< in which it happened: a picture that lags behind shows it when it is there
};

/// What only shows, as it came: in any order, late and twice. Each list is taken once; one that is more than
/// a second at 60 Hz behind the newest is too old to be shown. One thread.
class CueInbox {
 public:
  /// At most so many wait to be taken; the oldest give way.
  static constexpr std::size_t kept_max = 256;
  static constexpr std::uint32_t ticks_known = 64;

  /// Another world.
  void reset() { *this = CueInbox{}; }
  /// A list that came in a part of a snapshot, or beside one (part 0). False: it came before, or too late.
  /// Precondition: part < snapshot_parts_max.
  bool take_in(std::uint32_t tick, std::uint8_t part, std::span<const Cue> cues);
  /// Those that wait, as they came; the first `most` of them, the rest stays.
  std::vector<HeardCue> take(std::size_t most = kept_max);

 private:
  struct Heard {
    std::uint32_t tick = 0, parts = 0;
  };
  std::array<Heard, ticks_known> heard_{};  // by tick modulo
  std::uint32_t newest_tick_ = 0;
  GrowRing<HeardCue> cues_;
};

}  // namespace ashlar::client_sim
