#include "server/host/gate.h"

#include <algorithm>

#include "server/net/address.h"
#include "world/math/assert.h"

namespace ashlar::server {
namespace {

/// Nobody of an address gives way to another of it so soon after its welcome.
constexpr Gate::Micros joins_within{2'000'000};

/// A secret for each table, so that one tells nothing of another.
SecretKey derived(const SecretKey& secret, std::uint64_t number) {
  return {keyed_hash(secret, 2 * number), keyed_hash(secret, 2 * number + 1)};
}

}  // namespace

Gate::Share::Share(const SecretKey& secret, std::uint64_t number, const GateLimit& limit)
    : limit_(limit),
      of_address_(derived(secret, number), 60 * limit.per_s, limit.burst),
      left_(limit.all_per_s / 60) {}

void Gate::Share::next_tick(std::uint32_t tick_rate_hz) {
  ASHLAR_ASSERT(tick_rate_hz > 0);
  rest_ += limit_.all_per_s;
  left_ = std::min(left_ + rest_ / tick_rate_hz, limit_.all_per_tick_max(tick_rate_hz));
  rest_ %= tick_rate_hz;
}

bool Gate::Share::take(Micros now, const PeerAddress& peer) {
  if (left_ == 0 || !of_address_.take(now, limit_key(peer))) return false;
  --left_;
  return true;
}

Gate::Gate(const SecretKey& secret, std::uint32_t clients_per_address_max, std::uint32_t rejoins_per_minute)
    : secret_(derived(secret, 1)),
      answers_(secret, 2, answers_limit),
      handshakes_(secret, 3, handshakes_limit),
      pings_(secret, 4, pings_limit),
      unknown_(secret, 5, unknown_limit),
      // What an address may have playing at once may also come back twice a minute.
      stays_(derived(secret, 6),
             rejoins_per_minute == 0 ? 0 : std::max(rejoins_per_minute, 2 * clients_per_address_max),
             2 * clients_per_address_max + 64),
      returns_(derived(secret, 7), returns_per_minute, returns_per_minute),
      clients_per_address_max_(clients_per_address_max),
      stays_limited_(rejoins_per_minute != 0),
      told_(told_places) {}

void Gate::next_tick(std::uint32_t tick_rate_hz) {
  for (Share* share : {&answers_, &handshakes_, &pings_, &unknown_}) share->next_tick(tick_rate_hz);
}

Admission Gate::admit(Micros now, const PeerAddress& peer, const SessionTable& sessions,
                      std::uint32_t lingering, std::uint32_t away, const Session* earlier) {
  Admission admission;
  const auto key = limit_key(peer);
  const StrangerPool& greeted = sessions.greeted();
  const std::uint32_t places = sessions.capacity();
  std::uint32_t taken = sessions.size() + lingering + away;
  std::uint32_t of_host = sessions.count_of_host(peer);
  if (earlier != nullptr) {
    --taken;
    if (limit_key(earlier->address) == key) --of_host;
  }
  // Of one address, too, who does not join keeps none out; who came a moment ago may be about to.
  std::uint32_t own = 0;
  if (of_host >= clients_per_address_max_)
    own = greeted.oldest_of(key, earlier == nullptr ? std::uint32_t{0} : earlier->number);
  if (own != 0 && now - sessions.find(own)->began_at < joins_within) own = 0;
  const bool too_many =
      of_host > clients_per_address_max_ || (of_host == clients_per_address_max_ && own == 0);
  const bool too_often = !may_come_again(now, peer);
  if (!too_many && !too_often) {
    const bool earlier_makes_room = earlier != nullptr && greeted.holds(earlier->number);
    admission.gives_way = own;
    if (own == 0 && !earlier_makes_room) admission.gives_way = greeted.gives_way_to(key);
    // One fewer is a place, unless bodies hold more than that. Who never joined goes before who may come
    // back.
    if (admission.gives_way == 0 && !earlier_makes_room && taken >= places)
      admission.gives_way = greeted.first_to_go(key);
    if (admission.gives_way != 0) --taken;
    admission.away_gives_way = taken >= places && away > 0;
    if (admission.away_gives_way) --taken;
  }
  if (taken >= places)
    admission.refusal = {SessionEnd::full,
                         "the server is full (" + std::to_string(places) + " clients); try again later"};
  else if (too_many)
    admission.refusal = {
        SessionEnd::too_many_from_address,
        "this server takes " + std::to_string(clients_per_address_max_) + " clients an address"};
  else if (too_often)
    admission.refusal = {SessionEnd::too_many_from_address,
                         "too many come and go from your address; try again in a few seconds"};
  if (admission.refusal) admission.gives_way = 0, admission.away_gives_way = false;
  return admission;
}

bool Gate::answers(Micros now, const PeerAddress& peer) {
  if (answers_.take(now, peer)) return true;
  ++counters_.answers_limited;
  return false;
}

bool Gate::handshakes(Micros now, const PeerAddress& peer) {
  if (handshakes_.take(now, peer)) return true;
  ++counters_.handshakes_limited;
  return false;
}

bool Gate::answers_ping(Micros now, const PeerAddress& peer) {
  const bool answered = pings_.take(now, peer);
  ++(answered ? counters_.pongs : counters_.pings_limited);
  return answered;
}

bool Gate::tells_unknown(Micros now, const PeerAddress& peer) {
  // A client that plays on sends sixty packets a second: one answer will do, and leaves others theirs.
  const std::uint64_t source = keyed_hash(secret_, peer.ip) ^
                               keyed_hash(secret_, static_cast<std::uint64_t>(peer.port) << 32 | peer.link);
  Told& told = told_[source % told_places];
  const bool lately = told.source == source && now - told.at < unknown_every;
  if (lately || !unknown_.take(now, peer)) {
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

bool Gate::may_come_back(Micros now, const PeerAddress& peer, const Identity& identity) {
  if (!stays_limited_) return true;
  AddressBudget::Address who{};
  std::copy_n(identity.begin(), who.size(), who.begin());
  return returns_.take(now, who) || stays_.take(now, limit_key(peer));
}

void Gate::note_stay(Micros now, const PeerAddress& peer, Micros stay) {
  if (stays_limited_ && stay < short_stay) (void)stays_.take(now, limit_key(peer));
}

}  // namespace ashlar::server
