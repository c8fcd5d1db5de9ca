#pragma once
#include <cstdint>

namespace ashlar::server {

/// What the gate kept out, and what it answered. Counters only grow.
struct GateCounters {
  std::uint64_t answers_limited =
      0;  ///< hellos without a cookie, and of other versions, that were not answered
  std::uint64_t handshakes_limited = 0;  ///< hellos and finishes that were not computed
  std::uint64_t pongs = 0, pings_limited = 0;
  std::uint64_t unknown_told = 0;  ///< packets of unknown connections that were answered
  std::uint64_t unknown_limited = 0;
  std::uint64_t rejoins_refused = 0;  ///< players of addresses that come and go too often
};

}  // namespace ashlar::server
