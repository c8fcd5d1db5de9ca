#include "client_sim/brains/hostile.h"

#include <set>

#include "tests/catch.h"
#include "tests/client_sim/fake_server.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

ClientConfig enemy(std::uint64_t seed) {
  ClientConfig config;
  config.server.port = 7777;
  config.name = "enemy";
  config.seed = secure::SeededEntropy(seed).secret();
  return config;
}

/// A server with who is hostile to it.
template <class Peer>
struct Siege {
  explicit Siege(Peer hostile) : peer(std::move(hostile)) {}
  test::FakeServer server;
  Peer peer;
  DatagramBatch up, down;
  Micros now{1000};

  template <class Act>
  void run(Micros until, Act&& act) {
    for (; now < until; now += Micros{4000}) {
      up.clear();
      act(now, down, up);
      down.clear();
      // Exactly what a server sees: drops by reason, and nothing worse.
      server.advance(now, up, down);
    }
  }
};

}  // namespace

TEST_CASE("a hostile peer joins and then sends all kinds of bad packets at its rate",
          "[client_sim][hostile]") {
  std::set<DropReason> seen;
  std::uint64_t attacks = 0, hellos = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Siege<HostilePeer> siege(HostilePeer(enemy(seed), seed, 500));
    siege.run(Micros{15'000'000}, [&](Micros now, const DatagramBatch& in, DatagramBatch& out) {
      siege.peer.advance(now, in, out);
    });
    for (const auto& [reason, count] : siege.server.drops) seen.insert(reason);
    attacks += siege.peer.attacks_sent();
    hellos += siege.server.hellos;
  }
  // Some of the time a peer plays along, some of it it floods at four times its rate.
  CHECK(attacks > 15'000);
  CHECK(attacks < 120'000);
  CHECK(hellos > 16);
  for (const DropReason reason :
       {DropReason::too_short, DropReason::wrong_version, DropReason::corrupt, DropReason::malformed,
        DropReason::unknown_connection, DropReason::duplicate, DropReason::bad_header}) {
    CAPTURE(name(reason));
    CHECK(seen.count(reason) == 1);
  }
}

TEST_CASE("who has no key does not disturb its own session", "[client_sim][hostile]") {
  Siege<Attacker> siege(Attacker(7, 400, enemy(1).server));
  Client client(enemy(1));
  std::uint64_t attacked = 0;
  DatagramBatch attack;
  siege.run(Micros{30'000'000}, [&](Micros now, const DatagramBatch& in, DatagramBatch& out) {
    client.advance(now, in, out);
    attack.clear();
    for (const auto& entry : out.entries()) attack.add(entry.peer, out.bytes(entry));
    const std::size_t honest = attack.entries().size();
    siege.peer.act(now, client, in, attack);
    // The fake server has room for one session, so nobody else gets one.
    const Attack kind = siege.peer.attack();
    if (kind == Attack::finish || kind == Attack::inside || client.state() != ClientState::playing) return;
    for (const auto& entry : attack.entries().subspan(honest)) {
      const auto bytes = attack.bytes(entry);
      if (secure::packet_type(bytes, protocol_version) == secure::PacketType::finish) continue;
      ++attacked;
      out.add(entry.peer, bytes);
    }
  });
  CHECK(attacked > 3000);
  CHECK(client.state() == ClientState::playing);
  CHECK(client.stats().starved == 0);
  CHECK(client.stats().rejoins + client.stats().resumes == 0);
  CHECK(siege.server.hellos == 1);
}

TEST_CASE("an intruder goes as far as its aim", "[client_sim][hostile]") {
  const auto aim = static_cast<IntruderAim>(GENERATE(0, 1, 2, 3));
  CAPTURE(static_cast<int>(aim));
  PeerAddress address;
  address.port = 7777;
  Siege<Intruder> siege(Intruder(3, address, aim));
  std::uint64_t acts = 0, packets = 0;
  siege.run(Micros{20'000'000}, [&](Micros now, const DatagramBatch& in, DatagramBatch& out) {
    siege.peer.advance(now, in, out);
    acts += siege.peer.act(now, out) ? 1 : 0;
    packets += out.entries().size();
  });
  CHECK(acts > 500);
  CHECK(packets >= acts);
  const bool in = aim == IntruderAim::finish || aim == IntruderAim::inside;
  CHECK((siege.server.hellos > 0) == in);
  CHECK((siege.peer.sessions() > 3) == in);
  if (aim != IntruderAim::inside) return;
  // It was heard, and what it said made the server end its sessions for all the reasons that there are.
  CHECK(siege.server.chat.size() > 50);
  CHECK(siege.server.drops[DropReason::malformed] + siege.server.drops[DropReason::bad_ack] > 1);
}

TEST_CASE("a pause of the caller does not end in a burst", "[client_sim][hostile]") {
  HostilePeer peer(enemy(3), 3, 1000);
  DatagramBatch none, out;
  peer.advance(Micros{1000}, none, out);
  out.clear();
  peer.advance(Micros{60'000'000}, none, out);
  CHECK(out.entries().size() < 1000);
}
