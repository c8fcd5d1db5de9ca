#include "client_sim/client/client.h"

#include "protocol/chat.h"
#include "tests/catch.h"
#include "tests/client_sim/client/client_match.h"

using namespace ashlar;
using namespace ashlar::client_sim;
using namespace ashlar::client_sim::match_test;

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
