#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "protocol/datagram.h"

namespace ashlar::server {

using Micros = std::chrono::duration<std::int64_t, std::micro>;

/// Takes a tick's datagrams while it makes them, so that nobody waits for everybody's, and so that a packet's
/// time is about that at which it leaves: what a busy server takes is no delay of a path. An adapter to
/// sockets is one.
class EarlySender {
 public:
  virtual ~EarlySender() = default;
  /// It is called between two clients' snapshots whenever so many are there.
  static constexpr std::size_t datagrams_least = 64;
  /// Sends what is there and empties the batch, or leaves it for later.
  /// @return the present time, by the clock of Host::advance()
  virtual Micros send(DatagramBatch& datagrams) = 0;
};

}  // namespace ashlar::server
