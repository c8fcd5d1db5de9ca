// How sessions come: who is let in, and who is told why not.
#include <algorithm>

#include "tests/server/host/host_table.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

TEST_CASE("a client of another protocol is told so", "[server][arrivals]") {
  Table t;
  // The version is the first byte of all, and a hello is as long in every one.
  std::vector<std::uint8_t> old(datagram_bytes_max, 0);
  old[0] = protocol_version + 1;
  old[secure::open_nonce_at] = 77;
  t.in.add(peer(2), old);
  t.in.add(peer(3), std::span(old).first(100));  // too short to earn an answer
  t.run();
  REQUIRE(t.unheard == 1);
  REQUIRE(t.last_unheard.size() == secure::open_prefix_bytes);
  CHECK(t.last_unheard[0] == protocol_version);
  CHECK(t.last_unheard[1] == static_cast<std::uint8_t>(secure::PacketType::refuse_version));
  CHECK(secure::open_nonce(t.last_unheard) == 77);
  CHECK(t.drops(DropReason::wrong_version) == 2);
}

TEST_CASE("a full server and a greedy address are refused with a line", "[server][arrivals]") {
  Table t(3);
  Hand &a = t.hand(peer(1), "ann"), &b = t.hand(peer(2), "bob"), &c = t.hand(peer(3), "cid");
  t.enter(a);
  t.enter(b);
  t.greet(c);
  CHECK(c.end() == SessionEnd::too_many_from_address);
  CHECK_THAT(c.end_text(), ContainsSubstring("2 clients an address"));

  PeerAddress second = peer(4), third = peer(5);
  second.ip[7] = 2, third.ip[7] = 3;
  Hand &d = t.hand(second, "dan"), &e = t.hand(third, "eve");
  t.enter(d);
  t.greet(e);
  CHECK(e.end() == SessionEnd::full);
  CHECK_THAT(e.end_text(), ContainsSubstring("3 clients"));
  CHECK(t.host->status().clients == 3);
  CHECK(t.host->status().refused(SessionEnd::full) == 1);
  CHECK(t.host->status().refused(SessionEnd::too_many_from_address) == 1);
  CHECK(t.events.back().kind == HostEventKind::refused);
  // Once there is a place it comes in by the same way.
  d.leave(t.now);
  t.run(2);
  t.enter(e);
}

TEST_CASE("a refusal weighs no more than the finish that it answers, and is said again when that is",
          "[server][arrivals]") {
  Table t(1);
  t.enter(t.hand(peer(1), "ann"));
  PeerAddress far = peer(2);
  far.ip[3] = 1;
  Hand& bob = t.hand(far, "b");
  std::size_t asked = 0, answered = 0;
  bob.begin(t.now);
  for (int i = 0; i < 30 && !bob.end(); ++i) {
    bob.poll(t.now, t.in);
    asked = 0;
    for (const auto& entry : t.in.entries()) asked += entry.size;
    const std::size_t before = bob.bytes_in;
    t.run();
    answered = bob.bytes_in - before;
    CHECK(answered <= asked);
  }
  CHECK(bob.end() == SessionEnd::full);
  CHECK(answered > 0);
  CHECK(t.books().farewells == 0);
}

TEST_CASE("whatever of the handshake is lost, or said twice, it ends in one session", "[server][arrivals]") {
  const int lost = GENERATE(0, 1, 2, 3, 4);
  CAPTURE(lost);
  Table t;
  Hand& ann = t.hand(peer(1));
  int said = 0;
  t.lost_up = [&](Hand& h) {
    // The packet is said, and goes nowhere.
    DatagramBatch nowhere;
    if (said != lost) {
      DatagramBatch trial;
      h.poll(t.now, trial);
      if (trial.entries().empty()) return true;
      ++said;
      for (int copy = 0; copy < 2; ++copy)
        for (const auto& entry : trial.entries()) t.in.add(entry.peer, trial.bytes(entry));
      return true;
    }
    h.poll(t.now, nowhere);
    if (!nowhere.entries().empty()) ++said;
    return true;
  };
  ann.begin(t.now);
  t.run(200);
  REQUIRE(ann.own);
  CHECK(t.books().sessions.size() == 1);
  CHECK(t.host->status().clients == 1);
}

TEST_CASE("a hello that is none, and a name that is none, are told so", "[server][arrivals]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  ann.payload.assign(40, 0x5a);
  t.greet(ann);
  CHECK(ann.end() == SessionEnd::bad_hello);
  Hand& bob = t.hand(peer(2), "nameless");
  MessageWriter writer;
  Hello hello;
  hello.name = "nameless";
  const auto good = writer.write(hello);
  bob.payload.assign(good.begin(), good.end());
  const auto at = std::search(bob.payload.begin(), bob.payload.end(), hello.name.begin(), hello.name.end());
  REQUIRE(at != bob.payload.end());
  *at = ' ';
  t.greet(bob);
  CHECK(bob.end() == SessionEnd::bad_name);
  CHECK(t.host->status().refused(SessionEnd::bad_name) == 1);
}

TEST_CASE("the same player who comes in again replaces the earlier session", "[server][arrivals]") {
  Table t;
  Hand &first = t.hand(peer(1)), &second = t.hand(peer(2));
  second.identity = first.identity;
  t.enter(first);
  t.enter(second);
  t.run(2);
  CHECK(first.end() == SessionEnd::replaced);
  CHECK(t.host->status().clients == 1);
  CHECK(t.host->world().player_count() == 1);
  CHECK(second.connection->state() == ConnectionState::open);
}

TEST_CASE("a finish that was held back does not end the session that was made without it",
          "[server][arrivals]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  const bool comes_back = GENERATE(false, true);
  if (comes_back) {
    t.enter(ann);
    ann.will_resume();
  }
  std::vector<std::uint8_t> held;
  t.lost_up = [&](Hand& h) {
    DatagramBatch said;
    h.poll(t.now, said);
    for (const auto& entry : said.entries()) {
      const auto bytes = said.bytes(entry);
      const bool finish = secure::packet_type(bytes, protocol_version) == secure::PacketType::finish;
      if (finish && held.empty()) held.assign(bytes.begin(), bytes.end());
      if (!finish || !std::ranges::equal(bytes, held)) t.in.add(h.at, bytes);
    }
    return true;
  };
  t.now = Micros{4'000'000};
  t.greet(ann);  // in vain
  for (int i = 0; i < 60 * 8 && !ann.own; ++i) t.run();
  REQUIRE(ann.own);
  REQUIRE(!held.empty());
  const std::uint32_t number = ann.number();
  const EntityId player = ann.own->id;
  REQUIRE(t.now < Micros{14'000'000});  // its ticket lives
  const std::uint64_t before = t.drops(DropReason::too_old);
  t.in.add(ann.at, held);
  t.run(120);
  CHECK(t.drops(DropReason::too_old) == before + 1);
  CHECK_FALSE(ann.end());
  CHECK(ann.number() == number);
  CHECK(t.books().sessions.size() == 1);
  CHECK(t.books().sessions.at(0).player == player);
  CHECK(t.host->world().player_count() == 1);
}

TEST_CASE("an IPv6 address counts by its /64, so that who has one takes no more places than others",
          "[server][arrivals]") {
  Table table;
  const auto household = [](std::uint8_t network, std::uint8_t host) {
    PeerAddress a;
    a.ip = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host};
    a.port = 4000;
    return a;
  };
  for (const std::uint8_t host : {std::uint8_t{1}, std::uint8_t{2}})
    table.enter(table.hand(household(1, host)));
  Hand& third = table.hand(household(1, 3));
  table.greet(third);
  CHECK(third.end() == SessionEnd::too_many_from_address);
  table.enter(table.hand(household(2, 1), "bob"));
}

TEST_CASE("who lacks a prop is told which, and who holds it comes in", "[server][arrivals]") {
  PropModel model;
  model.name = "wedge.obj";
  model.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  model.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  const PropPlace place{{500, 500, 40}, Turn16{77}, 0.5};
  const auto prop = Prop::place(model, place);
  REQUIRE(prop);
  Table table(3, {*prop});
  Hand& ann = table.hand(peer(1));
  table.greet(ann);
  REQUIRE(ann.welcomed());
  REQUIRE(ann.welcomes[0].props.size() == 1);
  CHECK(ann.welcomes[0].props[0].name == "wedge.obj");
  CHECK(ann.welcomes[0].props[0].place == place);
  CHECK(ann.welcomes[0].props[0].content_hash == (*prop)->content_hash());
  table.run(2);
  CHECK(ann.end() == SessionEnd::content);
  CHECK_THAT(ann.end_text(), ContainsSubstring("wedge.obj") && ContainsSubstring("--prop"));

  Hand& bob = table.hand(peer(2), "bob");
  bob.content = {(*prop)->content_hash()};
  table.enter(bob);
}
