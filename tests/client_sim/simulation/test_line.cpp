#include "client_sim/simulation/line.h"

#include <string>

#include "tests/catch.h"

using namespace ashlar;
using simulation::Line;
using simulation::Micros;

namespace {

PeerAddress server_at(Transport transport, std::uint32_t link = 0) {
  PeerAddress at;
  at.port = 7777;
  at.transport = transport;
  at.link = link;
  return at;
}

/// A line without latency, its client and its server.
struct Ends {
  Rng rng{1};
  Line line{5, {0, 2}, rng};
  Micros now{0};
  DatagramBatch out, up, down;

  /// What the client says arrives at once. @return the address that the server sees; none: nothing arrived
  std::optional<PeerAddress> say(const PeerAddress& to, std::uint8_t byte) {
    out.clear(), up.clear();
    out.add(to, std::span(&byte, 1));
    line.send(now, out);
    line.deliver_up(now, up);
    if (up.entries().empty()) return std::nullopt;
    CHECK(up.bytes(up.entries()[0])[0] == byte);
    return up.entries()[0].peer;
  }
  /// What the server says to an address. @return did the client hear it
  bool hears(const PeerAddress& at, std::uint8_t byte = 1) {
    down.clear();
    line.send_down(at, std::span(&byte, 1));
    line.carry(now);
    line.receive(now, down);
    return !down.entries().empty();
  }
  /// The connections whose end the client is told.
  std::vector<PeerAddress> closed() {
    down.clear();
    line.carry(now);
    line.receive(now, down);
    return {down.closed().begin(), down.closed().end()};
  }
};

}  // namespace

TEST_CASE("a seat is told from the addresses that it is dealt", "[simulation][line]") {
  Ends ends;
  const auto at = ends.say(server_at(Transport::udp), 1);
  REQUIRE(at.has_value());
  CHECK(simulation::seat_of(*at) == 5);
  CHECK(ends.line.has(*at));
  CHECK_FALSE(ends.line.heard(*at));
  CHECK(ends.hears(*at));
  CHECK(ends.line.heard(*at));
  // Each link that the client asks for is a connection of its own.
  const auto first = ends.say(server_at(Transport::tcp, 1), 2),
             second = ends.say(server_at(Transport::tcp, 2), 3);
  REQUIRE((first && second));
  CHECK(first->transport == Transport::tcp);
  CHECK(first->link != second->link);
  CHECK(simulation::seat_of(*second) == 5);
}

TEST_CASE("who roams is seen elsewhere at once, and its connections break at its end alone",
          "[simulation][line]") {
  Ends ends;
  const bool other_host = GENERATE(false, true);
  const PeerAddress before = *ends.say(server_at(Transport::udp), 1);
  const PeerAddress link = *ends.say(server_at(Transport::tcp, 1), 1);
  ends.line.roam(other_host);
  const PeerAddress after = *ends.say(server_at(Transport::udp), 2);
  CHECK(after.port != before.port);
  CHECK((after.ip != before.ip) == other_host);
  CHECK(ends.closed() == std::vector{server_at(Transport::tcp, 1)});
  CHECK_FALSE(ends.hears(before));
  CHECK(ends.line.had(before));
  CHECK(ends.hears(after));
  CHECK_FALSE(ends.hears(link));
  CHECK(ends.up.closed().empty());  // the server was told nothing
}

TEST_CASE("a dead network is silent, and then there from another port", "[simulation][line]") {
  Ends ends;
  const PeerAddress before = *ends.say(server_at(Transport::udp), 1);
  const PeerAddress link = *ends.say(server_at(Transport::tcp, 1), 1);
  ends.line.die(false);
  CHECK_FALSE(ends.say(server_at(Transport::udp), 2).has_value());
  CHECK_FALSE(ends.say(server_at(Transport::tcp, 1), 2).has_value());
  CHECK_FALSE(ends.hears(before));
  CHECK_FALSE(ends.hears(link));
  CHECK(ends.closed().empty());
  // A new connection cannot be opened.
  CHECK_FALSE(ends.say(server_at(Transport::tcp, 2), 2).has_value());
  CHECK(ends.closed() == std::vector{server_at(Transport::tcp, 2)});
  ends.line.revive(false);
  const auto after = ends.say(server_at(Transport::udp), 3);
  REQUIRE(after.has_value());
  CHECK(after->port != before.port);
  // The old connection stays dead; one opened now works.
  CHECK_FALSE(ends.say(server_at(Transport::tcp, 1), 3).has_value());
  CHECK(ends.say(server_at(Transport::tcp, 3), 3).has_value());
}

TEST_CASE("where only datagrams are stopped connections work", "[simulation][line]") {
  Ends ends;
  REQUIRE(ends.say(server_at(Transport::udp), 1).has_value());
  ends.line.die(true);
  CHECK_FALSE(ends.say(server_at(Transport::udp), 2).has_value());
  const auto link = ends.say(server_at(Transport::tcp, 1), 2);
  REQUIRE(link.has_value());
  CHECK(ends.hears(*link));
  // The server's end closes: the client is told, once.
  ends.line.close_down(*link);
  CHECK(ends.closed() == std::vector{server_at(Transport::tcp, 1)});
  CHECK(ends.closed().empty());
  CHECK_FALSE(ends.line.has(*link));
}
