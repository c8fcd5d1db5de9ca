#include "client_sim/client/handshakes.h"

#include <algorithm>
#include <utility>

#include "protocol/version.h"

namespace ashlar::client_sim {

Handshakes::Handshakes(HandshakesSetup setup) : setup_(std::move(setup)), links_(setup_.server.link) {}

PeerAddress Handshakes::address(std::size_t route) {
  PeerAddress out = route == 0 ? setup_.server : *setup_.fallback;
  if (const std::size_t at = address_[route]; at > 0)
    out.ip = setup_.more_addresses[at - 1].ip, out.scope = setup_.more_addresses[at - 1].scope;
  if (out.transport == Transport::tcp && setup_.opens_links) out.link = ++links_;
  return out;
}

Micros Handshakes::patience(std::size_t route) const {
  const std::size_t rounds = tried_[route] / (setup_.more_addresses.size() + 1);
  return setup_.next_after * (1 << std::min<std::size_t>(rounds, 4));
}

/// The next one to start() there is of the next address.
void Handshakes::go_on(std::size_t route, bool refused) {
  refused_[route] = refused ? refused_[route] + 1 : 0;
  address_[route] = (address_[route] + 1) % (setup_.more_addresses.size() + 1);
  ++tried_[route];
}

void Handshakes::start(Micros now, secure::Entropy& entropy, std::size_t route) {
  secure::ClientHandshakeSetup setup;
  setup.version = protocol_version;
  setup.identity = setup_.identity;
  setup.pinned = setup_.pinned;
  attempts_[route].emplace(Attempt{address(route), secure::ClientHandshake(setup, entropy, now), now});
  retry_at_[route] = Micros::max();
}

void Handshakes::begin(Micros now, secure::Entropy& entropy, Transport first) {
  stop();
  end_ = HandshakesEnd::none;
  tried_ = {}, refused_ = {};
  unheard_since_ = {now, now};
  const bool other =
      setup_.server.transport != first && setup_.fallback && setup_.fallback->transport == first;
  start(now, entropy, other ? 1 : 0);
}

bool Handshakes::finishing() const {
  for (const auto& attempt : attempts_)
    if (attempt && attempt->handshake.step() == secure::ClientStep::finishing) return true;
  return false;
}

bool Handshakes::receive(Micros now, const PeerAddress& from, std::span<const std::uint8_t> packet) {
  for (auto& attempt : attempts_) {
    if (!attempt || attempt->peer != from) continue;
    attempt->handshake.receive(packet, now);
    if (attempt->handshake.step() != secure::ClientStep::done) continue;
    keys_ = attempt->handshake.keys();
    server_key_ = attempt->handshake.server_key();
    peer_ = attempt->peer;
    attempt.reset();  // its link is the session's
    stop();
    return true;
  }
  return false;
}

bool Handshakes::closed(Micros now, const PeerAddress& link) {
  for (std::size_t route = 0; route < attempts_.size(); ++route) {
    if (!attempts_[route] || attempts_[route]->peer != link) continue;
    attempts_[route].reset();
    go_on(route, true);
    const bool round_over = tried_[route] % (setup_.more_addresses.size() + 1) == 0;
    if (setup_.opens_links)
      retry_at_[route] = round_over ? now + setup_.link_retry : now;
    else if (!running())
      end_ = HandshakesEnd::link_closed;
    return true;
  }
  return false;
}

void Handshakes::stop() {
  for (std::size_t route = 0; route < attempts_.size(); ++route) give_up(route);
  retry_at_ = {Micros::max(), Micros::max()};
}

void Handshakes::give_up(std::size_t route) {
  if (!attempts_[route]) return;
  const PeerAddress& peer = attempts_[route]->peer;
  if (setup_.opens_links && peer.transport == Transport::tcp) left_.push_back(peer);
  attempts_[route].reset();
}

void Handshakes::advance(Micros now, std::size_t route, const Payload& payload, DatagramBatch& out) {
  Attempt& attempt = *attempts_[route];
  secure::ClientHandshake& handshake = attempt.handshake;
  for (auto packet = handshake.packet_due(now); !packet.empty(); packet = handshake.packet_due(now))
    out.add(attempt.peer, packet);
  if (handshake.step() == secure::ClientStep::server_known && handshake.finish(payload(handshake), now)) {
    give_up(1 - route);
    retry_at_[1 - route] = Micros::max();
    for (auto packet = handshake.packet_due(now); !packet.empty(); packet = handshake.packet_due(now))
      out.add(attempt.peer, packet);
  }
  const bool saying_hello = handshake.step() == secure::ClientStep::saying_hello;
  if (saying_hello && !attempt.saying_hello)  // a finish was not answered
    attempt.silent_since = unheard_since_[route] = now;
  attempt.saying_hello = saying_hello;
}

void Handshakes::advance(Micros now, secure::Entropy& entropy, const Payload& payload, DatagramBatch& out) {
  for (std::size_t route = 0; route < attempts_.size(); ++route) {
    if (now >= retry_at_[route]) start(now, entropy, route);
    if (!attempts_[route]) continue;
    advance(now, route, payload, out);
    const secure::ClientHandshake& handshake = attempts_[route]->handshake;
    if (!secure::ended(handshake.step())) continue;
    if (handshake.step() == secure::ClientStep::wrong_version) {
      end_ = HandshakesEnd::wrong_version;
      server_version_ = handshake.server_version();
    }
    if (handshake.step() == secure::ClientStep::wrong_server) {
      end_ = HandshakesEnd::wrong_server;
      server_key_ = handshake.server_key();
    }
    give_up(route);
    if (end_ != HandshakesEnd::none) return stop();
    go_on(route, false);
    start(now, entropy, route);  // its patience is not ours
  }
  for (std::size_t route = 0; setup_.fallback && route < attempts_.size(); ++route) {
    const auto& tried = attempts_[route];
    const bool silent = tried && tried->saying_hello && now - unheard_since_[route] >= setup_.fallback_after;
    if (!silent || under_way(1 - route)) continue;
    unheard_since_[1 - route] = now;
    start(now, entropy, 1 - route);
  }
  try_next_addresses(now, entropy);
}

void Handshakes::try_next_addresses(Micros now, secure::Entropy& entropy) {
  for (std::size_t route = 0; !setup_.more_addresses.empty() && route < attempts_.size(); ++route) {
    const auto& tried = attempts_[route];
    const bool silent = tried && tried->saying_hello && !tried->handshake.answered();
    if (!silent || now - tried->silent_since < patience(route)) continue;
    give_up(route);
    go_on(route, false);
    start(now, entropy, route);
  }
}

}  // namespace ashlar::client_sim
