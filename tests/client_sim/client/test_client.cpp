#include "client_sim/client/client.h"

#include "client_sim/harness/link.h"
#include "protocol/chat.h"
#include "tests/catch.h"
#include "tests/client_sim/fake_server.h"

using namespace ashlar;
using namespace ashlar::client_sim;
using test::FakeServer;

namespace {

PeerAddress server_address() {
  PeerAddress a;
  a.port = 7777;
  return a;
}

ClientConfig config_named(const char* player_name) {
  ClientConfig config;
  config.server = server_address();
  config.name = player_name;
  config.nonce = 1234;
  return config;
}

/// Client and server with a link each way, in simulated time.
struct Match {
  FakeServer server;
  Client client;
  Link up, down;
  Micros now{1000};
  DatagramBatch to_server, to_client, from_server, from_client;

  explicit Match(ClientConfig config = config_named("Ada"), std::uint64_t seed = 1)
      : client(std::move(config)), up({}, seed), down({}, seed + 1000) {}

  void conditions(const LinkConditions& c) {
    up.set_conditions(c);
    down.set_conditions(c);
  }

  Micros leapt{0};  // the client's clock is ahead by so much

  void step(Micros dt) {
    now += dt;
    to_client.clear();
    down.deliver(now, to_client);
    from_client.clear();
    client.advance(now + leapt, to_client, from_client);
    up.send(now, from_client);
    to_server.clear();
    up.deliver(now, to_server);
    from_server.clear();
    server.advance(now, to_server, from_server);
    down.send(now, from_server);
  }

  void run(double seconds, Micros dt = Micros{2000}) {
    const Micros until = now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (now < until) step(dt);
  }
};

}  // namespace

TEST_CASE("a client joins, plays and leaves", "[client_sim][client]") {
  Match match;
  CHECK(match.client.state() == ClientState::connecting);
  match.run(2);
  REQUIRE(match.client.state() == ClientState::playing);
  CHECK(match.server.hellos == 1);
  CHECK(match.server.joins == 1);
  CHECK(match.server.drops.empty());
  CHECK(match.client.player() == make_entity_id(1, 1));
  PlayerCommand command;
  command.forward = 1;
  match.client.set_command(command);
  match.run(2);
  REQUIRE(match.client.own().has_value());
  CHECK(match.client.own()->body.position_m.x == Approx(12).margin(0.5));
  CHECK(match.client.stats().snapshots > 220);
  CHECK(match.client.stats().snapshots_complete == match.client.stats().snapshots);
  CHECK(match.client.stats().starved == 0);
  match.client.leave();
  match.run(1);
  CHECK(match.client.state() == ClientState::left);
  CHECK(match.server.leaves == 3);
  const auto packets = match.client.stats().packets_out;
  match.run(1);
  CHECK(match.client.stats().packets_out == packets);
}

TEST_CASE("every tick's command arrives in time over a steady link", "[client_sim][client]") {
  const int rate = GENERATE(10, 30, 60, 128);
  const int delay_ms = GENERATE(0, 20, 150);
  CAPTURE(rate, delay_ms);
  Match match;
  match.server.rate_hz = static_cast<std::uint16_t>(rate);
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  match.run(6);  // to settle
  REQUIRE(match.client.state() == ClientState::playing);
  match.server.missing = match.server.applied = 0;
  match.server.ahead_max = -127;
  match.server.ahead_min = 127;
  match.run(10);
  CHECK(match.server.missing == 0);
  CHECK(match.server.applied >= static_cast<std::uint64_t>(rate) * 10 - 2);
  CHECK(match.server.ahead_min >= 0);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("every tick's command arrives in time however rare snapshots are", "[client_sim][client]") {
  const int rate = GENERATE(10, 60, 128);
  const int every = GENERATE(2, 10, 47, 60);
  const int delay_ms = GENERATE(0, 20, 150);
  if (every > rate) return;
  CAPTURE(rate, every, delay_ms);
  Match match;
  match.server.rate_hz = static_cast<std::uint16_t>(rate);
  match.server.snapshot_every = static_cast<std::uint16_t>(every);
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  match.run(40);  // to settle: what it goes by comes that rarely
  REQUIRE(match.client.state() == ClientState::playing);
  match.server.missing = match.server.applied = match.server.early = 0;
  match.server.ahead_max = -127;
  match.server.ahead_min = 127;
  match.run(20);
  CHECK(match.server.missing == 0);
  CHECK(match.server.early == 0);
  CHECK(match.server.ahead_min >= 0);
  CHECK(match.server.ahead_max <= 8);
}

TEST_CASE("under loss, jitter, doubling and reordering nearly every command arrives",
          "[client_sim][client]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Match match(config_named("Ada"), seed);
  LinkConditions conditions;
  conditions.latency = Micros{30'000};
  conditions.jitter = Micros{30'000};
  conditions.loss = 0.1;
  conditions.duplication = 0.05;
  conditions.reordering = 0.05;
  match.conditions(conditions);
  match.run(8);
  REQUIRE(match.client.state() == ClientState::playing);
  match.server.missing = match.server.applied = 0;
  match.run(20);
  CHECK(match.server.missing < 60);
  CHECK(match.server.applied > 1100);
  CHECK(match.client.stats().starved == 0);
  CHECK(match.client.stats().drops[static_cast<std::size_t>(DropReason::duplicate)] > 0);
  CHECK(match.client.rtt() > Micros{60'000});
  CHECK(match.client.rtt() < Micros{140'000});
  // Nothing is applied twice or out of order.
  for (std::size_t i = 1; i < match.server.applied_ticks.size(); ++i)
    REQUIRE(match.server.applied_ticks[i - 1] < match.server.applied_ticks[i]);
}

TEST_CASE("corrupted datagrams are counted and change nothing", "[client_sim][client]") {
  Match match;
  LinkConditions conditions;
  conditions.corruption = 0.3;
  match.down.set_conditions(conditions);
  match.run(20);
  CHECK(match.client.state() == ClientState::playing);
  std::uint64_t drops = 0;
  for (const std::uint64_t d : match.client.stats().drops) drops += d;
  CHECK(drops > 50);
  // Cut ends and another version byte have names of their own.
  CHECK(10 * match.client.stats().drops[static_cast<std::size_t>(DropReason::corrupt)] > 9 * drops);
  CHECK(match.client.stats().starved == 0);
}

TEST_CASE("the handshake gets through a link that loses half", "[client_sim][client]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  CAPTURE(seed);
  Match match(config_named("Ada"), seed);
  LinkConditions conditions;
  conditions.loss = 0.5;
  match.conditions(conditions);
  match.run(9);
  CHECK(match.client.state() == ClientState::playing);
}

TEST_CASE("a client catches up after a stall of its caller", "[client_sim][client]") {
  Match match;
  match.run(3);
  for (int i = 0; i < 5; ++i) {
    match.step(Micros{400'000});  // neither side ran
    match.run(1);
  }
  match.run(3);
  match.server.missing = 0;
  match.run(3);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.missing == 0);
  CHECK(match.client.stats().commands_skipped > 0);
}

TEST_CASE("a client that was away for long hears the server again", "[client_sim][client]") {
  // What its socket had room for are the snapshots of the first seconds: the ones after them were lost.
  const double away_s = GENERATE(4.0, 8.5, 9.5);
  const std::uint32_t room = GENERATE(1u, 64u, 256u);
  CAPTURE(away_s, room);
  Match match;
  match.run(3);
  const Micros back = match.now + Micros{static_cast<std::int64_t>(away_s * 1e6)};
  while (match.now < back) {
    match.now += Micros{2000};
    match.to_server.clear();
    match.up.deliver(match.now, match.to_server);
    match.from_server.clear();
    match.server.advance(match.now, match.to_server, match.from_server);
    if (match.down.under_way() < room) match.down.send(match.now, match.from_server);
  }
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.own_tick() + 5 > match.server.tick);
  match.server.missing = 0;
  match.run(1);
  CHECK(match.server.missing == 0);
}

TEST_CASE("a client that did not listen was not starved by the server", "[client_sim][client]") {
  Match match;
  match.run(2);
  // As when the whole machine stands still: no time passes for the server either.
  match.now += Micros{3'000'000};
  match.down.partition(match.now + Micros{300'000});
  match.run(0.5);
  CHECK(match.client.stats().starved == 0);
  match.down.partition(match.now + Micros{1'100'000});
  match.run(1.5);
  CHECK(match.client.stats().starved == 1);
}

TEST_CASE("a client whose clock leaps ahead keeps its control", "[client_sim][client]") {
  const int leap_ms = GENERATE(30, 100, 200, 300, 1000, 5000, 100'000);
  const int delay_ms = GENERATE(0, 60);
  CAPTURE(leap_ms, delay_ms);
  Match match;
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  match.run(4);
  match.server.missing = 0;
  match.leapt = Micros{leap_ms * 1000};
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.rtt() < Micros{2 * delay_ms * 1000 + 40'000});
  CHECK(match.server.missing == 0);
  CHECK(match.server.early == 0);
  match.server.ahead_max = -127;
  match.run(2);
  CHECK(match.server.missing == 0);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("a client follows a server that slows down, and goes on telling it so", "[client_sim][client]") {
  const int slower = GENERATE(2, 6, 20);
  CAPTURE(slower);
  Match match;
  match.run(4);
  match.server.missing = 0;
  match.server.slower = slower;
  match.run(0.3 * slower);
  const std::uint64_t inputs = match.server.inputs;
  match.run(10);
  match.server.ahead_max = -127;
  match.run(10);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.early == 0);
  CHECK(match.server.missing < 10);
  CHECK(match.server.ahead_max <= 10);
  CHECK(match.server.inputs - inputs > 180);  // each a sign of life
  match.server.slower = 1;
  match.run(1);
  match.server.missing = 0;
  match.run(2);
  match.server.ahead_max = -127;
  match.run(2);
  CHECK(match.server.missing == 0);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("control is back soon after a server stood still", "[client_sim][client]") {
  const double frozen_s = GENERATE(0.1, 0.4, 2.0, 4.0);
  const int delay_ms = GENERATE(0, 60);
  CAPTURE(frozen_s, delay_ms);
  Match match;
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  match.run(4);
  match.server.missing = 0;
  match.server.frozen = true;
  match.run(frozen_s);
  match.server.frozen = false;
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.early == 0);
  CHECK(match.server.missing < 20);
  match.server.missing = 0;
  match.server.ahead_max = -127;
  match.run(2);
  CHECK(match.server.missing == 0);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("a client whose hello waited for seconds is in control at once", "[client_sim][client]") {
  Match match;
  LinkConditions conditions;
  conditions.latency = Micros{20'000};
  conditions.ordered = true;  // as over TCP: what is sent waits for the line
  match.conditions(conditions);
  match.up.partition(Micros{4'000'000});
  match.down.partition(Micros{4'000'000});
  match.run(5.5);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.early == 0);
  match.server.missing = match.server.applied = 0;
  match.run(1);
  CHECK(match.server.missing == 0);
  CHECK(match.server.applied >= 59);
}

TEST_CASE("control is back soon after a link was cut", "[client_sim][client]") {
  const bool cut_up = GENERATE(true, false), cut_down = GENERATE(true, false);
  const double cut_s = GENERATE(0.2, 1.0, 4.0);
  const int delay_ms = GENERATE(30, 200);
  const bool stream = GENERATE(false, true);  // over TCP everything waits, and comes at once
  CAPTURE(cut_up, cut_down, cut_s, delay_ms, stream);
  Match match;
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  conditions.ordered = stream;
  match.conditions(conditions);
  match.run(4);
  const Micros until = match.now + Micros{static_cast<std::int64_t>(cut_s * 1e6)};
  if (cut_up) match.up.partition(until);
  if (cut_down) match.down.partition(until);
  match.run(cut_s + 0.5 + 0.004 * delay_ms);
  match.server.missing = 0;
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.missing < 5);
  CHECK(match.server.early == 0);
  match.run(1);
  match.server.ahead_max = -127;
  match.run(2);
  CHECK(match.server.ahead_max <= 6);
}

TEST_CASE("a refusal ends the attempt with the server's words", "[client_sim][client]") {
  Match match;
  match.server.refuse = RefuseReason::full;
  match.run(1);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.refuse_reason() == RefuseReason::full);
  CHECK(match.client.reason() == "no: try again tomorrow");
}

TEST_CASE("a refusal for somebody else's hello is ignored", "[client_sim][client]") {
  Match match;
  MessageWriter writer;
  DatagramBatch forged;
  forged.add(server_address(), writer.write({.connection = 0, .sequence = 1, .ack = 0, .ack_bits = 0},
                                            Refuse{999, RefuseReason::banned, ""}));
  DatagramBatch out;
  match.client.advance(match.now, forged, out);
  CHECK(match.client.state() == ClientState::connecting);
  CHECK(match.client.stats().drops[static_cast<std::size_t>(DropReason::wrong_state)] == 1);
  Welcome welcome;
  welcome.nonce = 999;
  welcome.connection = 7;
  forged.clear();
  forged.add(server_address(),
             writer.write({.connection = 7, .sequence = 1, .ack = 0, .ack_bits = 0}, welcome));
  match.client.advance(match.now, forged, out);
  CHECK_FALSE(match.client.welcomed());
}

TEST_CASE("a snapshot from far in the future is not believed", "[client_sim][client]") {
  Match match;
  match.run(2);
  const std::uint32_t tick = match.client.view().newest_tick();
  SnapshotHead head;
  head.tick = tick + 100'000;
  SnapshotWriter writer;
  writer.begin(head, {}, {}, 1);
  DatagramBatch forged, out;
  forged.add(
      server_address(),
      test::packet_of(writer, 0, {.connection = FakeServer::connection_id, .sequence = 100'000}).span());
  match.client.advance(match.now, forged, out);
  CHECK(match.client.view().newest_tick() == tick);
  CHECK(match.client.stats().drops[static_cast<std::size_t>(DropReason::out_of_range)] == 1);
}

TEST_CASE("a client without the server's map is refused with its name", "[client_sim][client]") {
  Match match;
  match.server.maps.push_back({"MAP01", 42, {0, 0}, 10, 0});
  match.run(1);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.refuse_reason() == RefuseReason::content);
  CHECK_THAT(match.client.reason(), ContainsSubstring("MAP01"));
  REQUIRE(match.client.missing_maps().size() == 1);
  CHECK(match.client.missing_maps()[0] == "MAP01");
}

TEST_CASE("a client with the server's map joins, and one with another content does not",
          "[client_sim][client]") {
  const std::uint64_t mine = GENERATE(42u, 43u);
  ClientConfig config = config_named("Ada");
  config.content = [mine](const WelcomeMap&) { return std::optional<std::uint64_t>{mine}; };
  Match match(std::move(config));
  match.server.maps.push_back({"MAP01", 42, {0, 0}, 10, 0});
  match.run(1);
  CHECK(match.client.state() == (mine == 42 ? ClientState::playing : ClientState::refused));
}

TEST_CASE("no answer, silence and a closed connection end in lost", "[client_sim][client]") {
  SECTION("no answer") {
    Match match;
    match.server.silent = true;
    match.run(9);
    CHECK(match.client.state() == ClientState::connecting);
    CHECK(match.client.stats().packets_out == 18);
    match.run(2);
    CHECK(match.client.state() == ClientState::lost);
    CHECK_THAT(match.client.reason(), ContainsSubstring("no answer"));
  }
  SECTION("silence") {
    Match match;
    match.run(2);
    match.down.partition(match.now + Micros{60'000'000});
    match.run(4);
    CHECK(match.client.state() == ClientState::playing);
    CHECK(match.client.stats().starved == 1);
    CHECK(match.client.stats().longest_gap > Micros{3'900'000});
    match.run(2);
    CHECK(match.client.state() == ClientState::lost);
    CHECK_THAT(match.client.reason(), ContainsSubstring("silent"));
  }
  SECTION("closed") {
    Match match;
    match.run(2);
    DatagramBatch in, out;
    in.add_closed(server_address());
    match.client.advance(match.now, in, out);
    CHECK(match.client.state() == ClientState::lost);
    CHECK_THAT(match.client.reason(), ContainsSubstring("closed"));
  }
  SECTION("sent away") {
    Match match;
    match.run(2);
    match.server.goodbye = "play nicely";
    match.run(1);
    CHECK(match.client.state() == ClientState::lost);
    CHECK_THAT(match.client.reason(), ContainsSubstring("play nicely"));
  }
}

TEST_CASE("a gap of a second is counted once and the longest is kept", "[client_sim][client]") {
  Match match;
  match.run(2);
  for (int i = 0; i < 2; ++i) {
    match.server.mute_snapshots = true;
    match.run(1.5);
    match.server.mute_snapshots = false;
    match.run(1);
  }
  match.server.mute_snapshots = true;
  match.run(0.5);
  match.server.mute_snapshots = false;
  match.run(0.5);
  CHECK(match.client.stats().starved == 2);
  CHECK(match.client.stats().longest_gap >= Micros{1'500'000});
  CHECK(match.client.stats().longest_gap < Micros{1'600'000});
}

TEST_CASE("lines that the server had to give up are passed over, the others are heard",
          "[client_sim][client]") {
  Match match(config_named("Ada"), 4);
  match.run(2);
  // The first 24 were given up while nobody listened; those the server still has come after them.
  for (std::uint32_t i = 25; i < 25 + chat_lines_waiting_max; ++i)
    match.server.lines_to_send.push_back({i, "Bob", "line " + std::to_string(i)});
  match.run(3);
  const std::vector<ChatLine> heard = match.client.take_chat();
  REQUIRE(heard.size() == chat_lines_waiting_max);
  for (std::uint32_t i = 0; i < heard.size(); ++i) CHECK(heard[i].number == 25 + i);
}

TEST_CASE("who fell behind hears again while the server gives up lines as fast as it repeats them",
          "[client_sim][client]") {
  Match match(config_named("Ada"), 4);
  match.run(2);
  std::uint32_t newest = 100;
  for (int round = 0; round < 40; ++round, newest += 2) {
    match.server.lines_to_send.clear();
    for (std::uint32_t i = newest + 1 - chat_lines_waiting_max; i <= newest; ++i)
      match.server.lines_to_send.push_back({i, "Bob", "line " + std::to_string(i)});
    match.run(0.1);
  }
  match.run(1);
  const std::vector<ChatLine> heard = match.client.take_chat();
  REQUIRE(heard.size() > 1);
  for (std::size_t i = 1; i < heard.size(); ++i) CHECK(heard[i].number == heard[i - 1].number + 1);
  CHECK(heard.back().number == newest - 2);
}

TEST_CASE("chat arrives once and in order both ways over a bad link", "[client_sim][client]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Match match(config_named("Ada"), seed);
  LinkConditions conditions;
  conditions.latency = Micros{20'000};
  conditions.jitter = Micros{50'000};
  conditions.loss = 0.3;
  conditions.duplication = 0.2;
  match.conditions(conditions);
  match.run(3);
  std::vector<std::string> said, heard;
  for (std::uint32_t i = 1; i <= 8; ++i) {
    said.push_back("line " + std::to_string(i));
    CHECK(match.client.say(said.back()));
    match.server.lines_to_send.push_back({i, "Bob", "answer " + std::to_string(i)});
  }
  CHECK_FALSE(match.client.say("one too many"));
  CHECK_FALSE(match.client.say("\xff"));
  match.run(10);
  for (const ChatLine& line : match.client.take_chat()) heard.push_back(line.from + " " + line.text);
  CHECK(match.server.chat == said);
  REQUIRE(heard.size() == 8);
  for (std::size_t i = 0; i < 8; ++i) CHECK(heard[i] == "Bob answer " + std::to_string(i + 1));
  CHECK(match.client.take_chat().empty());
  CHECK(match.client.say("room again"));
}

TEST_CASE("the same seed gives the same bytes", "[client_sim][client]") {
  const auto play = [] {
    Match match(config_named("Ada"), 7);
    LinkConditions conditions;
    conditions.latency = Micros{10'000};
    conditions.jitter = Micros{20'000};
    conditions.loss = 0.2;
    match.conditions(conditions);
    match.run(5);
    const ClientStats& s = match.client.stats();
    return std::tuple{s.packets_in, s.packets_out, s.bytes_in,
                      s.bytes_out,  s.snapshots,   match.server.applied};
  };
  CHECK(play() == play());
}

TEST_CASE("a client with an unusable name says so before it sends anything", "[client_sim][client]") {
  Match match(config_named(" "));
  match.run(1);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.refuse_reason() == RefuseReason::bad_name);
  CHECK(match.server.hellos == 0);
}

TEST_CASE("only who knows a client's nonce can tell it of another version", "[client_sim][client]") {
  Match match;
  match.server.silent = true;
  match.run(0.1);
  std::vector<std::uint8_t> other(datagram_bytes_max, 0);
  other[0] = 9;
  DatagramBatch in, out;
  in.add(server_address(), other);
  in.add(server_address(), std::span(other).first(1));
  match.client.advance(match.now, in, out);
  CHECK(match.client.state() == ClientState::connecting);
  other[16] = 1234 & 0xff, other[17] = 1234 >> 8;
  in.clear();
  in.add(server_address(), other);
  match.client.advance(match.now, in, out);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.refuse_reason() == RefuseReason::version);
}

TEST_CASE("a made-up word of an unknown connection changes nothing while the server goes on answering",
          "[client_sim][client]") {
  Match match;
  match.run(1);
  REQUIRE(match.client.state() == ClientState::playing);
  const std::uint32_t hellos = match.server.hellos;
  const std::uint64_t missing = match.server.missing;
  for (int i = 0; i < 400; ++i) {
    DatagramBatch in, out;
    PacketHeader question;
    question.connection = FakeServer::connection_id;
    question.sequence = match.client.stats().packets_out - static_cast<std::uint64_t>(i % 3);
    in.add(server_address(), unknown_connection_packet(question));
    match.client.advance(match.now, in, out);
    match.up.send(match.now, out);
    match.run(0.005);
  }
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().rejoins == 0);
  CHECK(match.client.stats().starved == 0);
  CHECK(match.server.missing == missing);
  CHECK(match.server.hellos - hellos <= 5);  // two seconds, one each half
  // Not even a hello: another connection, and what was never sent.
  match.run(1);
  const std::uint32_t asked = match.server.hellos;
  DatagramBatch in, out;
  in.add(server_address(), unknown_connection_packet({.connection = 5, .sequence = 3}));
  in.add(server_address(), unknown_connection_packet({.connection = FakeServer::connection_id,
                                                      .sequence = match.client.stats().packets_out + 50}));
  match.client.advance(match.now, in, out);
  match.run(1);
  CHECK(match.server.hellos == asked);
}
