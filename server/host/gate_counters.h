#pragma once
#include <cstdint>

namespace ashlar::server {

/// What the gate kept out, and what it answered. Counters only grow.
struct GateCounters {
  std::uint64_t greetings_limited = 0;  ///< hellos that were not read
  std::uint64_t refusals_limited = 0;   ///< refusals that were not said
  std::uint64_t pongs = 0, pings_limited = 0;
  std::uint64_t unknown_told = 0;  ///< packets of unknown connections that were answered
  std::uint64_t unknown_limited = 0;
  std::uint64_t rejoins_refused = 0;  ///< hellos of addresses that come and go too often
};

}  // namespace ashlar::server
