#pragma once
#include <cstdint>

namespace ashlar::server {

/// What clients that do not compute the ground were sent of it. Counters only grow, but for the last two.
struct GroundStreamCounters {
  std::uint64_t chunks = 0, bytes = 0;  ///< that were sent, and of messages
  std::uint64_t kept = 0;               ///< that their clients held from before: only that was told
  std::uint64_t packed = 0;             ///< once for all who are sent them
  std::uint64_t behind = 0;             ///< told anew, as the client took their changes too slowly
  std::uint32_t clients = 0;            ///< that are sent the ground: now
  std::uint64_t cache_bytes = 0;        ///< of packed chunks: now
};

}  // namespace ashlar::server
