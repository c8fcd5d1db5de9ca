#include "server/host/gate.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "protocol/little_endian.h"
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

/// Plays a session of a moment, as who comes and goes all the time. @return was it let in?
bool come_and_go(Table& table, Hand& hand) {
  table.greet(hand);
  if (!hand.welcomed()) return false;
  table.run(2);
  hand.leave(table.now);
  table.run();
  return true;
}

void ping(Table& table, const PeerAddress& from, std::uint64_t nonce) {
  std::array<std::uint8_t, 80> bytes{};
  secure::write_ping(protocol_version, nonce, bytes.size(), bytes);
  table.in.add(from, bytes);
  table.ping_nonce = nonce;
}

/// Sealed by nobody, for a connection that there is not.
std::vector<std::uint8_t> sealed_for(std::uint32_t number, std::size_t size = 60) {
  std::vector<std::uint8_t> bytes(size, 0x33);
  bytes[0] = protocol_version;
  bytes[1] = static_cast<std::uint8_t>(secure::PacketType::sealed);
  put_little(&bytes[2], number);
  return bytes;
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

TEST_CASE("the gate says whom it lets in, and who gives way", "[server][gate]") {
  Gate gate(SecretKey{1, 2}, 2, 0);
  SessionTable sessions(3);
  const Micros now{5'000'000};
  CHECK_FALSE(gate.admit(now, somebody(1, 1), sessions, 0, 0).refusal);

  Session& ann = sessions.open(somebody(1, 1), 100, Identity{1});
  const auto join = [&](Session& session) { sessions.leave_greeted(session, SessionState::joining); };
  join(sessions.open(somebody(1, 2), 101, Identity{2}));
  const Admission third = gate.admit(now, somebody(1, 3), sessions, 0, 0);
  CHECK_FALSE(third.refusal);  // its address has two, but ann was only greeted
  CHECK(third.gives_way == 100);

  join(sessions.open(somebody(2, 1), 102, Identity{3}));
  const Admission fourth = gate.admit(now, somebody(3, 1), sessions, 0, 0);  // full, but ann was only greeted
  CHECK_FALSE(fourth.refusal);
  CHECK(fourth.gives_way == 100);
  join(ann);
  const Admission fifth = gate.admit(now, somebody(3, 1), sessions, 0, 0);
  REQUIRE(fifth.refusal);
  CHECK(fifth.refusal->reason == SessionEnd::full);
  sessions.close(ann);
  CHECK_FALSE(gate.admit(now, somebody(3, 1), sessions, 0, 0).refusal);
  CHECK(gate.admit(now, somebody(3, 1), sessions, 1, 0).refusal);           // a body holds the place
  const Admission sixth = gate.admit(now, somebody(3, 1), sessions, 0, 1);  // but one that waits gives way
  CHECK_FALSE(sixth.refusal);
  CHECK(sixth.away_gives_way);
}

TEST_CASE("of an address that has all its sessions who never joined gives way, and players do not",
          "[server][gate]") {
  Gate gate(SecretKey{1, 2}, 2, 0);
  SessionTable sessions(8);
  const auto join = [&](Session& session) { sessions.leave_greeted(session, SessionState::joining); };
  join(sessions.open(somebody(1, 1), 100, Identity{1}));
  Session& idle = sessions.open(somebody(1, 2), 101, Identity{2});
  sessions.open(somebody(2, 1), 102, Identity{3});  // others of longer ago are not asked
  const Micros now{5'000'000};
  CHECK(gate.admit(now, somebody(1, 3), sessions, 0, 0).gives_way == 101);
  CHECK(gate.admit(now, somebody(1, 3), sessions, 0, 0, &idle).gives_way == 0);
  idle.began_at = now - Micros{1'000'000};  // it may be about to join
  CHECK(gate.admit(now, somebody(1, 3), sessions, 0, 0).refusal);
  join(idle);
  const Admission full = gate.admit(now, somebody(1, 3), sessions, 0, 0);
  REQUIRE(full.refusal);
  CHECK(full.refusal->reason == SessionEnd::too_many_from_address);
  CHECK(full.gives_way == 0);  // who is not let in takes nobody's place
}

TEST_CASE("who is turned away costs nobody a place", "[server][gate]") {
  Gate gate(SecretKey{1, 2}, 2, 0);
  SessionTable sessions(3);
  sessions.open(somebody(1), 100, Identity{1});
  const Admission admission = gate.admit(Micros{0}, somebody(2), sessions, 4, 1);
  REQUIRE(admission.refusal);
  CHECK(admission.refusal->reason == SessionEnd::full);
  CHECK(admission.gives_way == 0);
  CHECK_FALSE(admission.away_gives_way);
}

TEST_CASE("who comes in place of an earlier session has its place", "[server][gate]") {
  Gate gate(SecretKey{1, 2}, 1, 0);
  SessionTable sessions(2);
  const Micros now{5'000'000};
  Session& ann = sessions.open(somebody(1, 1), 100, Identity{1});
  Session& bob = sessions.open(somebody(2, 1), 101, Identity{2});
  const auto admit = [&](const PeerAddress& from, const Session* earlier) {
    return gate.admit(now, from, sessions, 0, 0, earlier);
  };
  // Both are only greeted: she goes anyway, and bob stays.
  CHECK_FALSE(admit(somebody(3), &ann).refusal);
  CHECK(admit(somebody(3), &ann).gives_way == 0);
  sessions.leave_greeted(ann, SessionState::joining);
  sessions.leave_greeted(bob, SessionState::joining);
  CHECK(admit(somebody(3), nullptr).refusal->reason == SessionEnd::full);
  CHECK_FALSE(admit(somebody(3), &ann).refusal);
  CHECK_FALSE(admit(somebody(1, 9), &ann).refusal);
  const Admission with_bob = admit(somebody(2, 9), &ann);
  REQUIRE(with_bob.refusal);
  CHECK(with_bob.refusal->reason == SessionEnd::too_many_from_address);
}

TEST_CASE("connections' numbers tell nothing of one another", "[server][gate]") {
  HostConfig config;
  config.rejoins_per_minute = 0;
  Table table(3, {}, config);
  Hand& hand = table.hand(peer(1));
  std::set<std::uint32_t> ids, differences;
  std::uint32_t before = 0;
  for (std::uint64_t i = 0; i < 60; ++i) {
    table.enter(hand);
    ids.insert(hand.number());
    differences.insert(hand.number() - before);
    before = hand.number();
    hand.leave(table.now);
    table.run();
  }
  CHECK(ids.size() == 60);
  CHECK(differences.size() == 60);
}

TEST_CASE("a ping is answered in a flood of garbage and takes no place", "[server][gate]") {
  Table table;
  const std::vector<std::uint8_t> garbage(datagram_bytes_max,
                                          0xee);  // a hello of another version by its looks
  for (int round = 0; round < 60; ++round) {
    for (std::uint16_t i = 0; i < 650; ++i) table.in.add(somebody(66, i), garbage);  // 39 000 a second
    if (round % 10 == 0) {
      table.pong.reset();
      ping(table, somebody(7), static_cast<std::uint64_t>(round) + 1);
      table.run();
      REQUIRE(table.pong);
      CHECK(table.pong->clients_max == 3);
    } else {
      table.run();
    }
  }
  CHECK(table.host->status().gate.answers_limited > 30'000);
  CHECK(table.host->status().gate.pongs == 6);
  // Players come in as well, and others are told of their version.
  Hand& ann = table.hand(somebody(8));
  ann.begin(table.now);
  for (int round = 0; round < 60 && !ann.own; ++round) {
    for (std::uint16_t i = 0; i < 650; ++i) table.in.add(somebody(66, i), garbage);
    table.run();
  }
  CHECK(ann.own);
  CHECK(table.books().sessions.size() == 1);
}

TEST_CASE("pings are answered within a share of each address", "[server][gate]") {
  Table table;
  for (std::uint64_t i = 1; i <= 200; ++i) ping(table, somebody(1), i);
  table.run();
  CHECK(table.host->status().gate.pongs == pings_limit.burst);
  ping(table, somebody(2), 999);
  table.run();
  CHECK(table.pong);
}

TEST_CASE("what is no packet of ours costs a look at its first bytes", "[server][gate]") {
  Table table;
  std::vector<std::uint8_t> bytes(100, 0);
  bytes[0] = protocol_version;
  for (const int type : {0, 2, 3, 6, 8, 9, 15}) {  // nothing that a client says
    bytes[1] = static_cast<std::uint8_t>(type);
    table.in.add(somebody(1), bytes);
  }
  bytes[1] = static_cast<std::uint8_t>(secure::PacketType::hello);
  table.in.add(somebody(1), bytes);
  bytes[1] = static_cast<std::uint8_t>(secure::PacketType::finish);
  table.in.add(somebody(1), bytes);
  table.in.add(somebody(1), {});
  table.run();
  CHECK(table.out.empty());
  std::uint64_t drops = 0;
  for (const std::uint64_t count : table.host->status().drops) drops += count;
  CHECK(drops == 10);
  CHECK(table.host->status().gate.handshakes_limited == 0);
}

TEST_CASE("what handshakes may cost is bounded in each tick, and shared out between addresses",
          "[server][gate]") {
  HostConfig config;
  config.clients_per_address_max = 300;
  config.rejoins_per_minute = 0;
  Table table(300, {}, config);
  std::vector<Hand*> crowd;
  for (std::uint16_t i = 0; i < 200; ++i)
    crowd.push_back(&table.hand(somebody(1, i), "c" + std::to_string(i)));
  for (Hand* hand : crowd) hand->begin(table.now);
  std::uint64_t before = 0, most = 0;
  for (int i = 0; i < 120; ++i) {
    table.run();
    const secure::DoorCounters& door = table.host->status().door;
    most = std::max(most, door.accepts + door.finishes - before);
    before = door.accepts + door.finishes;
  }
  CHECK(most <= handshakes_limit.all_per_tick_max(60));
  CHECK(most > handshakes_limit.all_per_s / 60);
  CHECK(table.host->status().gate.handshakes_limited > 0);
  CHECK(table.host->status().clients == 200);
}

TEST_CASE("a gate is as generous whatever the tick rate", "[server][gate]") {
  const std::uint32_t tick_rate_hz = GENERATE(10u, 30u, 60u, 128u);
  CAPTURE(tick_rate_hz);
  Gate gate(SecretKey{1, 2}, 2, 0);
  std::uint8_t address = 0;
  std::uint32_t in_all = 0, most = 0;
  const auto take_all = [&](Micros now) {
    std::uint32_t taken = 0;
    // Of many addresses, so that none has used up its own share.
    while (gate.handshakes(now, somebody(++address))) ++taken;
    return taken;
  };
  Micros now{1'000'000};
  (void)take_all(now);
  const auto second = [&](auto&& each_tick) {
    for (std::uint32_t i = 0; i < tick_rate_hz; ++i) {
      now += Micros{1'000'000 / tick_rate_hz};
      gate.next_tick(tick_rate_hz);
      each_tick();
    }
  };
  second([&] {
    const std::uint32_t taken = take_all(now);
    in_all += taken, most = std::max(most, taken);
  });
  CHECK(in_all == handshakes_limit.all_per_s);
  CHECK(most <= handshakes_limit.all_per_s / tick_rate_hz + 1);
  // A crowd after quiet ticks: a thirtieth of a second's more, and no more than that.
  second([] {});
  CHECK(take_all(now) == handshakes_limit.all_per_s / tick_rate_hz + handshakes_limit.all_per_s / 30);
}

TEST_CASE("a packet of an unknown connection is answered by a reset that its client believes, not too often",
          "[server][gate]") {
  Table table;
  Hand& ann = table.hand(somebody(1));
  table.enter(ann);
  table.restart();  // it knows nobody, and has the same key
  table.send(ann, walking(5));
  table.run();
  CHECK(ann.resets == 1);
  // A client goes on sending: one answer in a while is enough, and leaves others theirs.
  for (int i = 0; i < 60; ++i) {
    table.send(ann, walking(5));
    table.run();
  }
  CHECK(ann.resets <= 5);
  CHECK(ann.resets > 1);
  CHECK(table.host->status().gate.unknown_limited >= 55);
  table.unheard = 0;
  for (std::uint16_t i = 0; i < 60; ++i)
    table.in.add(somebody(1, static_cast<std::uint16_t>(100 + i)), sealed_for(99));
  table.in.add(somebody(1, 300), sealed_for(99, 43));  // too short: an answer never begets an answer
  table.run();
  CHECK(table.unheard == 60);
  CHECK(table.last_unheard.size() == secure::reset_bytes);
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
  Hand &ann = table.hand(somebody(1), "ann"), &bob = table.hand(somebody(2), "bob");
  table.enter(ann);
  table.enter(bob);
  Hand& churn = table.hand(somebody(66), "churn");
  std::uint32_t said = 0;
  // In each round one comes, joins, and goes: faster than anybody can read.
  for (int round = 0; round < 100; ++round) {
    churn.at.port = static_cast<std::uint16_t>(1000 + round);
    table.greet(churn);
    table.run(2);
    if (round % 10 == 0) {
      ++said;
      CHECK(ann.send(Chat{"line " + std::to_string(said)}) == SendResult::sent);
      table.host->say("notice " + std::to_string(said));
    }
    churn.leave(table.now);
    table.run();
  }
  table.run(60);
  for (const Hand* hand : {&ann, &bob})
    for (std::uint32_t i = 1; i <= said; ++i) {
      CAPTURE(i);
      const auto heard = [&](const std::string& text) {
        return std::ranges::count_if(hand->lines, [&](const ChatLine& line) { return line.text == text; });
      };
      CHECK(heard("line " + std::to_string(i)) == 1);
      CHECK(heard("notice " + std::to_string(i)) == 1);
    }
  CHECK(table.host->status().chat_given_up == 0);
}

TEST_CASE("those who never join keep no player out", "[server][gate]") {
  HostConfig config;
  config.rejoins_per_minute = 0;
  config.clients_per_address_max = 1000;
  Table table(8, {}, config);
  std::uint16_t port = 0;
  std::vector<Hand*> flood;
  for (int i = 0; i < 12; ++i) {
    flood.push_back(&table.hand(somebody(66, ++port), "flood"));
    flood.back()->joins = false;
  }
  for (std::uint8_t player = 1; player <= 5; ++player) {
    for (Hand* hand : flood) {
      hand->at.port = ++port;
      hand->begin(table.now);
    }
    table.run(8);
    // Those of the flood are many; ann is one, and hers is not the place that gives way.
    Hand& ann = table.hand(somebody(player), "ann");
    ann.joins = false;
    table.greet(ann);
    REQUIRE(ann.welcomed());
    for (Hand* hand : flood) {
      hand->at.port = ++port;
      hand->begin(table.now);
    }
    table.run(8);
    CHECK(ann.send(Join{{}, 1}) == SendResult::sent);
    table.run(3);
    CHECK(table.host->status().clients == player);
  }
  CHECK(table.host->status().greeted_displaced > 50);
}

TEST_CASE("hellos that nobody goes on with do not spend an address's stays", "[server][gate]") {
  HostConfig config;
  config.rejoins_per_minute = 1;
  config.clients_per_address_max = 9;  // a burst of 82
  Table table(8, {}, config);
  Hand& spoofed = table.hand(somebody(1), "spoofed");
  for (std::uint16_t i = 0; i < 200; ++i) {
    spoofed.at.port = static_cast<std::uint16_t>(100 + i);
    spoofed.begin(table.now);
    table.run();
    spoofed.forget();
  }
  table.enter(table.hand(somebody(1, 9999)));
}

TEST_CASE("a session goes on where the one that would replace it is turned away", "[server][gate]") {
  HostConfig config;
  config.rejoins_per_minute = 1;
  config.clients_per_address_max = 1;
  Table table(4, {}, config);
  const PeerAddress let_in_from = GENERATE(somebody(1, 9), somebody(3));
  Hand &ann = table.hand(somebody(1), "ann"), &again = table.hand(somebody(2, 9), "ann");
  again.identity = ann.identity;
  table.enter(ann);
  SECTION("as another plays from there") {
    Hand& bob = table.hand(somebody(2), "bob");
    table.enter(bob);
    table.greet(again);
    CHECK(again.end() == SessionEnd::too_many_from_address);
    CHECK_FALSE(bob.end());
    CHECK(table.host->status().clients == 2);
  }
  SECTION("as too many come and go from there") {
    Hand& flit = table.hand(somebody(2), "flit");
    for (int i = 0; i < 300 && come_and_go(table, flit);) ++i;
    REQUIRE(flit.end() == SessionEnd::too_many_from_address);
    table.greet(again);
    CHECK(again.end() == SessionEnd::too_many_from_address);
    CHECK(table.host->status().clients == 1);
  }
  CHECK_FALSE(ann.end());
  // From where she may come she does: her own address too, though it takes one client alone.
  again.at = let_in_from;
  table.enter(again);
  CHECK(ann.end() == SessionEnd::replaced);
}

TEST_CASE("an address that comes and goes too often waits, and others do not", "[server][gate]") {
  HostConfig config;
  config.rejoins_per_minute = 60;
  Table table(3, {}, config);  // a burst of twice two clients, and 64
  Hand& hand = table.hand(somebody(1), "flit");
  int stays = 0;
  while (stays < 300 && come_and_go(table, hand)) ++stays;
  CHECK(hand.end() == SessionEnd::too_many_from_address);
  CHECK(stays >= 67);
  CHECK(stays < 100);
  CHECK(table.host->status().gate.rejoins_refused >= 1);
  table.enter(table.hand(somebody(2)));
  // A while later it may again.
  table.run(120);
  CHECK(come_and_go(table, hand));
}
