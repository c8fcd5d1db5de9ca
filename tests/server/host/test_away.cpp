// Whoever breaks off leaves a body behind, and may come back to it.
#include <algorithm>
#include <memory>
#include <string>

#include "server/log/log.h"
#include "server/orders.h"
#include "tests/server/host/host_table.h"
#include "tests/server/lines.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

namespace {

constexpr int away_after = 60 * 11;  // ticks of silence until a player counts as away

HostConfig waiting(std::chrono::seconds grace) {
  HostConfig config;
  config.away_grace = grace;
  return config;
}

void vanish(Table& table, Hand& hand) {
  hand.will_resume();
  hand.vanished = true;
  if (hand.at.transport == Transport::tcp) table.in.add_closed(hand.at);
  table.run(hand.at.transport == Transport::tcp ? 2 : away_after);
}

void come_back(Table& table, Hand& hand, std::uint16_t port) {
  hand.vanished = false;
  hand.at.port = port;
  if (hand.at.transport == Transport::tcp) hand.at.link += 100;
  table.enter(hand);
}

}  // namespace

TEST_CASE("whose connection breaks off stands still, and comes back to its body", "[server][away]") {
  const PeerAddress at = GENERATE(peer(1), tcp_peer(1, 3));
  Table t;
  Leaves leaves;
  t.host->set_sink(&leaves);
  Hand& ann = t.hand(at);
  t.enter(ann);
  for (int i = 0; i < 60; ++i) {
    Input input = walking(ann.snapshot_tick + 2);
    for (PlayerCommand& c : input.commands) c.pitch = Turn16{900};
    t.send(ann, input);
    t.run();
  }
  const EntityId player = ann.own->id;
  const std::uint32_t number = ann.number();
  t.run(60);
  vanish(t, ann);
  CHECK(t.host->status().clients == 0);
  CHECK(t.host->status().away == 1);
  CHECK(t.host->away() == 1);
  CHECK(t.host->free_places() == 2);
  CHECK(t.host->world().player_count() == 1);
  CHECK(t.events.back().kind == HostEventKind::away);
  CHECK(t.books().sessions.empty());
  const DVec3 before = t.host->world().players().body[slot_of(player)].position_m;
  const Turn16 yaw = t.host->world().players().yaw[slot_of(player)];
  const Turn16 pitch = t.host->world().players().pitch[slot_of(player)];

  come_back(t, ann, 40);
  CHECK(ann.welcomes.back().resumed);
  CHECK(ann.welcomes.back().world == 1);
  CHECK(ann.own->id == player);
  CHECK(ann.number() != number);
  CHECK(length(ann.own->body.position_m - before) < 0.01);
  CHECK(t.host->world().players().yaw[slot_of(player)] == yaw);
  CHECK(pitch == Turn16{900});
  CHECK(t.host->world().players().pitch[slot_of(player)] == pitch);
  CHECK(t.host->status().resumed == 1);
  CHECK(t.host->status().resume_refused == 0);
  CHECK(t.host->status().away == 0);
  CHECK(t.events.back().kind == HostEventKind::returned);
  CHECK(leaves.count == 0);
  for (int i = 0; i < 60; ++i) {
    Input back = walking(ann.snapshot_tick + 2);
    for (PlayerCommand& command : back.commands) command.forward = -1;
    t.send(ann, back);
    t.run();
  }
  CAPTURE(ann.applied_tick, ann.snapshot_tick, t.host->status().inputs_late);
  CHECK(length(ann.own->body.position_m - before) > 1);
  ann.leave(t.now);
  t.run(2);
  CHECK(t.host->world().player_count() == 0);
  CHECK(leaves.count == 1);
}

TEST_CASE("who does not come back in time is gone, and begins anew", "[server][away]") {
  Table t(3, {}, waiting(std::chrono::seconds(5)));
  Leaves leaves;
  t.host->set_sink(&leaves);
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  const EntityId player = ann.own->id;
  vanish(t, ann);
  CHECK(t.host->status().away == 1);
  t.run(60 * 5 + 10);
  CHECK(t.host->status().away == 0);
  CHECK(t.host->world().player_count() == 0);
  CHECK(leaves.count == 1);
  CHECK(t.events.back().kind == HostEventKind::left);
  CHECK(t.events.back().detail == "away too long");
  come_back(t, ann, 40);
  CHECK_FALSE(ann.welcomes.back().resumed);
  CHECK(ann.own->id != player);
  CHECK(t.host->status().resume_refused == 0);
}

TEST_CASE("a body is given to nobody who does not prove that it is his", "[server][away]") {
  Table t;
  Hand &ann = t.hand(peer(1), "ann"), &eve = t.hand(peer(2), "eve");
  t.enter(ann);
  const EntityId player = ann.own->id;
  vanish(t, ann);
  SECTION("somebody else who knows the number, and even the secret") {
    eve.resume = ann.resume;
    if (GENERATE(false, true)) eve.resumption = ann.resumption;
    t.enter(eve);
    CHECK_FALSE(eve.welcomes.back().resumed);
    CHECK(eve.own->id != player);
    CHECK(t.host->status().resume_refused == 1);
    CHECK(t.host->status().away == 1);  // it still waits for her
    come_back(t, ann, 40);
    CHECK(ann.own->id == player);
  }
  SECTION("the same player without the session's secret begins anew, and is there once") {
    ann.resumption = secure::Secret{};
    come_back(t, ann, 40);
    CHECK_FALSE(ann.welcomes.back().resumed);
    CHECK(ann.own->id != player);
    CHECK(t.host->status().resume_refused == 1);
    t.run(2);
    CHECK(t.host->world().player_count() == 1);
  }
  SECTION("the same player who does not ask for it begins anew, and is there once") {
    ann.resume = 0;
    come_back(t, ann, 40);
    CHECK(ann.own->id != player);
    CHECK(t.host->status().resume_refused == 0);
    t.run(2);
    CHECK(t.host->world().player_count() == 1);
    CHECK(t.host->status().away == 0);
  }
}

TEST_CASE("who does not hear the answer asks again with what it had, and finds its body", "[server][away]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  const EntityId player = ann.own->id;
  if (GENERATE(false, true))
    vanish(t, ann);
  else
    ann.will_resume();
  const std::uint32_t first = ann.resume;
  // All that the server says once it was told who is there gets lost.
  const auto finishing = [](const Hand& h) {
    return h.handshake && !h.connection && h.handshake->step() != secure::ClientStep::saying_hello;
  };
  const int silent_ticks = GENERATE(10, 60 * 8);  // of the second no join came in time
  CAPTURE(silent_ticks);
  for (int times = 0; times < 2; ++times) {
    ann.vanished = false;
    ann.begin(t.now);
    t.lost_up = [&](Hand& h) {
      h.deaf = finishing(h);
      return false;
    };
    t.run(10);
    REQUIRE(t.books().sessions.size() == 1);
    CHECK(t.books().sessions.at(0).player == player);
    ann.vanished = true;
    t.run(silent_ticks);
  }
  t.lost_up = {};
  ann.deaf = false;
  REQUIRE(ann.resume == first);
  come_back(t, ann, 40);
  CHECK(ann.welcomes.back().resumed);
  CHECK(ann.own->id == player);
  CHECK(t.host->status().resumed == 1);
  t.run(60 * 6);
  CHECK(t.host->world().player_count() == 1);
  CHECK(t.books().sessions.size() == 1);
  CHECK_FALSE(ann.end());
  // It is heard: the old secret is worth nothing any more.
  Hand& thief = t.hand(peer(50));
  thief.identity = ann.identity;
  thief.resume = first;
  thief.resumption = ann.resumption;
  t.greet(thief);
  CHECK_FALSE(thief.welcomes.back().resumed);
}

TEST_CASE("who heard the answer and was not heard comes back with the newer secret", "[server][away]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  const EntityId player = ann.own->id;
  vanish(t, ann);
  ann.vanished = false;
  t.lost_up = [](Hand& h) { return h.connection != nullptr; };
  t.greet(ann);
  REQUIRE(ann.welcomed());
  const std::uint32_t unheard = ann.number();
  REQUIRE(unheard != ann.resume);
  const int silent_ticks = GENERATE(10, 60 * 8);
  CAPTURE(silent_ticks);
  const bool knows_newer = GENERATE(false, true);
  if (knows_newer) ann.will_resume();
  t.run(silent_ticks);
  t.lost_up = {};
  come_back(t, ann, 40);
  CHECK(ann.welcomes.back().resumed);
  CHECK(ann.own->id == player);
  CHECK(t.host->world().player_count() == 1);
}

TEST_CASE("who comes over another link before the old one is given up goes on at once", "[server][away]") {
  Table t;
  const PeerAddress first = GENERATE(peer(1), tcp_peer(1, 3));
  const PeerAddress second = first.transport == Transport::udp ? tcp_peer(2, 9) : peer(2);
  Hand &old_link = t.hand(first), &new_link = t.hand(second);
  new_link.identity = old_link.identity;
  t.enter(old_link);
  const EntityId player = old_link.own->id;
  old_link.will_resume();
  new_link.resume = old_link.resume;
  new_link.resumption = old_link.resumption;
  old_link.vanished = true;
  t.enter(new_link);
  CHECK(new_link.welcomes.back().resumed);
  CHECK(new_link.own->id == player);
  CHECK(t.host->status().clients == 1);
  CHECK(t.host->world().player_count() == 1);
  CHECK(t.books().sessions.size() == 1);
  CHECK(t.closed_links.size() == (first.transport == Transport::tcp ? 1 : 0));
  old_link.vanished = false;
  t.run(60);
  CHECK_FALSE(old_link.end());  // nobody told it anything
}

TEST_CASE("when a place is needed who has been away longest gives way", "[server][away]") {
  Table t(2);
  Hand &ann = t.hand(peer(1), "ann"), &bob = t.hand(peer(2), "bob");
  t.enter(ann);
  t.enter(bob);
  vanish(t, ann);
  vanish(t, bob);
  CHECK(t.host->status().away == 2);
  Hand& cid = t.hand(peer(3), "cid");
  t.enter(cid);
  CHECK(t.host->status().away == 1);
  CHECK(t.host->world().player_count() == 2);
  CHECK(std::ranges::any_of(t.events, [](const HostEvent& e) {
    return e.kind == HostEventKind::left && e.name == "ann" && e.detail == "its place was given away";
  }));
  come_back(t, bob, 40);
  CHECK(bob.welcomes.back().resumed);
  ann.vanished = false;
  ann.at.port = 41;
  t.greet(ann);
  CHECK(ann.end() == SessionEnd::full);  // both who are here play
}

TEST_CASE("who comes back has a place before it joins, and gives way to nobody", "[server][away]") {
  Table t(1);
  Hand &ann = t.hand(peer(1), "ann"), &bob = t.hand(peer(2), "bob");
  t.enter(ann);
  ann.will_resume();
  ann.joins = false;
  t.greet(ann);
  REQUIRE(ann.welcomes.back().resumed);
  t.greet(bob);
  CHECK(bob.end() == SessionEnd::full);
  CHECK_FALSE(ann.end());
  CHECK(t.host->status().greeted_displaced == 0);
}

TEST_CASE("where nobody is waited for, and of who is kicked, no body stays", "[server][away]") {
  SECTION("no grace") {
    Table t(3, {}, waiting(std::chrono::seconds(0)));
    Hand& ann = t.hand(peer(1));
    t.enter(ann);
    vanish(t, ann);
    CHECK(t.host->world().player_count() == 0);
    CHECK(t.host->status().away == 0);
  }
  SECTION("kicked while away") {
    Table t;
    Hand& ann = t.hand(peer(1));
    t.enter(ann);
    vanish(t, ann);
    CHECK(t.host->kick("ann", "be kind") == 1);
    t.run(2);
    CHECK(t.host->world().player_count() == 0);
    CHECK(t.events.back().detail == "kicked: be kind");
  }
  SECTION("kicked while away, by the console") {
    Table t;
    Hand& ann = t.hand(peer(1));
    t.enter(ann);
    vanish(t, ann);
    const auto lines = std::make_shared<Lines>();
    {
      Log log(LogFormat::text, LogLevel::info, lines);
      Reply reply(log);
      (void)obey("kick ann be kind", {}, *t.host, t.now, 0, reply);
    }
    REQUIRE(lines->all.size() == 1);
    CHECK(lines->all[0].find("players=1") != std::string::npos);
    t.run(2);
    CHECK(t.host->world().player_count() == 0);
  }
}

TEST_CASE("after a restart a client that wants to go on is welcomed anew", "[server][away]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  ann.will_resume();
  t.restart();
  t.send(ann, walking(5));
  t.run();
  CHECK(ann.resets == 1);
  come_back(t, ann, 1);
  CHECK_FALSE(ann.welcomes.back().resumed);
  CHECK(t.host->status().resume_refused == 0);
  CHECK(t.host->status().clients == 1);
}

TEST_CASE("who does not join after coming back is out of the world", "[server][away]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  vanish(t, ann);
  ann.joins = ann.vanished = false;
  t.greet(ann);
  REQUIRE(ann.welcomed());
  CHECK(ann.welcomes.back().resumed);
  CHECK(t.host->world().player_count() == 1);
  CHECK(t.books().sessions.at(0).player != EntityId{0});
  t.run(60 * 6);
  CHECK(ann.end() == SessionEnd::protocol);
  CHECK(t.host->world().player_count() == 0);
}

TEST_CASE("who comes back again and again has to wait, and loses nothing by it", "[server][away]") {
  HostConfig config;
  config.rejoins_per_minute = 1;
  Table t(3, {}, config);  // a burst of twice two clients, and 64
  Hand &ann = t.hand(peer(1), "ann"), &bob = t.hand(peer(2), "bob");
  t.enter(ann);
  t.enter(bob);
  const EntityId player = ann.own->id;
  int times = 0;
  for (; times < 200; ++times) {
    ann.will_resume();
    t.greet(ann);
    if (!ann.welcomed()) break;
    for (int i = 0; i < 20 && !ann.own; ++i) t.run();
    REQUIRE(ann.own);
  }
  CHECK(ann.end() == SessionEnd::too_many_from_address);
  CHECK(times >= 70);
  CHECK(times < 90);
  CHECK(t.host->status().gate.rejoins_refused == 1);
  CHECK(t.host->world().player_row(player) >= 0);
  // Who seldom does it may, though the address has used up what it had.
  const EntityId bobs = bob.own->id;
  for (int i = 0; i < 3; ++i) {
    bob.will_resume();
    t.enter(bob);
    CHECK(bob.own->id == bobs);
  }
  t.run(60 * 30);
  t.enter(ann);
  CHECK(ann.welcomes.back().resumed);
  CHECK(ann.own->id == player);
}

TEST_CASE("lines that waited for their turn come back with their player", "[server][away]") {
  Table t;
  Hand &ann = t.hand(tcp_peer(1, 3), "ann"), &bob = t.hand(peer(2), "bob");
  t.enter(ann);
  t.enter(bob);
  t.run(60);
  for (int i = 0; i < 6; ++i) CHECK(ann.send(Chat{"line " + std::to_string(i)}) == SendResult::sent);
  t.run(4);  // they are there, and few were said
  const auto said = [&] {
    std::vector<std::string> out;
    for (const ChatLine& line : bob.lines)
      if (line.from == "ann") out.push_back(line.text);
    return out;
  };
  REQUIRE(said().size() < 6);
  vanish(t, ann);
  come_back(t, ann, 40);
  CHECK(ann.send(Chat{"and more"}) == SendResult::sent);
  t.run(60 * 9);
  CHECK(said() ==
        std::vector<std::string>{"line 0", "line 1", "line 2", "line 3", "line 4", "line 5", "and more"});
}
