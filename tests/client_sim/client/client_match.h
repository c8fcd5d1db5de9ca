#pragma once
#include <utility>

#include "client_sim/client/client.h"
#include "client_sim/harness/link.h"
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
  config.nonce = 1234;
  return config;
}

/// Client and server with a link each way, in simulated time.
struct Match {
  FakeServer server;
  Client client;
  Link up, down;
  Micros now{1000};
  DatagramBatch to_server, to_client, from_server, from_client;

  explicit Match(ClientConfig config = config_named("Ada"), std::uint64_t seed = 1)
      : client(std::move(config)), up({}, seed), down({}, seed + 1000) {}

  void conditions(const LinkConditions& c) {
    up.set_conditions(c);
    down.set_conditions(c);
  }

  Micros leapt{0};  // the client's clock is ahead by so much

  void step(Micros dt) {
    now += dt;
    to_client.clear();
    down.deliver(now, to_client);
    from_client.clear();
    client.advance(now + leapt, to_client, from_client);
    up.send(now, from_client);
    to_server.clear();
    up.deliver(now, to_server);
    from_server.clear();
    server.advance(now, to_server, from_server);
    down.send(now, from_server);
  }

  void run(double seconds, Micros dt = Micros{2000}) {
    const Micros until = now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (now < until) step(dt);
  }
};

}  // namespace ashlar::client_sim::match_test
