#pragma once
#include <optional>
#include <utility>

#include "client_sim/client/client.h"
#include "client_sim/harness/link.h"
#include "tests/catch.h"
#include "tests/client_sim/fake_server.h"

namespace ashlar::client_sim::match_test {

using ashlar::test::FakeServer;

inline PeerAddress server_address() {
  PeerAddress a;
  a.port = 7777;
  return a;
}

inline ClientConfig config_named(const char* player_name) {
  ClientConfig config;
  config.server = server_address();
  config.name = player_name;
  config.seed = secure::SeededEntropy(1234).secret();
  return config;
}

inline PeerAddress tcp_address() {
  PeerAddress a = server_address();
  a.transport = Transport::tcp;
  return a;
}

/// Client and server with a link each way, in simulated time.
struct ClientMatch {
  FakeServer server;
  Client client;
  Link up, down;
  Micros now{1000};
  DatagramBatch to_server, to_client, from_server, from_client, seen, answers;
  PeerAddress last_link;              // the newest TCP connection that the client sent over
  std::uint32_t links = 0;            // how many there were
  std::vector<PeerAddress> given_up;  // connections that the client closed

  explicit ClientMatch(ClientConfig config = config_named("Ada"), std::uint64_t seed = 1)
      : client(std::move(config)), up({}, seed), down({}, seed + 1000) {}

  void conditions(const LinkConditions& c) {
    up.set_conditions(c);
    down.set_conditions(c);
  }

  Micros leapt{0};                       // the client's clock is ahead by so much
  std::uint16_t port = 40000;            // where the server sees the client's UDP come from
  bool links_fail = false;               // nobody listens for TCP
  std::optional<PeerAddress> nobody_at;  // whatever goes to this ip is lost

  void step(Micros dt) {
    now += dt;
    to_client.clear();
    down.deliver(now, to_client);
    from_client.clear();
    client.advance(now + leapt, to_client, from_client);
    note_links(from_client);
    up.send(now, from_client);
    to_server.clear();
    up.deliver(now, to_server);
    advance_server();
  }

  /// The server's part: it sees the client's own addresses, and what it sends to others is gone.
  void advance_server() {
    seen.clear(), from_server.clear(), answers.clear();
    for (const auto& entry : to_server.entries()) {
      PeerAddress from = entry.peer;
      if (nobody_at && from.ip == nobody_at->ip) continue;
      if (from.transport == Transport::udp) from.port = port;
      if (from.transport == Transport::udp || !links_fail) seen.add(from, to_server.bytes(entry));
    }
    for (const PeerAddress& closed : to_server.closed()) seen.add_closed(closed);
    server.advance(now, seen, from_server);
    for (const auto& entry : from_server.entries()) {
      PeerAddress to = entry.peer;
      if (to.transport == Transport::udp && to.port != port) continue;
      if (to.transport == Transport::udp) to.port = server_address().port;
      answers.add(to, from_server.bytes(entry));
    }
    down.send(now, answers);
  }

  /// The client's TCP connection breaks, or the last one that it asked for cannot be opened.
  void break_link() {
    PeerAddress link = last_link;
    DatagramBatch in, out;
    in.add_closed(link);
    client.advance(now + leapt, in, out);
    note_links(out);
    up.send(now, out);
    seen.clear(), from_server.clear();
    seen.add_closed(link);
    server.advance(now, seen, from_server);
  }

  void note_links(const DatagramBatch& out) {
    for (const auto& entry : out.entries()) {
      const bool newer = links == 0 || entry.peer.link > last_link.link;
      if (entry.peer.transport == Transport::tcp && newer) last_link = entry.peer, ++links;
    }
    given_up.insert(given_up.end(), out.closed().begin(), out.closed().end());
  }

  void run(double seconds, Micros dt = Micros{2000}) {
    const Micros until = now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (now < until) step(dt);
  }
};

inline ClientConfig over_tcp() {
  ClientConfig config = config_named("Ada");
  config.server = tcp_address();
  config.opens_links = true;
  return config;
}

inline ClientConfig with_fallback() {
  ClientConfig config = config_named("Ada");
  config.fallback = tcp_address();
  config.opens_links = true;
  return config;
}

/// Playing, and some metres on its way.
inline void walk(ClientMatch& match, double seconds = 2) {
  PlayerCommand command;
  command.forward = 1;
  match.client.set_command(command);
  match.run(seconds);
  REQUIRE(match.client.state() == ClientState::playing);
  REQUIRE(match.client.own().has_value());
}

inline double x_of(const ClientMatch& match) { return match.client.own()->body.position_m.x; }

/// Runs and sees that the client never stops playing.
inline bool plays_through(ClientMatch& match, double seconds) {
  const Micros until = match.now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
  while (match.now < until) {
    match.step(Micros{2000});
    if (match.client.state() != ClientState::playing) return false;
  }
  return true;
}

}  // namespace ashlar::client_sim::match_test
