#include "server/host/farewells.h"

#include <algorithm>
#include <utility>

#include "world/math/assert.h"

namespace ashlar::server {

void Farewells::add(Micros now, std::unique_ptr<Connection> connection) {
  ASHLAR_ASSERT(connection->state() != ConnectionState::open);
  if (connection->state() == ConnectionState::closed || places_ == 0) return;
  if (leaving_.size() == places_) leaving_.erase(leaving_.begin());
  leaving_.push_back({std::move(connection), now + kept});
}

bool Farewells::receive(Micros now, const PeerAddress& from, std::uint32_t number,
                        std::span<const std::uint8_t> packet) {
  const auto it = std::ranges::find(leaving_, number, [](const Leaving& l) { return l.connection->id(); });
  if (it == leaving_.end()) return false;
  if (from.transport != it->connection->address().transport) return true;
  // Taken only so that it says its reason again.
  if (const auto opened = it->connection->open(now, from, packet, scratch_))
    (void)it->connection->accept(now, *opened);
  return true;
}

void Farewells::poll(Micros now, DatagramBatch& out) {
  std::erase_if(leaving_, [&](const Leaving& leaving) {
    if (leaving.connection->next_poll_at() <= now) leaving.connection->poll(now, out);
    return now >= leaving.until || leaving.connection->state() == ConnectionState::closed;
  });
}

bool Farewells::holds(std::uint32_t number) const {
  return std::ranges::any_of(leaving_, [&](const Leaving& l) { return l.connection->id() == number; });
}

bool Farewells::talking() const {
  return std::ranges::any_of(
      leaving_, [](const Leaving& l) { return l.connection->state() == ConnectionState::closing; });
}

}  // namespace ashlar::server
