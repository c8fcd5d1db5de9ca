#include "server/host/host.h"

#include <algorithm>
#include <optional>

#include "protocol/decode.h"
#include "protocol/message_writer.h"
#include "protocol/recording.h"
#include "protocol/version.h"
#include "tests/catch.h"
#include "tests/server/host/host_table.h"
#include "world/collide/prop.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::server;
using namespace ashlar::server::test;

TEST_CASE("a hello is welcomed, a join brings snapshots, a leave ends them", "[server][host]") {
  Table t;
  Hand hand{peer(1)};
  t.enter(hand);
  CHECK(t.welcome->motd == "be kind");
  CHECK(t.host->status().clients == 1);
  const int before = t.snapshots;
  t.run(10);
  CHECK(t.snapshots == before + 10);
  CHECK(t.own->id != EntityId{0});

  hand.send(t.in, Leave{LeaveReason::quit});
  t.run(2);
  REQUIRE(t.goodbye);
  CHECK(t.goodbye->reason == GoodbyeReason::left);
  CHECK(t.host->status().clients == 0);
  CHECK(t.host->world().player_count() == 0);
  const int after = t.snapshots;
  t.run(5);
  CHECK(t.snapshots == after);
  CHECK(t.events.back().kind == HostEventKind::left);
}

TEST_CASE("commands move the player and the snapshot says which was applied", "[server][host]") {
  Table t;
  Hand hand{peer(1)};
  t.enter(hand);
  const DVec3 start = t.own->body.position_m;
  for (int i = 0; i < 60; ++i) {
    hand.send(t.in, walking(t.snapshot_tick + 2));
    t.run();
  }
  CHECK(t.snapshot_tick - t.applied_tick <= 1);
  CHECK(length(xy(t.own->body.position_m) - xy(start)) > 1);
}

TEST_CASE("a command claims to have seen no later state than the server's and none older than a second",
          "[server][host]") {
  Table table;
  Hand hand{peer(1)};
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
    hand.send(table.in, input);
    table.run();
    REQUIRE(table.host->status().tick == newest);
    return seen.ticks.back();
  };
  CHECK(played(0) == 0);
  CHECK(played(now) == now);
  CHECK(played(now + 1) == now + 1);
  CHECK(played(1) == now + 3 - 60);
  // A command that is repeated for want of a newer one shows what its player last saw.
  table.run();
  CHECK(seen.ticks.back() == now + 4 - 60);
  // An early one may name a tick that is still to come: by then it has seen what there is.
  Input early = walking(now + 8);
  early.commands[0].seen = TickId{now + 7};
  hand.send(table.in, early);
  table.run(2);
  CHECK(table.host->status().tick == now + 7);
  table.run();
  CHECK(seen.ticks.back() == now + 7);
}

TEST_CASE("late and far too early commands are counted and do nothing", "[server][host]") {
  Table t;
  Hand hand{peer(1)};
  t.enter(hand);
  hand.send(t.in, walking(t.snapshot_tick - 3));
  hand.send(t.in, walking(t.snapshot_tick + 5000));
  t.run(3);
  CHECK(t.applied_tick == 0);
  CHECK(t.host->status().inputs_late == 1);
  CHECK(t.host->status().inputs_early == 1);
}

TEST_CASE("a client of another protocol is told so", "[server][host]") {
  Table t;
  Hand hand{peer(1)};
  hand.send(t.in, Hello{protocol_version + 1u, 8, "ann", ""});
  t.run();
  REQUIRE(t.refuse);
  CHECK(t.refuse->reason == RefuseReason::version);
  CHECK(t.refuse->nonce == 8);
  // The header's version is the first byte of all.
  t.refuse.reset();
  std::vector<std::uint8_t> old(datagram_bytes_max, 0);
  old[0] = protocol_version + 1;
  t.in.add(peer(2), old);
  t.in.add(peer(3), std::span(old).first(100));  // too short to earn an answer
  t.run();
  CHECK(t.refuse);
  CHECK(t.out.entries().size() == 1);
  CHECK(t.drops(DropReason::wrong_version) == 2);
}

TEST_CASE("a full server and a greedy address are refused with a line", "[server][host]") {
  Table t(3);
  Hand a{peer(1)}, b{peer(2)}, c{peer(3)};
  t.enter(a, "ann", 1);
  t.enter(b, "bob", 2);
  c.send(t.in, Hello{protocol_version, 3, "cid", ""});
  t.run();
  REQUIRE(t.refuse);
  CHECK(t.refuse->reason == RefuseReason::too_many_from_address);

  Hand d{peer(4)}, e{peer(5)};
  d.at.ip[7] = 2, e.at.ip[7] = 3;
  t.enter(d, "dan", 4);
  t.refuse.reset();
  e.send(t.in, Hello{protocol_version, 5, "eve", ""});
  t.run();
  REQUIRE(t.refuse);
  CHECK(t.refuse->reason == RefuseReason::full);
  CHECK(t.host->status().clients == 3);
}

TEST_CASE("a lost welcome is said again, and a spoofed second hello does not throw out a player",
          "[server][host]") {
  Table t;
  Hand hand{peer(1)};
  hand.send(t.in, Hello{protocol_version, 5, "ann", ""});
  t.run();
  REQUIRE(t.welcome);
  const std::uint32_t connection = t.welcome->connection;
  t.welcome.reset();
  hand.send(t.in, Hello{protocol_version, 5, "ann", ""});
  t.run();
  REQUIRE(t.welcome);
  CHECK(t.welcome->connection == connection);

  hand.connection = connection;
  hand.send(t.in, Join{});
  t.run(2);
  CHECK(t.host->status().clients == 1);
  Hand liar{peer(1)};
  liar.send(t.in, Hello{protocol_version, 666, "eve", ""});
  t.run();
  CHECK(t.drops(DropReason::wrong_state) == 1);
  CHECK(t.host->status().clients == 1);
}

TEST_CASE("who falls silent is sent away, and so is who never joins", "[server][host]") {
  Table t;
  Hand a{peer(1)}, b{peer(2)};
  t.enter(a, "ann", 1);
  b.send(t.in, Hello{protocol_version, 2, "bob", ""});
  t.run(60 * 6);
  t.run(60 * 5);
  CHECK(t.host->status().clients == 0);
  REQUIRE(t.goodbye);
  CHECK(t.goodbye->reason == GoodbyeReason::timeout);
  CHECK(t.host->world().player_count() == 0);
}

TEST_CASE("chat reaches everyone once it is numbered in turn, and is repeated until it is seen",
          "[server][host]") {
  Table t;
  Hand a{peer(1)}, b{peer(2)};
  t.enter(a, "ann", 1);
  t.enter(b, "bob", 2);
  a.send(t.in, Chat{1, "hello"});
  a.send(t.in, Chat{1, "hello"});  // the repeat of a client that saw no answer
  a.send(t.in, Chat{3, "from the future"});
  t.run(60);
  int hellos = 0, futures = 0;
  std::uint32_t highest = 0;
  for (const ChatLine& line : t.lines) {
    hellos += line.from == "ann" && line.text == "hello";
    futures += line.text == "from the future";
    highest = std::max(highest, line.number);
  }
  CHECK(hellos >= 4);  // two clients, at least two repeats within a second
  CHECK(futures == 0);

  for (Hand* hand : {&a, &b}) {
    Input input = walking(t.snapshot_tick + 1);
    input.chat_seen = highest;
    hand->send(t.in, input);
  }
  t.run(2);
  t.lines.clear();
  t.run(60);
  CHECK(t.lines.empty());
}

TEST_CASE("garbage, strangers, replays and floods are counted by reason and change nothing",
          "[server][host]") {
  Table t;
  Hand hand{peer(1)};
  t.enter(hand);
  const std::vector<std::uint8_t> junk(40, 0xee);
  t.in.add(peer(1), junk);
  Hand stranger{peer(9)};
  stranger.connection = 0x12340000u;
  stranger.send(t.in, walking(5));
  Hand thief{peer(9)};
  thief.connection = hand.connection;
  thief.sequence = 500;
  thief.send(t.in, Leave{});
  hand.sequence = 0;
  hand.send(t.in, walking(t.snapshot_tick + 2));  // a sequence that was seen before
  t.run();
  CHECK(t.drops(DropReason::wrong_version) == 1);
  CHECK(t.drops(DropReason::unknown_connection) == 1);
  CHECK(t.drops(DropReason::wrong_address) == 1);
  CHECK(t.drops(DropReason::duplicate) == 1);
  CHECK(t.host->status().clients == 1);

  hand.sequence = 100;
  for (int i = 0; i < 1000; ++i) hand.send(t.in, walking(t.snapshot_tick + 2));
  t.run();
  CHECK(t.drops(DropReason::rate_limited) > 800);
  CHECK(t.host->status().clients == 1);
}

TEST_CASE("the end of a server is told to everyone, and nothing follows", "[server][host]") {
  Table t;
  Hand hand{peer(1)};
  t.enter(hand);
  t.out.clear();
  t.host->shut_down("maintenance", t.out);
  REQUIRE(t.out.entries().size() == 1);
  const auto packet = decode_packet(t.out.bytes(t.out.entries()[0]));
  REQUIRE(packet);
  const auto message = decode_server_message(packet->payload);
  REQUIRE(message);
  REQUIRE(std::holds_alternative<Goodbye>(*message));
  CHECK(std::get<Goodbye>(*message).text == "maintenance");
  hand.send(t.in, walking(100));
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
  Host host(config, std::make_unique<World>(setup), SecretKey{1, 0});
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
  Host host(config, std::make_unique<World>(setup), SecretKey{99, 7});
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

TEST_CASE("a closed TCP connection ends its session at once", "[server][host]") {
  Table t;
  Hand hand{peer(1)};
  hand.at.transport = Transport::tcp;
  hand.at.link = 3;
  t.enter(hand);
  t.in.add_closed(hand.at);
  t.run(2);
  CHECK(t.host->status().clients == 0);
  CHECK(t.host->world().player_count() == 0);
}

TEST_CASE("no-clip is granted by name, enters the tick and is taken back", "[server][host]") {
  Table table;
  Hand ann{peer(1)};
  table.enter(ann);
  CHECK(table.host->set_noclip("bob", true) == 0);
  const double height_m = table.own->body.position_m.z;
  const auto rise = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      Input input;
      input.newest_tick = table.snapshot_tick + 2;
      input.command_count = 1;
      input.commands[0].buttons = button::jump;
      ann.send(table.in, input);
      table.run();
    }
  };
  CHECK(table.host->set_noclip("ann", true) == 1);
  rise(60);
  CHECK(table.own->body.noclip == 1);
  CHECK(table.own->body.position_m.z > height_m + 8);  // nobody jumps that high
  CHECK(table.host->set_noclip("ann", false) == 1);
  table.run(2);
  CHECK(table.own->body.noclip == 0);
}

TEST_CASE("a kicked player leaves the world in the tick's input and hears why, until it is silent",
          "[server][host]") {
  Table table;
  Leaves leaves;
  table.host->set_sink(&leaves);
  Hand ann{peer(1)};
  table.enter(ann);
  CHECK(table.host->kick("bob", "be kind") == 0);
  CHECK(table.host->kick("ann", "be kind") == 1);
  table.run();
  REQUIRE(table.goodbye);
  CHECK(table.goodbye->reason == GoodbyeReason::kicked);
  CHECK(table.goodbye->text == "be kind");
  CHECK(table.events.back().kind == HostEventKind::left);
  CHECK(table.events.back().detail == "kicked: be kind");
  table.run();
  CHECK(leaves.count == 1);
  CHECK(table.host->world().player_count() == 0);
  CHECK(table.host->players().empty());

  // Its goodbye was lost: it plays on and is told again.
  table.goodbye.reset();
  Input input;
  input.command_count = 1;
  ann.send(table.in, input);
  table.run();
  REQUIRE(table.goodbye);
  CHECK(table.goodbye->text == "be kind");
  table.goodbye.reset();
  table.run(70);
  CHECK_FALSE(table.goodbye);
  HostAudit books;
  table.host->audit(books);
  CHECK(books.sessions.empty());
  CHECK(books.hosts == 0);
}

TEST_CASE("a kicked player's TCP connection is closed behind its goodbye", "[server][host]") {
  Table table;
  Hand ann{peer(1)};
  ann.at.transport = Transport::tcp;
  ann.at.link = 3;
  table.enter(ann);
  CHECK(table.host->kick("ann", "be kind") == 1);
  table.run();
  REQUIRE(table.goodbye);
  REQUIRE(table.out.closed().size() == 1);
  CHECK(table.out.closed()[0] == ann.at);
  HostAudit books;
  table.host->audit(books);
  CHECK(books.sessions.empty());
}

TEST_CASE("what the operator says reaches everybody as the server's chat", "[server][host]") {
  Table table;
  Hand ann{peer(1)};
  Hand bob{peer(2)};
  table.enter(ann, "ann", 5);
  table.enter(bob, "bob", 6);
  CHECK(table.host->players().size() == 2);
  table.run(20);
  table.lines.clear();
  table.host->say("restart at noon");
  table.run(20);
  const auto said = [](const ChatLine& line) { return line.from.empty() && line.text == "restart at noon"; };
  CHECK(std::ranges::count_if(table.lines, said) >= 2);
}

TEST_CASE("an IPv6 address counts by its /64, so that who has one takes no more places than others",
          "[server][host]") {
  Table table;
  const auto household = [](std::uint8_t network, std::uint8_t host) {
    PeerAddress a;
    a.ip = {0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host};
    a.port = 4000;
    return a;
  };
  for (const std::uint8_t host : {std::uint8_t{1}, std::uint8_t{2}}) {
    Hand hand{household(1, host)};
    table.enter(hand, "ann", host);
  }
  Hand third{household(1, 3)};
  third.send(table.in, Hello{protocol_version, 9, "ann", "test"});
  table.run();
  REQUIRE(table.refuse);
  CHECK(table.refuse->reason == RefuseReason::too_many_from_address);
  Hand other{household(2, 1)};
  table.enter(other, "bob", 10);
}

TEST_CASE("an operator sees how long a player is here, its ping and its losses", "[server][host]") {
  Table table;
  Hand ann{peer(1)};
  const Micros before = table.now;
  table.enter(ann);
  const auto send = [&](std::uint32_t ack) {
    PacketHeader header;
    header.connection = ann.connection;
    header.sequence = ++ann.sequence;
    header.ack = ack;
    table.in.add(ann.at, ann.writer.write(header, Join{}));
  };
  send(1);  // of the first answer, some ticks later
  table.run(6);
  PlayerInfo info = table.host->players().at(0);
  CHECK(info.joined_at >= before);
  CHECK(info.joined_at <= table.now);
  CHECK(info.rtt > Micros{0});
  CHECK(info.loss_in == 0);
  CHECK(info.loss_out == 0);
  ann.sequence += 4;  // lost on the way
  send(4);            // without 2 and 3
  table.run();
  info = table.host->players().at(0);
  CHECK(info.loss_in == Approx(4.0 / static_cast<double>(ann.sequence)));
  CHECK(info.loss_out == Approx(0.5));
}

TEST_CASE("who lacks a prop is told which, and who holds it comes in", "[server][host]") {
  PropModel model;
  model.name = "wedge.obj";
  model.vertices = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  model.triangles = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  const PropPlace place{{500, 500, 40}, Turn16{77}, 0.5};
  const auto prop = Prop::place(model, place);
  REQUIRE(prop);
  Table table(3, {*prop});
  Hand ann{peer(1)};
  ann.send(table.in, Hello{protocol_version, 5, "ann", "test"});
  table.run();
  REQUIRE(table.welcome);
  REQUIRE(table.welcome->props.size() == 1);
  CHECK(table.welcome->props[0].name == "wedge.obj");
  CHECK(table.welcome->props[0].place == place);
  CHECK(table.welcome->props[0].content_hash == (*prop)->content_hash());
  ann.connection = table.welcome->connection;
  ann.send(table.in, Join{});
  table.run();
  REQUIRE(table.refuse);
  CHECK(table.refuse->reason == RefuseReason::content);
  CHECK_THAT(table.refuse->text, ContainsSubstring("wedge.obj") && ContainsSubstring("--prop"));

  Hand bob{peer(2)};
  bob.send(table.in, Hello{protocol_version, 6, "bob", "test"});
  table.run();
  bob.connection = table.welcome->connection;
  Join join;
  join.content[0] = (*prop)->content_hash();
  join.content_count = 1;
  bob.send(table.in, join);
  table.run(2);
  CHECK(table.own);
}
