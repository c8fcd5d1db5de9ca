#include "server/host/host.h"

#include <algorithm>
#include <optional>

#include "protocol/recording.h"
#include "tests/catch.h"
#include "tests/server/host/host_table.h"
#include "world/collide/prop.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

TEST_CASE("a hello is welcomed, a join brings snapshots, a leave ends them", "[server][host]") {
  Table t;
  const PeerAddress at = GENERATE(peer(1), tcp_peer(1, 7));
  Hand& ann = t.hand(at);
  t.enter(ann);
  REQUIRE(ann.welcomes.size() == 1);
  CHECK(ann.welcomes[0].motd == "be kind");
  CHECK(ann.welcomes[0].world == 1);
  CHECK_FALSE(ann.welcomes[0].resumed);
  CHECK(ann.handshake->server_key() == t.host->identity());
  CHECK(t.host->status().clients == 1);
  const int before = ann.snapshots;
  t.run(10);
  CHECK(ann.snapshots == before + 10);
  CHECK(ann.own->id != EntityId{0});
  CHECK(t.host->status().door.finishes == 1);

  ann.leave(t.now);
  t.run(2);
  CHECK(t.host->status().clients == 0);
  CHECK(t.host->world().player_count() == 0);
  CHECK(t.events.back().kind == HostEventKind::left);
  CHECK(t.events.back().detail == "quit");
  CHECK(t.closed_links.size() == (at.transport == Transport::tcp ? 1 : 0));
  const int after = ann.snapshots;
  t.run(5);
  CHECK(ann.snapshots == after);
  t.run(200);
  const HostAudit books = t.books();
  CHECK(books.sessions.empty());
  CHECK(books.farewells == 0);
  CHECK(books.identities + books.links + books.hosts == 0);
}

TEST_CASE("a client says of itself why it goes, and not what a server does", "[server][host]") {
  struct Said {
    SessionEnd why;
    const char* told;
  };
  const auto said = GENERATE(Said{SessionEnd::stopped, "stopped"}, Said{SessionEnd::protocol, "protocol"},
                             Said{SessionEnd::kicked, "closed by the client (70)"},
                             Said{SessionEnd::banned, "closed by the client (67)"},
                             Said{static_cast<SessionEnd>(200), "closed by the client (200)"});
  Table t;
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  ann.leave(t.now, said.why);
  t.run(2);
  REQUIRE(t.events.back().kind == HostEventKind::left);
  CHECK(t.events.back().detail == said.told);
}

TEST_CASE("commands move the player and the snapshot says which was applied", "[server][host]") {
  Table t;
  Hand& hand = t.hand(peer(1));
  t.enter(hand);
  const DVec3 start = hand.own->body.position_m;
  for (int i = 0; i < 60; ++i) {
    t.send(hand, walking(hand.snapshot_tick + 2));
    t.run();
  }
  CHECK(hand.snapshot_tick - hand.applied_tick <= 1);
  CHECK(length(xy(hand.own->body.position_m) - xy(start)) > 1);
}

TEST_CASE("a command claims to have seen what its client was sent, and none much older than what it has",
          "[server][host]") {
  Table table;
  Hand& hand = table.hand(peer(1));
  table.enter(hand);
  struct Seen final : TickSink {
    void on_tick(const TickRecord& record) override {
      for (const PlayerInput& input : record.commands) ticks.push_back(number(input.command.seen));
    }
    std::vector<std::uint32_t> ticks;
  } seen;
  table.run(100);
  table.host->set_sink(&seen);
  const std::uint32_t now = table.host->status().tick;
  REQUIRE(now > 70);
  const auto played = [&](std::uint32_t claim) {
    const std::uint32_t newest = table.host->status().tick + 1;
    Input input = walking(newest);
    input.commands[0].seen = TickId{claim};
    table.send(hand, input);
    table.run();
    REQUIRE(table.host->status().tick == newest);
    return seen.ticks.back();
  };
  CHECK(played(0) == 0);
  CHECK(played(now) == now);
  CHECK(played(now + 1) == now + 1);
  // It has acknowledged the tick now + 2 with it, as it always did at once: its picture may be a tick behind,
  // and two more, as more than one of its snapshots came three ticks after the last.
  const std::uint32_t oldest = now + 2 - 1 - 2;
  CHECK(played(1) == oldest);
  // A command that is repeated for want of a newer one shows what its player last saw.
  table.run();
  CHECK(seen.ticks.back() == oldest);
  // An early one cannot have seen a tick that is still to come: it is believed the newest that was sent.
  Input early = walking(now + 8);
  early.commands[0].seen = TickId{now + 7};
  table.send(hand, early);
  table.run(2);
  CHECK(table.host->status().tick == now + 7);
  table.run();
  CHECK(seen.ticks.back() == now + 5);
}

TEST_CASE("late and far too early commands are counted and do nothing", "[server][host]") {
  Table t;
  Hand& hand = t.hand(peer(1));
  t.enter(hand);
  t.send(hand, walking(hand.snapshot_tick - 3));
  t.send(hand, walking(hand.snapshot_tick + 5000));
  t.run(3);
  CHECK(hand.applied_tick == 0);
  CHECK(t.host->status().inputs_late == 1);
  CHECK(t.host->status().inputs_early == 1);
}

TEST_CASE("who falls silent is gone, and so is who never joins", "[server][host]") {
  HostConfig config;
  config.away_grace = Micros{0};
  Table t(3, {}, config);
  Hand &a = t.hand(peer(1), "ann"), &b = t.hand(peer(2), "bob");
  t.enter(a);
  b.joins = false;
  t.greet(b);
  a.vanished = true;
  t.run(60 * 6);
  CHECK(b.end() == SessionEnd::protocol);
  CHECK_THAT(b.end_text(), ContainsSubstring("no join"));
  CHECK(t.host->status().clients == 1);
  t.run(60 * 5);
  CHECK(t.host->status().clients == 0);
  CHECK(t.host->world().player_count() == 0);
  CHECK(t.events.back().detail == "timed out");
}

TEST_CASE("chat reaches everyone, each line once and in order, whatever is lost", "[server][host]") {
  Table t;
  Hand &a = t.hand(peer(1), "ann"), &b = t.hand(peer(2), "bob");
  t.enter(a);
  t.enter(b);
  int turn = 0;
  t.lost_up = [&](Hand& h) {
    if (++turn % 3 != 0) return false;
    DatagramBatch nowhere;
    h.poll(t.now, nowhere);
    return true;
  };
  // More than it may say at once: the rest waits, and nothing is lost.
  for (int i = 0; i < 8; ++i) CHECK(a.send(Chat{"line " + std::to_string(i)}) == SendResult::sent);
  t.run(60);
  CHECK(t.host->status().drops[static_cast<std::size_t>(DropReason::rate_limited)] == 0);
  t.run(60 * 6);
  for (Hand* hand : {&a, &b}) {
    std::vector<std::string> heard;
    for (const ChatLine& line : hand->lines)
      if (line.from == "ann") heard.push_back(line.text);
    REQUIRE(heard.size() == 8);
    for (std::size_t i = 0; i < heard.size(); ++i) CHECK(heard[i] == "line " + std::to_string(i));
  }
}

TEST_CASE("garbage, strangers, replays and forgeries are counted by reason and cost a player nothing",
          "[server][host]") {
  Table t;
  Hand& hand = t.hand(peer(1));
  t.enter(hand);
  t.in.add(peer(1), std::vector<std::uint8_t>(40, 0xee));
  t.send(hand, walking(hand.snapshot_tick + 2));
  const auto last = t.in.entries().back();
  const std::vector<std::uint8_t> packet(t.in.bytes(last).begin(), t.in.bytes(last).end());
  t.in.add(peer(1), packet);        // heard twice
  for (int i = 0; i < 2000; ++i) {  // of who knows its number
    std::vector<std::uint8_t> forged = packet;
    forged.back() ^= static_cast<std::uint8_t>(1 + i % 255);
    forged[7] = static_cast<std::uint8_t>(i);
    t.in.add(peer(static_cast<std::uint16_t>(1 + i % 3)), forged);
  }
  t.in.add(tcp_peer(4, 9), packet);
  t.run();
  CHECK(t.drops(DropReason::wrong_version) == 1);
  CHECK(t.drops(DropReason::duplicate) >= 1);
  CHECK(t.drops(DropReason::wrong_address) == 1);
  CHECK(t.drops(DropReason::corrupt) + t.drops(DropReason::duplicate) + t.drops(DropReason::too_old) == 2001);
  CHECK(t.drops(DropReason::rate_limited) == 0);
  CHECK(t.host->status().clients == 1);
  t.run();
  CHECK(hand.applied_tick > 0);
}

TEST_CASE("in slow ticks a client may acknowledge by time and is dropped nothing", "[server][host]") {
  Table t;
  t.setup.rules.tick_rate_hz = 10;
  t.restart();
  Hand& hand = t.hand(tcp_peer(1, 1));
  t.enter(hand);
  // One input a tick, and as much for each 25 ms: 60 in a second, for so long that no burst covers it.
  for (int i = 0; i < 20 * 10; ++i) {
    for (int n = 0; n < 6; ++n) t.send(hand, walking(hand.snapshot_tick + 2));
    t.turn(Micros{100'001});
  }
  CHECK(t.drops(DropReason::rate_limited) == 0);
  CHECK(t.host->status().clients == 1);
}

TEST_CASE("what a session may send comes back by the second, and by the tick where those are many",
          "[server][host]") {
  CHECK(datagrams_per_tick(10) == 18);
  CHECK(datagrams_per_tick(50) == 4);
  CHECK(datagrams_per_tick(60) == 3);
  CHECK(datagrams_per_tick(128) == 3);
}

TEST_CASE("a client that says more than its share is held to it, and loses nothing that matters",
          "[server][host]") {
  Table t;
  Hand& hand = t.hand(tcp_peer(1, 1));  // over UDP its own end would say less
  t.enter(hand);
  for (int i = 0; i < 1000; ++i) t.send(hand, walking(hand.snapshot_tick + 2));
  t.run();
  CHECK(t.drops(DropReason::rate_limited) > 700);
  CHECK(t.host->status().clients == 1);
  CHECK(hand.send(Chat{"still here"}) == SendResult::sent);
  t.run(120);
  CHECK(std::ranges::any_of(hand.lines, [](const ChatLine& line) { return line.text == "still here"; }));
}

TEST_CASE("who says what makes no sense is dropped or sent away with a reason", "[server][host]") {
  Table t;
  Hand& hand = t.hand(peer(1));
  t.enter(hand);
  MessageWriter writer;
  DatagramBatch said;
  const auto speak = [&](StreamId stream, std::span<const std::uint8_t> bytes) {
    CHECK(hand.connection->send(stream, bytes) == SendResult::sent);
    t.run(3);
  };
  SECTION("a message where it may not travel") {
    speak(StreamId::control, writer.write(Chat{"hello"}));
    speak(StreamId::chat, writer.write(Join{}));
    speak(StreamId::bulk, writer.write(Join{}));
    speak(StreamId::control, writer.write(Join{{}, 9}));  // of another world
    Input input = walking(hand.snapshot_tick + 1);
    input.world = 7;
    REQUIRE(hand.connection->send_unreliable(t.now, writer.write(input), said));
    for (const auto& entry : said.entries()) t.in.add(hand.at, said.bytes(entry));
    t.run(2);
    CHECK(t.drops(DropReason::wrong_state) == 5);
    CHECK(t.host->status().clients == 1);
    CHECK(hand.applied_tick == 0);
  }
  SECTION("bytes that are no message") {
    speak(GENERATE(StreamId::control, StreamId::chat), std::vector<std::uint8_t>(30, 0x5a));
    CHECK(hand.end() == SessionEnd::protocol);
    CHECK(t.drops(DropReason::malformed) == 1);
    CHECK(t.host->status().clients == 0);
    CHECK(t.events.back().detail == "protocol");
  }
  SECTION("an unreliable message that is none") {
    REQUIRE(hand.connection->send_unreliable(t.now, std::vector<std::uint8_t>(30, 0x5a), said));
    for (const auto& entry : said.entries()) t.in.add(hand.at, said.bytes(entry));
    t.run(2);
    CHECK(hand.end() == SessionEnd::protocol);
    CHECK(t.host->status().clients == 0);
  }
}

TEST_CASE("a session goes on when its client comes from another address", "[server][host]") {
  Table t;
  Hand& ann = t.hand(peer(1));
  t.enter(ann);
  const EntityId player = ann.own->id;
  ann.at.ip[15] = 77;
  ann.at.port = 9;
  for (int i = 0; i < 60; ++i) {
    t.send(ann, walking(ann.snapshot_tick + 2));
    t.run();
  }
  CHECK(t.host->status().moved == 1);
  CHECK(t.host->players().at(0).peer == ann.at);
  CHECK(ann.own->id == player);
  CHECK(ann.snapshot_tick == t.host->status().tick);
  CHECK(t.books().hosts == 1);
  ann.leave(t.now);
  t.run(2);
  CHECK(t.books().hosts == 0);
}

TEST_CASE("the end of a server is told to everyone, again where it was lost, and nothing follows",
          "[server][host]") {
  Table t;
  Hand &ann = t.hand(peer(1), "ann"), &bob = t.hand(tcp_peer(2, 5), "bob");
  t.enter(ann);
  t.enter(bob);
  CHECK(t.host->silent());
  t.out.clear();
  t.host->shut_down("maintenance", t.out);
  CHECK(t.out.entries().size() == 2);
  REQUIRE(t.out.closed().size() == 1);
  CHECK(t.out.closed()[0] == bob.at);
  CHECK_FALSE(t.host->silent());
  const std::uint32_t tick = t.host->status().tick;
  t.run(2);  // what was said above is lost: nobody handed it out
  for (int i = 0; i < 120; ++i) t.run();
  CHECK(ann.end() == SessionEnd::shutting_down);
  CHECK(ann.end_text() == "maintenance");
  CHECK(t.host->silent());
  CHECK(t.host->status().tick == tick);
  t.run(3);
  CHECK(t.out.empty());
}

TEST_CASE("after a stall a few ticks are made up for and the rest is given up and counted",
          "[server][host]") {
  Table t;
  t.run(3);
  const std::uint32_t before = t.host->status().tick;
  t.now += std::chrono::seconds(1);
  // One in each turn, so that what arrives is taken between them.
  for (std::uint32_t turn = 1; turn <= 8; ++turn) {
    t.advance();
    CHECK(t.host->status().tick - before == std::min(turn, 4u));
  }
  CHECK(t.host->status().ticks_skipped > 50);
  CHECK(t.host->status().ticks_late == 3);
  t.now += tick;
  t.run(2);
  CHECK(t.host->status().tick - before == 6);
}

TEST_CASE("in lasting overload the backlog shrinks to one tick and the rest is counted", "[server][host]") {
  Table t;
  t.run();
  // Every turn takes two and a half ticks.
  const auto turn = [&] {
    t.advance();
    t.now += Micros{41'667};
  };
  for (int i = 0; i < 40; ++i) turn();
  CHECK(t.host->next_tick_at() <= t.now);
  CHECK(t.now - t.host->next_tick_at() < Micros{50'001});  // what the last turn took and no more
  const std::uint64_t before = t.host->status().tick + t.host->status().ticks_skipped;
  for (int i = 0; i < 60; ++i) turn();
  const std::uint64_t slots = t.host->status().tick + t.host->status().ticks_skipped - before;
  CHECK(slots == 150);
}

TEST_CASE("ticks keep to their rate to the microsecond, whatever their length", "[server][host]") {
  const std::uint16_t rate = GENERATE(std::uint16_t{60}, std::uint16_t{128}, std::uint16_t{7 * 13});
  CAPTURE(rate);
  WorldSetup setup;
  setup.monsters = 0;
  setup.rules.tick_rate_hz = rate;
  HostConfig config;
  Host host(config, std::make_unique<World>(setup), seed_of(1));
  HostInput in;
  HostOutput out;
  host.advance(Micros{5}, in, out);
  const Micros first = host.next_tick_at();
  CHECK(first == Micros{5 + 1'000'000 / rate});
  for (std::uint32_t tick = 1; tick < 20u * rate; ++tick) host.advance(host.next_tick_at(), in, out);
  CHECK(host.status().tick == 20u * rate);
  CHECK(host.status().ticks_late == 0);
  CHECK(host.next_tick_at() == Micros{20'000'005});
}

TEST_CASE("a tick without a snapshot does not show the time of the last one", "[server][host]") {
  HostConfig config;
  config.snapshot_every_ticks = 3;
  // Each reading is later than the one before by more than that was.
  config.stopwatch_ns = [] {
    static std::uint64_t reading = 0, step = 0;
    return reading += ++step;
  };
  WorldSetup setup;
  setup.monsters = 0;
  Host host(config, std::make_unique<World>(setup), seed_of(2));
  HostInput in;
  HostOutput out;
  std::uint64_t last = 0;
  for (int i = 1; i <= 6; ++i) {
    host.advance(i * tick, in, out);
    const std::uint64_t publishing = host.status().phase_ns_last[static_cast<std::size_t>(Phase::publish)];
    CHECK(publishing > last);
    last = publishing;
  }
}

TEST_CASE("a closed TCP connection ends its session at once where nobody is waited for", "[server][host]") {
  HostConfig config;
  config.away_grace = Micros{0};
  Table t(3, {}, config);
  Hand& hand = t.hand(tcp_peer(1, 3));
  t.enter(hand);
  CHECK(t.host->has_session(hand.at));
  hand.vanished = true;
  t.in.add_closed(hand.at);
  t.run(2);
  CHECK(t.host->status().clients == 0);
  CHECK(t.host->world().player_count() == 0);
  CHECK_FALSE(t.host->has_session(hand.at));
}

TEST_CASE("no-clip is granted by name, enters the tick and is taken back", "[server][host]") {
  Table table;
  Hand& ann = table.hand(peer(1));
  table.enter(ann);
  CHECK(table.host->set_noclip("bob", true) == 0);
  const double height_m = ann.own->body.position_m.z;
  const auto rise = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      Input input;
      input.newest_tick = ann.snapshot_tick + 2;
      input.command_count = 1;
      input.commands[0].buttons = button::jump;
      table.send(ann, input);
      table.run();
    }
  };
  CHECK(table.host->set_noclip("ann", true) == 1);
  rise(60);
  CHECK(ann.own->body.noclip == 1);
  CHECK(ann.own->body.position_m.z > height_m + 8);  // nobody jumps that high
  CHECK(table.host->set_noclip("ann", false) == 1);
  table.run(2);
  CHECK(ann.own->body.noclip == 0);
}

TEST_CASE("a spectator is told of the others, nobody of him, and he plays once he is let",
          "[server][host][spectators]") {
  Table table;
  Hand& ann = table.hand(peer(1));
  Hand& bob = table.hand(peer(2), "bob");
  bob.watches = true;
  table.enter(ann);
  table.enter(bob);
  table.run(30);
  const EntityId bobs = bob.own->id;
  CHECK(bob.own->body.noclip == noclip_spectates);
  CHECK(ann.own->body.noclip == 0);
  CHECK(bob.told.contains(ann.own->id));
  CHECK_FALSE(ann.told.contains(bobs));
  CHECK(table.host->set_watching("carl", false) == 0);
  CHECK(table.host->set_watching("bob", false) == 1);
  table.run(30);
  CHECK(bob.own->body.noclip == 0);
  CHECK(ann.told.contains(bobs));
  CHECK(table.host->set_watching("ann", true) == 1);
  table.run(2);
  bob.told.erase(ann.own->id);
  const double height_m = ann.own->body.position_m.z;
  for (int i = 0; i < 30; ++i) {
    Input input;
    input.newest_tick = ann.snapshot_tick + 2;
    input.command_count = 1;
    input.commands[0].buttons = button::jump;
    table.send(ann, input);
    table.run();
  }
  CHECK(ann.own->body.noclip == noclip_spectates);
  CHECK(ann.own->body.position_m.z > height_m + 4);  // whoever is told of is told of as he moves
  CHECK_FALSE(bob.told.contains(ann.own->id));
}

TEST_CASE("a kicked player leaves the world in the tick's input and hears why, though it was lost once",
          "[server][host]") {
  Table table;
  Leaves leaves;
  table.host->set_sink(&leaves);
  Hand& ann = table.hand(peer(1));
  table.enter(ann);
  CHECK(table.host->kick("bob", "be kind") == 0);
  CHECK(table.host->kick("ann", "be kind") == 1);
  ann.vanished = true;
  table.run(2);
  CHECK(table.events.back().kind == HostEventKind::left);
  CHECK(table.events.back().detail == "kicked: be kind");
  CHECK(leaves.count == 1);
  CHECK(table.host->world().player_count() == 0);
  CHECK(table.host->players().empty());
  CHECK(table.books().sessions.empty());
  ann.vanished = false;
  table.run(60);
  CHECK(ann.end() == SessionEnd::kicked);
  CHECK(ann.end_text() == "be kind");
  table.run(200);
  CHECK(table.books().farewells == 0);
  CHECK(table.books().hosts == 0);
}

TEST_CASE("a kicked player's TCP connection is closed behind its goodbye", "[server][host]") {
  Table table;
  Hand& ann = table.hand(tcp_peer(1, 3));
  table.enter(ann);
  CHECK(table.host->kick("ann", "be kind") == 1);
  table.run();
  CHECK(ann.end() == SessionEnd::kicked);
  REQUIRE(table.out.closed().size() == 1);
  CHECK(table.out.closed()[0] == ann.at);
  CHECK(table.books().sessions.empty());
}

TEST_CASE("what the operator says reaches everybody as the server's chat", "[server][host]") {
  Table table;
  Hand &ann = table.hand(peer(1), "ann"), &bob = table.hand(peer(2), "bob");
  table.enter(ann);
  table.enter(bob);
  CHECK(table.host->players().size() == 2);
  table.host->say("restart at noon");
  table.run(20);
  const auto said = [](const ChatLine& line) { return line.from.empty() && line.text == "restart at noon"; };
  for (Hand* hand : {&ann, &bob}) CHECK(std::ranges::count_if(hand->lines, said) == 1);
}

TEST_CASE("an operator sees how long a player is here, its ping and its losses", "[server][host]") {
  Table table;
  Hand& ann = table.hand(peer(1));
  const Micros before = table.now;
  table.enter(ann);
  table.run(60);
  PlayerInfo info = table.host->players().at(0);
  CHECK(info.joined_at >= before);
  CHECK(info.joined_at <= table.now);
  CHECK(info.rtt > Micros{0});
  CHECK(info.loss_in == 0);
  CHECK(info.loss_out == 0);
  // Of what it says every second packet is lost; and of what it is sent, too.
  for (int i = 0; i < 120; ++i) {
    ann.vanished = i % 2 == 0;
    if (!ann.vanished) {
      DatagramBatch lost;
      ann.send(table.now, lost, walking(ann.snapshot_tick + 2));
      table.send(ann, walking(ann.snapshot_tick + 2));
    }
    table.run();
  }
  ann.vanished = false;
  table.run(20);
  info = table.host->players().at(0);
  CHECK(info.loss_in > 0.1);
  CHECK(info.loss_out > 0.1);
}

TEST_CASE("lines and gifts of nothing are none", "[server][host]") {
  Table t(4);
  Hand& ann = t.hand(peer(1), "ann");
  t.enter(ann);
  t.run(20);
  ann.lines.clear();
  t.host->say("");
  t.host->tell(ann.number(), "");
  const auto none = [&](BlockId kind, std::uint16_t count) {
    const Host::Gift gift = t.host->give("ann", kind, count);
    return gift.players == 0 && gift.items == 0;
  };
  CHECK(none(BlockId::air, 5));
  CHECK(none(static_cast<BlockId>(60000), 5));
  CHECK(none(BlockId::stone, 0));
  CHECK(t.host->give("ann", BlockId::stone, 5).items == 5);
  t.run(20);
  CHECK(ann.lines.empty());
}
