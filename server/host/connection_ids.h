#pragma once
#include <cstdint>

#include "server/host/secret_key.h"

namespace ashlar::server {

/// Draws the ids of new connections: nothing that anybody was told before tells the next one. One thread.
class ConnectionIds {
 public:
  explicit ConnectionIds(const SecretKey& secret) : secret_(secret) {}

  /// Never 0. Ids repeat, in two billion on average: the caller draws again where one is in use.
  std::uint32_t draw();

 private:
  SecretKey secret_;
  std::uint64_t drawn_ = 0;
};

}  // namespace ashlar::server
