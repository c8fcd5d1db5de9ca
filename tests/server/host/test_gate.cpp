#include "server/host/gate.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "server/host/notices.h"
#include "tests/server/host/host_table.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

PeerAddress somebody(std::uint8_t number, std::uint16_t port = 5) {
  PeerAddress a;
  a.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, number};
  a.port = port;
  return a;
}

/// Plays a session of a moment, as who comes and goes all the time.
void come_and_go(Table& table, Hand& hand, const std::string& name, std::uint64_t nonce) {
  table.welcome.reset();
  hand.connection = 0;
  hand.sequence = 0;
  hand.send(table.in, Hello{protocol_version, nonce, name, "test"});
  table.run();
  if (!table.welcome) return;
  hand.connection = table.welcome->connection;
  hand.send(table.in, Join{});
  table.run(2);
  hand.send(table.in, Leave{});
  table.run();
}

}  // namespace

TEST_CASE("the keyed hash is SipHash-2-4", "[server][gate]") {
  const SecretKey key{0x0706050403020100u, 0x0f0e0d0c0b0a0908u};
  std::array<std::uint8_t, 15> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  // Of the paper's appendix, and of its authors' table.
  CHECK(keyed_hash(key, bytes) == 0xa129ca6149be45e5u);
  CHECK(keyed_hash(key, std::span(bytes).first(0)) == 0x726fdb47dd0e0e31u);
  CHECK(keyed_hash(key, std::span(bytes).first(8)) == 0x93f5f5799a932462u);
  CHECK(keyed_hash(key, 0x0706050403020100u) == 0x93f5f5799a932462u);
}

TEST_CASE("an address has its share, and another its own", "[server][gate]") {
  AddressBudget budget({1, 2}, 60, 5);
  const auto one = somebody(1).ip, other = somebody(2).ip;
  const Micros now{1'000'000};
  for (int i = 0; i < 5; ++i) CHECK(budget.take(now, one));
  CHECK_FALSE(budget.take(now, one));
  CHECK_FALSE(budget.has(now, one));
  CHECK(budget.take(now, other));
  CHECK_FALSE(budget.take(now + Micros{900'000}, one));
  CHECK(budget.take(now + Micros{1'000'000}, one));
  // More addresses than places: somebody is forgotten, and nothing breaks.
  for (std::uint32_t i = 0; i < 5000; ++i) {
    auto many = somebody(3).ip;
    many[3] = static_cast<std::uint8_t>(i), many[4] = static_cast<std::uint8_t>(i >> 8);
    CHECK(budget.take(now, many));
  }
}

TEST_CASE("the gate says what a hello is, and whom it lets in", "[server][gate]") {
  Gate gate(SecretKey{1, 2}, 2, 0);
  SessionTable sessions(3);
  const Micros now{5'000'000};
  const Hello hello{protocol_version, 7, "ann", ""};
  CHECK(gate.read(now, somebody(1, 1), hello, sessions) == HelloKind::fresh);
  CHECK(gate.read(now, somebody(1, 1), Hello{protocol_version + 1, 7, "ann", ""}, sessions) ==
        HelloKind::other_version);
  CHECK_FALSE(gate.admit(now, somebody(1, 1), sessions, 0).refusal);

  Session& ann = sessions.open(somebody(1, 1), 100);
  ann.nonce = 7;
  ann.heard_at = now;
  CHECK(gate.read(now, somebody(1, 1), hello, sessions) == HelloKind::repeated);
  const Hello other{protocol_version, 8, "eve", ""};
  CHECK(gate.read(now, somebody(1, 1), other, sessions) == HelloKind::address_taken);
  CHECK(gate.read(now + Micros{2'000'000}, somebody(1, 1), other, sessions) == HelloKind::comes_anew);

  sessions.begin_join(sessions.open(somebody(1, 2), 101));
  const Admission third = gate.admit(now, somebody(1, 3), sessions, 0);
  REQUIRE(third.refusal);
  CHECK(third.refusal->reason == RefuseReason::too_many_from_address);
  CHECK(third.gives_way == 0);  // who is not let in takes nobody's place

  sessions.begin_join(sessions.open(somebody(2, 1), 102));
  const Admission fourth = gate.admit(now, somebody(3, 1), sessions, 0);  // full, but ann was only greeted
  CHECK_FALSE(fourth.refusal);
  CHECK(fourth.gives_way == 100);
  sessions.begin_join(ann);
  const Admission fifth = gate.admit(now, somebody(3, 1), sessions, 0);
  REQUIRE(fifth.refusal);
  CHECK(fifth.refusal->reason == RefuseReason::full);
  sessions.close(ann);
  CHECK_FALSE(gate.admit(now, somebody(3, 1), sessions, 0).refusal);
  CHECK(gate.admit(now, somebody(3, 1), sessions, 1).refusal);  // a body holds the place
}

TEST_CASE("connection ids tell nothing of one another", "[server][gate]") {
  Table table;
  Hand hand{peer(1)};
  std::set<std::uint32_t> ids, differences;
  std::uint32_t before = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    table.welcome.reset();
    hand.connection = 0;
    hand.send(table.in, Hello{protocol_version, i + 1, "ann", ""});
    table.run();
    REQUIRE(table.welcome);
    hand.connection = table.welcome->connection;
    ids.insert(hand.connection);
    differences.insert(hand.connection - before);
    before = hand.connection;
    hand.send(table.in, Leave{});
    table.run();
  }
  CHECK(ids.size() == 60);
  CHECK(differences.size() == 60);
  // A leave in another's name, even from its very address, has to know the id.
  table.enter(hand, "ann", 777);
  Hand thief{hand.at};
  thief.sequence = 500;
  for (std::uint32_t guess = 1; guess < 2000; ++guess) {
    thief.connection = before + guess * 0x9e370000u;
    if (thief.connection == hand.connection) continue;
    thief.send(table.in, Leave{});
    if (guess % 50 == 0) table.run();
  }
  table.run();
  CHECK(table.host->status().clients == 1);
}

TEST_CASE("a ping is answered in a flood of garbage and takes no place", "[server][gate]") {
  Table table;
  std::vector<std::uint8_t> garbage(datagram_bytes_max, 0xee);
  for (int round = 0; round < 60; ++round) {
    for (std::uint16_t i = 0; i < 650; ++i) table.in.add(somebody(66, i), garbage);  // 39 000 a second
    if (round % 10 == 0) {
      table.pong.reset();
      Hand asker{somebody(7)};
      asker.send(table.in, Ping{static_cast<std::uint64_t>(round) + 1});
      table.run();
      REQUIRE(table.pong);
      CHECK(table.pong->nonce == static_cast<std::uint64_t>(round) + 1);
      CHECK(table.pong->clients_max == 3);
    } else {
      table.run();
    }
  }
  CHECK(table.host->status().gate.refusals_limited > 30'000);
  CHECK(table.host->status().gate.pongs == 6);
  // Players come in as well, and others are told of their version.
  Hand ann{somebody(8)};
  for (std::uint16_t i = 0; i < 650; ++i) table.in.add(somebody(66, i), garbage);
  table.enter(ann);
  for (std::uint16_t i = 0; i < 650; ++i) table.in.add(somebody(66, i), garbage);
  table.refuse.reset();
  table.in.add(somebody(9), garbage);
  table.run();
  REQUIRE(table.refuse);
  CHECK(table.refuse->nonce == 0xeeeeeeeeeeeeeeeeu);
  HostAudit books;
  table.host->audit(books);
  CHECK(books.sessions.size() == 1);
}

TEST_CASE("pings are answered within a share of each address", "[server][gate]") {
  Table table;
  for (std::uint64_t i = 1; i <= 200; ++i) Hand{somebody(1)}.send(table.in, Ping{i});
  table.run();
  CHECK(table.host->status().gate.pongs == pings_limit.burst);
  Hand{somebody(2)}.send(table.in, Ping{999});
  table.run();
  CHECK(table.pong->nonce == 999);
}

TEST_CASE("a name that is none is told so, within the budget for refusals", "[server][gate]") {
  Table table;
  MessageWriter writer;
  PacketHeader header;
  header.sequence = 1;
  put_nonce(header, 5);
  const auto good = writer.write(header, Hello{protocol_version, 5, "nameless", ""});
  std::vector<std::uint8_t> bytes(good.begin(), good.end());
  const std::string name = "nameless";
  const auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
  REQUIRE(at != bytes.end());
  *at = ' ';
  seal(bytes);
  table.in.add(somebody(1), bytes);
  table.run();
  REQUIRE(table.refuse);
  CHECK(table.refuse->reason == RefuseReason::bad_name);
  CHECK(table.refuse->nonce == 5);
  CHECK(table.drops(DropReason::bad_text) == 1);
}

TEST_CASE("a packet of an unknown connection is answered by a header that names it, and not too often",
          "[server][gate]") {
  Table table;
  Hand stranger{somebody(1)};
  stranger.connection = 0x12345678;
  stranger.sequence = 41;
  stranger.send(table.in, walking(5));
  table.run();
  REQUIRE(table.unknown.size() == 1);
  CHECK(table.unknown[0].connection == 0x12345678);
  CHECK(table.unknown[0].sequence == 42);
  CHECK(table.out.bytes(table.out.entries()[0]).size() == packet_header_bytes);
  // A client goes on sending: one answer in a while is enough, and leaves others theirs.
  for (int i = 0; i < 60; ++i) {
    stranger.send(table.in, walking(5));
    table.run();
  }
  CHECK(table.unknown.size() <= 5);
  CHECK(table.host->status().gate.unknown_limited >= 55);
  table.unknown.clear();
  for (std::uint16_t i = 0; i < 60; ++i) {
    Hand other{somebody(1, static_cast<std::uint16_t>(100 + i))};
    other.connection = 99;
    other.send(table.in, walking(5));
  }
  table.run();
  CHECK(table.unknown.size() == 60);
}

TEST_CASE("a kicked client is told again in no more bytes than it sends", "[server][gate]") {
  Table table;
  Hand ann{peer(1)};
  table.enter(ann);
  table.host->kick("ann", std::string(reason_bytes_max, 'x'));
  table.run();
  std::size_t asked = 0, told = 0;
  table.goodbye.reset();
  for (int i = 0; i < 100; ++i) {
    const std::size_t before = table.in.entries().size();
    ann.send(table.in, walking(5));
    asked += table.in.entries()[before].size;
    table.run();
    for (const auto& entry : table.out.entries()) told += entry.size;
  }
  CHECK(table.goodbye);
  CHECK(told <= asked);
}

TEST_CASE("notices of many are put together, in a line a second", "[server][gate]") {
  Notices notices;
  notices.joined("ann");
  CHECK(notices.take(Micros{0}) == std::vector<std::string>{"ann joined"});
  CHECK(notices.take(Micros{500'000}).empty());
  for (const char* name : {"bob", "cid"}) notices.joined(name);
  notices.left("ann", "quit");
  CHECK(notices.take(Micros{900'000}).empty());
  CHECK(notices.take(Micros{1'000'000}) == std::vector<std::string>{"bob and cid joined", "ann left (quit)"});
  for (int i = 0; i < 7; ++i) notices.left("p" + std::to_string(i), "quit");
  CHECK(notices.take(Micros{3'000'000}) == std::vector<std::string>{"p0, p1 and 5 others left"});
}

TEST_CASE("chat and what the operator says reach everybody while others come and go", "[server][gate]") {
  HostConfig config;
  config.rejoins_per_minute = 0;
  Table table(40, {}, config);
  table.host->set_sink(nullptr);
  Hand ann{somebody(1)}, bob{somebody(2)};
  table.enter(ann, "ann", 1);
  table.enter(bob, "bob", 2);
  table.lines.clear();
  std::uint32_t said = 0;
  std::uint64_t nonce = 100;
  // In each round one comes, joins, and the one before goes: faster than anybody can read.
  Hand churn{somebody(66)};
  for (int t = 0; t < 600; ++t) {
    if (churn.connection != 0) churn.send(table.in, Leave{});
    churn.at.port = static_cast<std::uint16_t>(1000 + t % 500);
    churn.connection = 0;
    churn.sequence = 0;
    table.welcome.reset();
    churn.send(table.in, Hello{protocol_version, ++nonce, "churn", ""});
    table.run();
    REQUIRE(table.welcome);
    churn.connection = table.welcome->connection;
    churn.send(table.in, Join{});
    if (t % 60 == 0) {
      ann.send(table.in, Chat{++said, "line " + std::to_string(said)});
      table.host->say("notice " + std::to_string(said));
    }
    std::uint32_t heard = 0;
    for (const ChatLine& line : table.lines) heard = std::max(heard, line.number);
    for (Hand* hand : {&ann, &bob}) {
      Input input;
      input.newest_tick = table.snapshot_tick + 2;
      input.command_count = 1;
      input.chat_seen = heard;
      hand->send(table.in, input);
    }
    table.run();
  }
  table.run(60);
  for (std::uint32_t i = 1; i <= said; ++i) {
    CAPTURE(i);
    const auto heard = [&](const std::string& text) {
      return std::ranges::any_of(table.lines, [&](const ChatLine& line) { return line.text == text; });
    };
    CHECK(heard("line " + std::to_string(i)));
    CHECK(heard("notice " + std::to_string(i)));
  }
  CHECK(table.host->status().chat_given_up == 0);
}

TEST_CASE("hellos that nobody goes on with keep no player out", "[server][gate]") {
  HostConfig config;
  config.rejoins_per_minute = 0;
  config.clients_per_address_max = 1000;
  Table table(8, {}, config);
  std::uint64_t nonce = 1;
  for (std::uint8_t player = 1; player <= 5; ++player) {
    for (std::uint16_t i = 0; i < 20; ++i) {
      Hand flood{somebody(66, i)};
      flood.send(table.in, Hello{protocol_version, ++nonce, "flood", ""});
    }
    Hand ann{somebody(player)};
    // Those of the flood are many; ann's hello is one, and hers is not the one that gives way.
    table.run();
    ann.send(table.in, Hello{protocol_version, 1000u + player, "ann", ""});
    table.welcome.reset();
    table.run();
    REQUIRE(table.welcome);
    REQUIRE(table.welcome->nonce == 1000u + player);
    ann.connection = table.welcome->connection;
    for (std::uint16_t i = 0; i < 20; ++i) {
      Hand flood{somebody(66, static_cast<std::uint16_t>(100 + i))};
      flood.send(table.in, Hello{protocol_version, ++nonce, "flood", ""});
    }
    table.run();
    ann.send(table.in, Join{});
    table.run(2);
    CHECK(table.host->status().clients == player);
  }
  CHECK(table.host->status().greeted_displaced > 50);
}

TEST_CASE("hellos that nobody goes on with do not spend an address's stays", "[server][gate]") {
  HostConfig config;
  config.rejoins_per_minute = 1;
  config.clients_per_address_max = 9;  // a burst of 82
  Table table(8, {}, config);
  for (std::uint16_t i = 0; i < 200; ++i) {
    Hand spoofed{somebody(1, static_cast<std::uint16_t>(100 + i))};
    spoofed.send(table.in, Hello{protocol_version, 1000u + i, "spoofed", ""});
    if (i % 10 == 9) table.run();
  }
  table.run(400);
  Hand ann{somebody(1, 9999)};
  table.enter(ann, "ann", 7);
}

TEST_CASE("an address that comes and goes too often waits, and others do not", "[server][gate]") {
  HostConfig config;
  config.rejoins_per_minute = 60;
  Table table(3, {}, config);  // a burst of twice two clients, and 64
  Hand hand{somebody(1)};
  std::uint64_t nonce = 1;
  for (int i = 0; i < 300 && !table.refuse; ++i) come_and_go(table, hand, "flit", ++nonce);
  REQUIRE(table.refuse);
  CHECK(table.refuse->reason == RefuseReason::too_many_from_address);
  CHECK(nonce >= 68);
  CHECK(nonce < 100);
  CHECK(table.host->status().gate.rejoins_refused == 1);
  Hand other{somebody(2)};
  table.enter(other, "ann", 9000);
  // A while later it may again.
  table.run(120);
  table.welcome.reset();
  come_and_go(table, hand, "flit", ++nonce);
  CHECK(table.welcome);
}
