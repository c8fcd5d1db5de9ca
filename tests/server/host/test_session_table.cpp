#include "server/host/session_table.h"

#include <algorithm>
#include <map>
#include <vector>

#include "tests/catch.h"
#include "world/math/random.h"

namespace ashlar::server {
namespace {

PeerAddress at(std::uint8_t host, std::uint16_t port) {
  PeerAddress a;
  a.ip[10] = a.ip[11] = 0xff;  // IPv4
  a.ip[12] = 10;
  a.ip[15] = host;
  a.port = port;
  return a;
}

Identity whose(std::uint32_t number) {
  Identity identity{};
  identity[0] = static_cast<std::uint8_t>(number);
  identity[1] = static_cast<std::uint8_t>(number >> 8);
  return identity;
}

PeerAddress over(std::uint32_t link) {
  PeerAddress a = at(1, 10);
  a.transport = Transport::tcp;
  a.link = link;
  return a;
}

}  // namespace

TEST_CASE("a session is found by number, identity and link until it is closed", "[server][session_table]") {
  SessionTable table(3);
  CHECK(table.capacity() == 3);
  CHECK(table.free_row() == 0);
  Session& ann = table.open(at(1, 10), 77, whose(1));
  CHECK(ann.state == SessionState::greeted);
  CHECK(table.find(77u) == &ann);
  CHECK(table.find_identity(whose(1)) == &ann);
  CHECK(table.find_identity(whose(2)) == nullptr);
  CHECK(table.find_link(at(1, 10)) == nullptr);  // UDP: its number alone tells
  CHECK(table.find(78u) == nullptr);
  CHECK(table.greeted().size() == 1);

  Session& bob = table.open(over(5), 78, whose(2));
  Session& eve = table.open(at(2, 10), 79, whose(3));
  CHECK(table.find_link(over(5)) == &bob);
  CHECK(table.find_link(over(6)) == nullptr);
  CHECK(table.size() == 3);
  CHECK(table.count_of_host(at(1, 999)) == 2);
  CHECK(table.count_of_host(at(2, 1)) == 1);
  CHECK(table.count_of_host(at(3, 1)) == 0);
  table.leave_greeted(bob, SessionState::joining);
  CHECK(bob.state == SessionState::joining);
  CHECK(table.greeted().size() == 2);
  table.greet_again(bob);
  table.greet_again(bob);
  CHECK(bob.state == SessionState::greeted);
  CHECK(table.greeted().size() == 2);  // it had joined: its place is its own
  table.greet_again(ann);
  CHECK(table.greeted().size() == 2);  // she never had

  table.close(bob);
  CHECK(table.find(78u) == nullptr);
  CHECK(table.find_identity(whose(2)) == nullptr);
  CHECK(table.find_link(over(5)) == nullptr);
  CHECK(table.count_of_host(at(1, 0)) == 1);
  CHECK(bob.state == SessionState::free);
  CHECK(table.free_row() == 1);  // rows stay where they are
  CHECK(table.find(79u) == &eve);
  const std::vector<std::uint32_t> seated(table.seated().begin(), table.seated().end());
  CHECK(seated == std::vector<std::uint32_t>{0, 2});
  CHECK(table.open(over(5), 80, whose(2)).address == over(5));
}

TEST_CASE("a session that moves is counted where it is", "[server][session_table]") {
  SessionTable table(3);
  Session& ann = table.open(at(1, 10), 77, whose(1));
  table.move(ann, at(2, 11));
  CHECK(ann.address == at(2, 11));
  CHECK(table.count_of_host(at(1, 0)) == 0);
  CHECK(table.count_of_host(at(2, 0)) == 1);
  CHECK(table.host_rows() == 1);
  table.close(ann);
  CHECK(table.host_rows() == 0);
}

TEST_CASE("whatever comes and goes, every table holds the same sessions", "[server][session_table]") {
  constexpr std::uint32_t places = 40;
  SessionTable table(places);
  std::map<std::uint32_t, PeerAddress> expected;
  Rng rng = rng_for(5, 1);
  std::uint32_t next = 0;
  for (int i = 0; i < 4000; ++i) {
    if (expected.size() < places && rng.below(2) == 0) {
      const PeerAddress where =
          at(static_cast<std::uint8_t>(rng.below(6)), static_cast<std::uint16_t>(++next));
      Session& session = table.open(where, next, whose(next));
      if (rng.below(2) == 0) table.leave_greeted(session, SessionState::joining);
      expected[next] = where;
    } else if (!expected.empty()) {
      const auto gone = std::next(expected.begin(), rng.below(static_cast<std::uint32_t>(expected.size())));
      table.close(*table.find(gone->first));
      expected.erase(gone);
    }
    REQUIRE(table.size() == expected.size());
    REQUIRE(table.identity_rows() == expected.size());
    REQUIRE(std::ranges::is_sorted(table.seated()));
  }
  std::map<std::uint8_t, std::uint32_t> hosts;
  for (const auto& [connection, where] : expected) {
    ++hosts[where.ip[15]];
    REQUIRE(table.find(connection) != nullptr);
    CHECK(table.find(connection)->address == where);
    CHECK(table.find_identity(whose(connection)) == table.find(connection));
  }
  CHECK(table.host_rows() == hosts.size());
  for (const auto& [host, count] : hosts) CHECK(table.count_of_host(at(host, 1)) == count);
  for (const std::uint32_t row : table.visit()) table.close(table[row]);
  CHECK(table.size() == 0);
  CHECK(table.host_rows() == 0);
  CHECK(table.greeted().size() == 0);
}

}  // namespace ashlar::server
