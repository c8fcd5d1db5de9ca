#include "client_sim/brains/hostile.h"

#include <set>

#include "tests/catch.h"
#include "tests/client_sim/fake_server.h"

using namespace ashlar;
using namespace ashlar::client_sim;

TEST_CASE("a hostile peer joins and then sends all kinds of bad packets at its rate",
          "[client_sim][hostile]") {
  std::set<DropReason> seen;
  std::uint64_t attacks = 0;
  // A claim of a far sequence ends the connection, sooner or later: several peers show it all.
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    test::FakeServer server;
    ClientConfig config;
    config.server.port = 7777;
    config.name = "enemy";
    HostilePeer peer(config, seed, 500);
    DatagramBatch up, down;
    for (Micros now{1000}; now < Micros{15'000'000}; now += Micros{4000}) {
      up.clear();
      peer.advance(now, down, up);
      // Exactly what a server sees: drops by reason, and nothing worse.
      DatagramBatch answers;
      server.advance(now, up, answers);
      down.clear();
      for (const auto& entry : answers.entries()) down.add(config.server, answers.bytes(entry));
    }
    for (const auto& [reason, count] : server.drops) seen.insert(reason);
    attacks += peer.attacks_sent();
  }
  // Some of the time a peer plays along, some of it it floods at four times its rate.
  CHECK(attacks > 20'000);
  CHECK(attacks < 120'000);
  for (const DropReason reason :
       {DropReason::too_short, DropReason::wrong_version, DropReason::corrupt, DropReason::malformed,
        DropReason::unknown_connection, DropReason::duplicate, DropReason::bad_ack}) {
    CAPTURE(name(reason));
    CHECK(seen.count(reason) == 1);
  }
}

TEST_CASE("whoever acknowledges nothing sends sound packets without acknowledgements",
          "[client_sim][hostile]") {
  test::FakeServer server;
  ClientConfig config;
  config.server.port = 7777;
  Client client(config);
  Attacker attacker(5, 1);  // so few attacks that what is seen is its own
  DatagramBatch up, down;
  std::size_t mute = 0, acks = 0, broken = 0;
  for (Micros now{1000}; now < Micros{60'000'000}; now += Micros{4000}) {
    up.clear();
    client.advance(now, down, up);
    attacker.act(now, client, config.server, up);
    for (const auto& entry : up.entries()) {
      const auto packet = decode_packet(up.bytes(entry));
      if (!packet)
        ++broken;
      else
        ++(packet->header.ack == 0 ? mute : acks);
    }
    DatagramBatch answers;
    server.advance(now, up, answers);
    down.clear();
    for (const auto& entry : answers.entries()) down.add(config.server, answers.bytes(entry));
  }
  CHECK(client.state() == ClientState::playing);
  CHECK(mute > 100);
  CHECK(acks > 100);
  CHECK(broken < 40);
}

TEST_CASE("a pause of the caller does not end in a burst", "[client_sim][hostile]") {
  ClientConfig config;
  config.server.port = 7777;
  HostilePeer peer(config, 3, 1000);
  DatagramBatch none, out;
  peer.advance(Micros{1000}, none, out);
  out.clear();
  peer.advance(Micros{60'000'000}, none, out);
  CHECK(out.entries().size() < 1000);
}
