#pragma once
#include <cstdint>

namespace ashlar::server {

/// What came of requests for maps and props. Counters only grow.
struct ContentCounters {
  std::uint64_t requests = 0, refused = 0;
  std::uint64_t parts = 0, bytes = 0;  ///< that were sent
  std::uint64_t finished = 0;          ///< the last byte was sent
};

}  // namespace ashlar::server
