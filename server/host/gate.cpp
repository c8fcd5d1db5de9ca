#include "server/host/gate.h"

#include <algorithm>

#include "server/net/address.h"

namespace ashlar::server {
namespace {

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

Gate::Gate(const SecretKey& secret, std::uint32_t rejoins_per_minute, std::uint32_t rejoins_burst)
    : secret_(derived(secret, 1)),
      greetings_(derived(secret, 2), 60 * greetings_limit.per_s, greetings_limit.burst),
      refusals_(derived(secret, 3), 60 * refusals_limit.per_s, refusals_limit.burst),
      pings_(derived(secret, 4), 60 * pings_limit.per_s, pings_limit.burst),
      unknown_(derived(secret, 5), 60 * unknown_limit.per_s, unknown_limit.burst),
      stays_(derived(secret, 6), rejoins_per_minute, rejoins_burst),
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
