#include "server/host/connection_ids.h"

namespace ashlar::server {

std::uint32_t ConnectionIds::draw() {
  std::uint32_t id = 0;
  while (id == 0) id = static_cast<std::uint32_t>(keyed_hash(secret_, ++drawn_));
  return id;
}

}  // namespace ashlar::server
