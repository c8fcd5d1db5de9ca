#include "server/host/host_switch.h"

#include <algorithm>
#include <utility>

#include "protocol/packet.h"
#include "server/host/connection_ids.h"
#include "world/math/assert.h"
#include "world/sim/world.h"

namespace ashlar::server {

std::size_t HostSwitch::first_with_place(const HostSwitch& rooms, const PeerAddress&) {
  for (std::size_t i = 0; i < rooms.size(); ++i)
    if (rooms.host(i).free_places() > 0) return i;
  return 0;
}

HostSwitch::HostSwitch(const SecretKey& secret, Policy policy) : secret_(secret), policy_(std::move(policy)) {
  ASHLAR_ASSERT(policy_ != nullptr);
}

Host& HostSwitch::add(HostConfig config, std::unique_ptr<World> world) {
  ASHLAR_ASSERT(rooms_.size() < rooms_max);
  config.room = static_cast<std::uint8_t>(rooms_.size());
  rooms_.push_back({std::make_unique<Host>(config, std::move(world), secret_), {}, {}});
  return *rooms_.back().host;
}

/// A packet with an id goes where the id says, whether there is such a connection or not: that Host knows
/// what to answer. What an address without a session sends goes by the policy, broken packets among it.
std::size_t HostSwitch::room_for(const PeerAddress& from, std::span<const std::uint8_t> bytes) const {
  const auto packet = decode_packet(bytes);
  // What no room would answer costs no search: of what cannot be read only another version's hello is.
  if (!packet && (packet.error() != DropReason::wrong_version || bytes.size() != datagram_bytes_max))
    return 0;
  if (packet && packet->header.connection != 0) {
    const std::size_t room = ConnectionIds::room_of(secret_, packet->header.connection);
    return room < rooms_.size() ? room : 0;
  }
  // A hello that is said again has to reach the room that has already answered it.
  for (std::size_t i = 0; i < rooms_.size(); ++i)
    if (rooms_[i].host->has_session(from)) return i;
  const std::size_t chosen = policy_(*this, from);
  ASHLAR_ASSERT(chosen < rooms_.size());
  return chosen;
}

void HostSwitch::advance(Micros now, const DatagramBatch& in, DatagramBatch& out) {
  ASHLAR_ASSERT(!rooms_.empty());
  for (Room& room : rooms_) room.in.datagrams.clear();
  for (const DatagramBatch::Entry& entry : in.entries()) {
    const auto bytes = in.bytes(entry);
    const bool taken = rooms_[room_for(entry.peer, bytes)].in.datagrams.add(entry.peer, bytes);
    ASHLAR_ASSERT(taken);  // no longer than it was
  }
  for (const PeerAddress& peer : in.closed())
    for (Room& room : rooms_) room.in.datagrams.add_closed(peer);  // its hello may be in this very batch
  for (Room& room : rooms_) {
    room.out.clear();
    std::swap(room.out.datagrams, out);  // so that all rooms append to one batch, and nothing is copied
    room.host->advance(now, room.in, room.out);
    std::swap(room.out.datagrams, out);
    room.in.ground.clear();
  }
}

Micros HostSwitch::next_tick_at() const {
  ASHLAR_ASSERT(!rooms_.empty());
  Micros first = rooms_.front().host->next_tick_at();
  for (const Room& room : rooms_) first = std::min(first, room.host->next_tick_at());
  return first;
}

void HostSwitch::shut_down(const std::string& reason, DatagramBatch& out) {
  for (Room& room : rooms_) room.host->shut_down(reason, out);
}

}  // namespace ashlar::server
