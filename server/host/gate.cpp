#include "server/host/gate.h"

#include <algorithm>

#include "protocol/version.h"
#include "server/net/address.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

/// A second hello from an address replaces a session only when that one has been silent for so long: a
/// spoofed hello must not throw out a player.
constexpr AddressBudget::Micros replace_after{2'000'000};

/// A secret for each table, so that one tells nothing of another.
SecretKey derived(const SecretKey& secret, std::uint64_t number) {
  return {keyed_hash(secret, 2 * number), keyed_hash(secret, 2 * number + 1)};
}

/// Takes one of both, or none of either.
bool take(AddressBudget& share, std::uint32_t& left, AddressBudget::Micros now, const PeerAddress& peer) {
  if (left == 0 || !share.take(now, limit_key(peer))) return false;
  --left;
  return true;
}

}  // namespace

Gate::Gate(const SecretKey& secret, std::uint32_t clients_per_address_max, std::uint32_t rejoins_per_minute)
    : secret_(derived(secret, 1)),
      greetings_(derived(secret, 2), 60 * greetings_limit.per_s, greetings_limit.burst),
      refusals_(derived(secret, 3), 60 * refusals_limit.per_s, refusals_limit.burst),
      pings_(derived(secret, 4), 60 * pings_limit.per_s, pings_limit.burst),
      unknown_(derived(secret, 5), 60 * unknown_limit.per_s, unknown_limit.burst),
      // What an address may have playing at once may also come back twice a minute.
      stays_(derived(secret, 6),
             rejoins_per_minute == 0 ? 0 : std::max(rejoins_per_minute, 2 * clients_per_address_max),
             2 * clients_per_address_max + 64),
      clients_per_address_max_(clients_per_address_max),
      stays_limited_(rejoins_per_minute != 0),
      told_(told_places) {
  next_tick();
}

void Gate::next_tick() {
  greetings_left_ = greetings_limit.per_tick;
  refusals_left_ = refusals_limit.per_tick;
  pings_left_ = pings_limit.per_tick;
  unknown_left_ = unknown_limit.per_tick;
}

bool Gate::greets(Micros now, const PeerAddress& peer) {
  if (take(greetings_, greetings_left_, now, peer)) return true;
  ++counters_.greetings_limited;
  return false;
}

HelloKind Gate::read(Micros now, const PeerAddress& peer, const Hello& hello, const SessionTable& sessions) {
  if (!greets(now, peer)) return HelloKind::unread;
  if (hello.protocol != protocol_version) return HelloKind::other_version;
  const Session* known = sessions.find(peer);
  if (known == nullptr) return HelloKind::fresh;
  ASHLAR_ASSERT(known->address == peer);
  if (known->nonce == hello.nonce) return HelloKind::repeated;
  return now - known->heard_at < replace_after ? HelloKind::address_taken : HelloKind::comes_anew;
}

Admission Gate::admit(Micros now, const PeerAddress& peer, const SessionTable& sessions,
                      std::uint32_t bodies) {
  ASHLAR_ASSERT(sessions.find(peer) == nullptr);
  Admission admission;
  std::uint32_t taken = sessions.size() + bodies;
  const std::uint32_t places = sessions.capacity();
  const bool too_many = sessions.count_of_host(peer) >= clients_per_address_max_;
  const bool too_often = !may_come_again(now, peer);
  if (!too_many && !too_often) {
    const auto key = limit_key(peer);
    admission.gives_way = sessions.greeted().gives_way_to(key);
    // One fewer is a place, unless bodies hold more than that.
    if (admission.gives_way == 0 && taken == places)
      admission.gives_way = sessions.greeted().first_to_go(key);
    if (admission.gives_way != 0) --taken;
  }
  if (taken >= places)
    admission.refusal = {RefuseReason::full,
                         "the server is full (" + std::to_string(places) + " clients); try again later"};
  else if (too_many)
    admission.refusal = {
        RefuseReason::too_many_from_address,
        "this server takes " + std::to_string(clients_per_address_max_) + " clients an address"};
  else if (too_often)
    admission.refusal = {RefuseReason::too_many_from_address,
                         "too many come and go from your address; try again in a few seconds"};
  return admission;
}

bool Gate::refuses(Micros now, const PeerAddress& peer) {
  if (take(refusals_, refusals_left_, now, peer)) return true;
  ++counters_.refusals_limited;
  return false;
}

bool Gate::answers_ping(Micros now, const PeerAddress& peer) {
  const bool answered = take(pings_, pings_left_, now, peer);
  ++(answered ? counters_.pongs : counters_.pings_limited);
  return answered;
}

bool Gate::tells_unknown(Micros now, const PeerAddress& peer) {
  // A client that plays on sends sixty packets a second: one answer will do, and leaves others theirs.
  const std::uint64_t source = keyed_hash(secret_, peer.ip) ^
                               keyed_hash(secret_, static_cast<std::uint64_t>(peer.port) << 32 | peer.link);
  Told& told = told_[source % told_places];
  const bool lately = told.source == source && now - told.at < unknown_every;
  if (lately || !take(unknown_, unknown_left_, now, peer)) {
    ++counters_.unknown_limited;
    return false;
  }
  told = {source, now};
  ++counters_.unknown_told;
  return true;
}

bool Gate::may_come_again(Micros now, const PeerAddress& peer) {
  if (!stays_limited_ || stays_.has(now, limit_key(peer))) return true;
  ++counters_.rejoins_refused;
  return false;
}

void Gate::note_stay(Micros now, const PeerAddress& peer, Micros stay) {
  if (stays_limited_ && stay < short_stay) (void)stays_.take(now, limit_key(peer));
}

}  // namespace ashlar::server
