// How a client gets to its server: connections that break, networks that block, ports that change.
#include "client_sim/client/client.h"

#include "tests/catch.h"
#include "tests/client_sim/client/client_match.h"

using namespace ashlar;
using namespace ashlar::client_sim;
using namespace ashlar::client_sim::match_test;

TEST_CASE("over TCP a broken connection is followed by another one", "[client_sim][routes]") {
  ClientMatch match(over_tcp());
  walk(match);
  REQUIRE(match.links == 1);
  const double before_m = x_of(match);
  match.break_link();
  CHECK(plays_through(match, 1));
  CHECK(match.links == 2);
  CHECK(match.client.stats().resumes == 1);
  match.run(1);
  CHECK(x_of(match) > before_m + 5);
  // For some time nobody listens.
  match.break_link();
  match.server.silent = true;
  for (int i = 0; i < 6; ++i) {
    match.run(0.2);
    match.break_link();
    match.run(0.4);
  }
  CHECK(match.links >= 7);
  match.server.silent = false;
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().resumes == 2);
}

TEST_CASE("a connection that is of no use any more is closed", "[client_sim][routes]") {
  ClientMatch match(over_tcp());
  walk(match);
  const PeerAddress first = match.last_link;
  SECTION("as its player has left") {
    match.client.leave();
    match.run(2);
    CHECK(match.server.left == close_reason(SessionEnd::quit));
    CHECK(match.given_up == std::vector<PeerAddress>{first});
  }
  SECTION("as the session went on over another one") {
    match.server.silent = true;
    match.run(6);
    REQUIRE(match.links == 2);
    CHECK(match.given_up.empty());
    match.server.lose_session();
    match.server.silent = false;
    match.run(2);
    CHECK(match.client.stats().resumes == 1);
    CHECK(match.given_up == std::vector<PeerAddress>{first});
  }
  SECTION("as the session that was sought is heard again") {
    ClientMatch heard(with_fallback());
    walk(heard);
    heard.down.partition(heard.now + Micros{9'000'000});
    for (int i = 0; i < 100 && heard.links == 0; ++i) heard.run(0.1);
    REQUIRE(heard.links == 1);
    REQUIRE(heard.client.resuming());
    heard.links_fail = false;
    heard.down.partition(heard.now);
    heard.run(1);
    CHECK_FALSE(heard.client.resuming());
    if (heard.client.transport() == Transport::udp)
      CHECK(heard.given_up == std::vector<PeerAddress>{heard.last_link});
  }
  SECTION("as the server knows nobody") {
    match.server.restart();
    match.run(2);
    CHECK(match.client.stats().rejoins == 1);
    CHECK(match.given_up == std::vector<PeerAddress>{first});
  }
  SECTION("but not when it broke") {
    match.break_link();
    match.run(2);
    CHECK(match.client.stats().resumes == 1);
    CHECK(match.given_up.empty());
  }
}

TEST_CASE("who opens TCP connections himself says when to go on", "[client_sim][routes]") {
  ClientConfig config = over_tcp();
  config.opens_links = false;
  ClientMatch match(std::move(config));
  walk(match);
  match.break_link();
  CHECK(match.client.state() == ClientState::lost);
  REQUIRE(match.client.broken_off());
  match.client.join_again(match.now);
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().resumes == 1);
  CHECK(match.links == 1);
}

TEST_CASE("nobody who listens for TCP is told at once", "[client_sim][routes]") {
  ClientConfig config = over_tcp();
  config.opens_links = GENERATE(false, true);
  ClientMatch match(std::move(config));
  match.server.silent = true;
  match.run(0.1);
  match.break_link();
  CHECK(match.client.state() == ClientState::lost);
  CHECK_THAT(match.client.reason(), ContainsSubstring("listening"));
}

TEST_CASE("where the network blocks UDP a client plays over TCP", "[client_sim][routes]") {
  const int delay_ms = GENERATE(0, 100);
  ClientMatch match(with_fallback());
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  match.server.no_udp = true;
  match.run(1.9);
  CHECK(match.links == 0);
  match.run(2);
  CHECK(match.links == 1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.transport() == Transport::tcp);
  CHECK(match.server.hellos == 1);
  // UDP that works again does not matter to it.
  match.server.no_udp = false;
  match.run(3);
  CHECK(match.client.transport() == Transport::tcp);
  CHECK(match.server.hellos == 1);
}

TEST_CASE("where UDP gets through nobody tries TCP", "[client_sim][routes]") {
  ClientMatch match(with_fallback());
  LinkConditions conditions;
  conditions.latency = Micros{400'000};
  match.conditions(conditions);
  match.run(6);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.transport() == Transport::udp);
  CHECK(match.links == 0);
}

TEST_CASE("of two routes the first that is proven wins, and the other is told nothing",
          "[client_sim][routes]") {
  ClientMatch match(with_fallback());
  // A bad network: UDP comes to its own while TCP is being tried, 0.1 s behind it.
  LinkConditions conditions;
  conditions.latency = Micros{150'000};
  match.conditions(conditions);
  match.server.silent = true;
  match.run(2.2);
  REQUIRE(match.links == 1);
  match.server.silent = false;
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.hellos == 1);
}

TEST_CASE("a session moves to TCP when UDP is blocked, and back when TCP is", "[client_sim][routes]") {
  ClientMatch match(with_fallback());
  walk(match);
  match.server.no_udp = true;
  match.run(10);
  CHECK(match.client.transport() == Transport::tcp);
  CHECK(match.client.stats().resumes == 1);
  CHECK(match.client.state() == ClientState::playing);
  match.server.no_udp = false;
  match.links_fail = true;
  match.break_link();
  match.run(4);
  CHECK(match.client.transport() == Transport::udp);
  CHECK(match.client.stats().resumes == 2);
  CHECK(match.client.state() == ClientState::playing);
}

TEST_CASE("a fallback that nobody listens at does no harm", "[client_sim][routes]") {
  ClientMatch match(with_fallback());
  match.server.silent = true;
  match.run(2.5);
  match.break_link();
  CHECK(match.client.state() == ClientState::connecting);
  match.run(1);
  match.break_link();
  match.links_fail = true;
  match.server.silent = false;
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.transport() == Transport::udp);
}

TEST_CASE("a changed port is nothing to a client", "[client_sim][routes]") {
  ClientMatch match;
  walk(match);
  const std::uint32_t session = match.client.session();
  for (int i = 0; i < 4; ++i) {
    ++match.port;
    CHECK(plays_through(match, 2));
  }
  CHECK(match.server.connection()->counters().moves == 4);
  CHECK(match.client.session() == session);
  CHECK(match.server.hellos == 1);
  CHECK(match.client.stats().starved == 0);
  CHECK(match.client.stats().resumes == 0);
}

namespace {

PeerAddress at_ip(std::uint8_t last) {
  PeerAddress a = server_address();
  a.ip[15] = last;
  return a;
}

}  // namespace

TEST_CASE("where one address of a server is silent the next ones are tried", "[client_sim][routes]") {
  const bool fallback = GENERATE(false, true);
  ClientConfig config = fallback ? with_fallback() : config_named("Ada");
  config.opens_links = true;
  config.more_addresses = {at_ip(1), at_ip(2)};
  ClientMatch match(std::move(config));
  match.nobody_at = server_address();
  match.run(0.9);
  CHECK(match.client.state() == ClientState::connecting);
  match.run(1.1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.transport() == Transport::udp);
  // It is lost for a while, and sought where it was found.
  match.server.lose_session();
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().resumes == 1);
}

TEST_CASE("where one address of a server refuses TCP the next one is tried at once", "[client_sim][routes]") {
  ClientConfig config = over_tcp();
  config.more_addresses = {at_ip(1)};
  ClientMatch match(std::move(config));
  match.nobody_at = tcp_address();
  match.run(0.1);
  match.break_link();
  REQUIRE(match.client.state() == ClientState::connecting);
  match.run(0.5);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.links == 2);
}

TEST_CASE("where all addresses of a server refuse TCP that is told", "[client_sim][routes]") {
  ClientConfig config = over_tcp();
  config.more_addresses = {at_ip(1)};
  ClientMatch match(std::move(config));
  match.server.silent = true;
  match.run(0.1);
  match.break_link();
  REQUIRE(match.client.state() == ClientState::connecting);
  match.run(0.1);
  match.break_link();
  CHECK(match.client.state() == ClientState::lost);
  CHECK_THAT(match.client.reason(), ContainsSubstring("listening"));
}

TEST_CASE("a server that is slow to answer is waited for though its other address refuses",
          "[client_sim][routes]") {
  ClientConfig config = over_tcp();
  config.more_addresses = {at_ip(1)};
  ClientMatch match(std::move(config));
  match.server.silent = true;
  match.run(1.2);  // the first one was silent for a second, and the next one is tried
  match.break_link();
  REQUIRE(match.client.state() == ClientState::connecting);
  match.server.silent = false;
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
}

TEST_CASE("answers that take longer than an address is given are heard in a later round",
          "[client_sim][routes]") {
  ClientConfig config = config_named("Ada");
  config.opens_links = true;
  config.connect_timeout = Micros{20'000'000};
  config.more_addresses = {at_ip(1)};
  ClientMatch match(std::move(config));
  match.nobody_at = server_address();
  LinkConditions far;
  far.latency = Micros{600'000};
  match.conditions(far);
  match.run(12);
  CHECK(match.client.state() == ClientState::playing);
}
