#include "server/host/host_switch.h"

#include <algorithm>
#include <utility>

#include "protocol/secure/door_secrets.h"
#include "protocol/secure/open_packets.h"
#include "protocol/secure/packet_protection.h"
#include "protocol/version.h"
#include "server/host/connection_ids.h"
#include "server/host/host_keys.h"
#include "world/math/assert.h"
#include "world/sim/world.h"

namespace ashlar::server {

namespace {

bool has_cookie(std::span<const std::uint8_t> hello) {
  return hello.size() == secure::hello_bytes &&
         std::ranges::any_of(hello.subspan(secure::hello_cookie_at, secure::cookie_bytes),
                             [](std::uint8_t b) { return b != 0; });
}

}  // namespace

std::size_t HostSwitch::first_with_place(const HostSwitch& rooms, const PeerAddress&) {
  for (std::size_t i = 0; i < rooms.size(); ++i)
    if (rooms.host(i).free_places() > 0) return i;
  for (std::size_t i = 0; i < rooms.size(); ++i)
    if (rooms.host(i).away() > 0) return i;
  return 0;
}

HostSwitch::HostSwitch(const secure::Secret& seed, Policy policy)
    : seed_(seed),
      ids_(connection_key(seed)),
      places_(hash_key(seed, "strangers")),
      policy_(std::move(policy)),
      strangers_(strangers_max) {
  ASHLAR_ASSERT(policy_ != nullptr);
}

Host& HostSwitch::add(HostConfig config, std::unique_ptr<World> world) {
  ASHLAR_ASSERT(rooms_.size() < rooms_max);
  config.room = static_cast<std::uint8_t>(rooms_.size());
  rooms_.push_back({std::make_unique<Host>(config, std::move(world), seed_), {}, {}});
  return *rooms_.back().host;
}

/// @param begins  of a handshake this is the very first: the policy chooses anew
std::size_t HostSwitch::room_of_stranger(Micros now, const PeerAddress& from, bool begins) {
  const std::uint64_t tag = std::max<std::uint64_t>(1, keyed_hash(places_, secure::bytes_of(from)));
  Stranger& stranger = strangers_[tag % strangers_max];
  if (begins || stranger.tag != tag || now - stranger.at >= handshake_max) {
    const std::size_t chosen = policy_(*this, from);
    ASHLAR_ASSERT(chosen < rooms_.size());
    stranger = {tag, chosen, now};
  }
  return stranger.room;
}

/// A sealed packet goes where its number says, whether there is such a connection or not: that Host knows
/// what to answer. What no room would answer costs no search.
std::size_t HostSwitch::room_for(Micros now, const PeerAddress& from, std::span<const std::uint8_t> bytes) {
  const auto type = secure::packet_type(bytes, protocol_version);
  if (!type) return 0;
  if (*type == secure::PacketType::sealed) {
    const auto number = secure::sealed_connection(bytes, protocol_version);
    const std::size_t room = number ? ConnectionIds::room_of(ids_, *number) : 0;
    return room < rooms_.size() ? room : 0;
  }
  if (*type == secure::PacketType::hello) return room_of_stranger(now, from, !has_cookie(bytes));
  if (*type == secure::PacketType::finish) return room_of_stranger(now, from, false);
  if (*type != secure::PacketType::ping) return 0;
  const std::size_t chosen = policy_(*this, from);
  ASHLAR_ASSERT(chosen < rooms_.size());
  return chosen;
}

void HostSwitch::advance(Micros now, const DatagramBatch& in, DatagramBatch& out, std::int64_t unix_s) {
  ASHLAR_ASSERT(!rooms_.empty());
  for (Room& room : rooms_) room.in.datagrams.clear(), room.in.unix_s = unix_s;
  for (const DatagramBatch::Entry& entry : in.entries()) {
    const auto bytes = in.bytes(entry);
    const bool taken = rooms_[room_for(now, entry.peer, bytes)].in.datagrams.add(entry.peer, bytes);
    ASHLAR_ASSERT(taken);  // no longer than it was
  }
  for (const PeerAddress& peer : in.closed())
    for (Room& room : rooms_) room.in.datagrams.add_closed(peer);  // its finish may be in this very batch
  for (Room& room : rooms_) {
    room.out.clear();
    std::swap(room.out.datagrams, out);  // so that all rooms append to one batch, and nothing is copied
    room.host->advance(now, room.in, room.out);
    std::swap(room.out.datagrams, out);
    room.in.ground.clear(), room.in.packed.clear();
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

bool HostSwitch::silent() const {
  return std::ranges::all_of(rooms_, [](const Room& room) { return room.host->silent(); });
}

}  // namespace ashlar::server
