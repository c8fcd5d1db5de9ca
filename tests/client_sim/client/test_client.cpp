#include "client_sim/client/client.h"

#include "protocol/chunk_codec.h"
#include "protocol/little_endian.h"
#include "protocol/version.h"
#include "tests/catch.h"
#include "tests/client_sim/client/client_match.h"
#include "world/voxel/chunk.h"
#include "world/voxel/terrain.h"

using namespace ashlar;
using namespace ashlar::client_sim;
using namespace ashlar::client_sim::match_test;

TEST_CASE("a client joins, plays and leaves", "[client_sim][client]") {
  ClientMatch match;
  CHECK(match.client.state() == ClientState::connecting);
  match.run(2);
  REQUIRE(match.client.state() == ClientState::playing);
  CHECK(match.server.hellos == 1);
  CHECK(match.server.joins == 1);
  CHECK(match.server.drops.empty());
  CHECK(match.server.name_said == "Ada");
  CHECK(match.server.client_key == match.client.identity());
  CHECK(match.client.server_key() == match.server.key());
  CHECK(match.client.session() == match.server.connection()->id());
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
  CHECK(match.server.left == close_reason(SessionEnd::quit));
  const auto packets = match.client.stats().packets_out;
  match.run(1);
  CHECK(match.client.stats().packets_out == packets);
}

TEST_CASE("snapshots that newer ones overtake are counted, each once", "[client_sim][client]") {
  ClientMatch match;
  match.run(2);
  REQUIRE(match.client.stats().snapshots_overtaken == 0);
  const std::uint64_t before = match.client.stats().snapshots;
  LinkConditions conditions;
  conditions.jitter = std::chrono::milliseconds(60);
  conditions.duplication = 0.3;
  match.down.set_conditions(conditions);
  match.run(10);
  const ClientStats& stats = match.client.stats();
  CHECK(stats.snapshots_overtaken > 100);
  CHECK(stats.snapshots - before + stats.snapshots_overtaken == Approx(600).margin(10));
}

TEST_CASE("corrupted datagrams are counted and change nothing", "[client_sim][client]") {
  ClientMatch match;
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
  ClientMatch match(config_named("Ada"), seed);
  LinkConditions conditions;
  conditions.loss = 0.5;
  match.conditions(conditions);
  match.run(9);
  CHECK(match.client.state() == ClientState::playing);
}

TEST_CASE("a refusal ends the attempt with the server's words", "[client_sim][client]") {
  ClientMatch match;
  match.server.refuse = SessionEnd::full;
  match.run(1);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.end_reason() == SessionEnd::full);
  CHECK(match.client.reason() == "no: try again tomorrow");
  CHECK_FALSE(match.client.broken_off());
}

TEST_CASE("a refusal that was lost is said again", "[client_sim][client]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  ClientMatch match(config_named("Ada"), seed);
  LinkConditions conditions;
  conditions.loss = 0.5;
  match.conditions(conditions);
  match.server.refuse = SessionEnd::banned;
  match.run(9.5);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.end_reason() == SessionEnd::banned);
}

TEST_CASE("what anybody can send changes nothing", "[client_sim][client]") {
  ClientMatch match;
  match.server.silent = GENERATE(true, false);
  match.run(0.5);
  const ClientState before = match.client.state();
  const std::uint32_t session = match.client.session();
  Rng rng{5};
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::uint8_t> bytes(rng.below(datagram_bytes_max + 1));
    for (std::uint8_t& b : bytes) b = static_cast<std::uint8_t>(rng.next_u32());
    // Half of them look right at first sight.
    if (bytes.size() > 6 && rng.below(2) == 0) {
      bytes[0] = protocol_version;
      bytes[1] = static_cast<std::uint8_t>(rng.below(10));
      if (rng.below(2) == 0) put_little(&bytes[2], session);
    }
    DatagramBatch in, out;
    in.add(server_address(), bytes);
    match.client.advance(match.now, in, out);
    match.up.send(match.now, out);
    if (i % 8 == 0) match.step(Micros{2000});
  }
  CHECK(match.client.state() == before);
  CHECK(match.client.session() == session);
  CHECK_FALSE(match.client.resuming());
  CHECK(match.client.stats().rejoins + match.client.stats().resumes == 0);
  match.server.silent = false;
  match.run(3);
  CHECK(match.client.state() == ClientState::playing);
}

TEST_CASE("a snapshot from far in the future is not believed", "[client_sim][client]") {
  ClientMatch match;
  match.run(2);
  match.server.tick += 100'000;
  const std::uint32_t tick = match.client.view().newest_tick();
  match.run(0.1);
  CHECK(match.client.view().newest_tick() == tick);
  CHECK(match.client.stats().drops[static_cast<std::size_t>(DropReason::out_of_range)] > 1);
}

TEST_CASE("of more signs and timers than a client keeps the farthest are forgotten", "[client_sim][client]") {
  ClientMatch match;
  match.run(1);
  REQUIRE(match.client.state() == ClientState::playing);
  MessageWriter writer;
  HeldByBlock held{.tick = 100, .world = match.server.world, .open = false, .block = {}, .data = {}};
  held.data.text = SignText::of("to the mine");
  held.data.due = 1'000'000;
  const auto tell = [&](std::int32_t x) {
    held.block = {x, 5, 40};
    while (match.server.connection()->send(StreamId::edits, writer.write(held)) != SendResult::sent)
      match.run(0.02);
  };
  constexpr std::int32_t most = 4096;
  for (std::int32_t x = 0; x < most + 10; ++x) tell(x);
  match.run(1);
  CHECK(match.client.sign_text({most + 9, 5, 40}) == "to the mine");
  CHECK(match.client.timer_ticks({most + 9, 5, 40}).has_value());
  CHECK(match.client.sign_text({9, 5, 40}).empty());
  CHECK_FALSE(match.client.timer_ticks({9, 5, 40}).has_value());
  CHECK(match.client.sign_text({10, 5, 40}) == "to the mine");
}

TEST_CASE("a client without the server's map goes, and names it", "[client_sim][client]") {
  ClientMatch match;
  match.server.maps.push_back({"MAP01", 42, {0, 0}, 10, 0});
  match.run(2);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.end_reason() == SessionEnd::lacks_content);
  CHECK_THAT(match.client.reason(), ContainsSubstring("MAP01"));
  REQUIRE(match.client.missing_maps().size() == 1);
  CHECK(match.client.missing_maps()[0] == "MAP01");
  CHECK(match.server.left == close_reason(SessionEnd::lacks_content));
  CHECK_THAT(match.server.left_text, ContainsSubstring("MAP01"));
  CHECK(match.server.joins == 0);
}

TEST_CASE("a client that cannot compute the server's ground asks for it", "[client_sim][client]") {
  ClientMatch match;
  match.server.columns = {-2, 5};
  const bool newer = GENERATE(true, false);
  if (newer)
    match.server.generator = terrain_generator + 1;
  else
    match.server.terrain = terrain_kind_count;
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.joins == 1);
  CHECK(match.server.asks_ground);
}

TEST_CASE("a client that can compute the server's ground does not ask for it", "[client_sim][client]") {
  ClientMatch match;
  match.server.columns = {0, 7};
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK_FALSE(match.server.asks_ground);
}

TEST_CASE("a client that cannot compute the server's ground, nor is told its height, does not join",
          "[client_sim][client]") {
  ClientMatch match;
  const bool newer = GENERATE(true, false);
  if (newer)
    match.server.generator = terrain_generator + 1;
  else
    match.server.terrain = terrain_kind_count;
  match.run(2);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.end_reason() == SessionEnd::unknown_terrain);
  CHECK(match.server.left == close_reason(SessionEnd::unknown_terrain));
  CHECK(match.client.reason() == (newer ? "the server's ground is plains (kind 0) of generator 2, and this "
                                          "client has generator 1: take the "
                                          "client of the server's version"
                                        : "the server's ground is unknown (kind 4) of generator 1, and this "
                                          "client has generator 1: take the "
                                          "client of the server's version"));
  CHECK(match.server.joins == 0);
}

namespace {

std::shared_ptr<const BlockRegistry> other_blocks() {
  const auto own = BlockRegistry::builtin().types();
  std::vector<BlockType> types(own.begin(), own.end());
  types.emplace_back().name = "marble";
  return std::make_shared<const BlockRegistry>(std::move(types));
}

}  // namespace

TEST_CASE("a client joins when it knows what the world's blocks are like", "[client_sim][client]") {
  ClientMatch match;
  match.server.blocks = match.server.told_blocks = other_blocks();
  SECTION("told of kinds of its own") {
    match.run(2);
    CHECK(match.client.state() == ClientState::playing);
    CHECK(match.client.blocks()->find("marble").has_value());
  }
  SECTION("it waits until it is told") {
    match.server.tells_blocks = false;
    match.run(2);
    CHECK(match.client.state() == ClientState::joining);
    CHECK(match.server.joins == 0);
  }
  SECTION("it does not wait for those that it has") {
    match.server.blocks = BlockRegistry::builtin_ptr();
    match.server.tells_blocks = false;
    match.run(2);
    CHECK(match.client.state() == ClientState::playing);
  }
  SECTION("others than the welcome named are no server's") {
    match.server.told_blocks = BlockRegistry::builtin_ptr();
    match.run(2);
    CHECK(match.client.end_reason() == SessionEnd::protocol);
    CHECK(match.server.joins == 0);
  }
}

TEST_CASE("a server that tells of blocks of no kind that its world has is left", "[client_sim][client]") {
  const std::size_t kinds = BlockRegistry::builtin().size();
  const bool streams = GENERATE(false, true), known = GENERATE(false, true);
  const std::size_t id = known ? kinds - 1 : kinds;
  CAPTURE(streams, id);
  ClientConfig config = config_named("Ada");
  config.stream_ground = streams;
  ClientMatch match(config);
  match.server.columns = {-2, 4};
  match.run(1);
  REQUIRE(match.client.state() == ClientState::playing);
  MessageWriter writer;
  const BlockChange change{17, static_cast<std::uint16_t>(id)};
  const bool inside = streams && GENERATE(false, true);
  if (streams) {
    Chunk chunk;
    if (inside) chunk.set_block({1, 2, 3}, static_cast<BlockId>(id));
    const std::vector<std::uint8_t> bytes = ChunkCodec().encode(chunk);
    GroundChunk sent;
    sent.tick = match.server.tick, sent.world = 1;
    sent.hash = chunk.content_hash(), sent.bytes = bytes;
    if (!inside) sent.changes = std::span(&change, 1);
    match.server.connection()->send(StreamId::bulk, writer.write(sent));
  } else {
    const BlockEdits edits{match.server.tick, 1, {0, 0, 0}, std::span(&change, 1)};
    match.server.connection()->send(StreamId::edits, writer.write(edits));
  }
  match.run(2);
  CHECK((match.client.state() == ClientState::playing) == known);
  CHECK((match.client.end_reason() == SessionEnd::protocol) == !known);
  CHECK((match.client.ground().told({1, 2, 3}).value_or(BlockId::air) != BlockId::air) == (known && inside));
}

TEST_CASE("who has come far through ground that others changed forgets what is far behind it",
          "[client_sim][client]") {
  ClientMatch match;
  match.run(1);
  REQUIRE(match.client.state() == ClientState::playing);
  std::vector<BlockChange> all(chunk_blocks);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {static_cast<std::uint16_t>(i), 1};
  EditedGround& ground = match.client.ground();
  for (std::int32_t i = 0; ground.room_for(1); ++i)
    REQUIRE(ground.take(BlockEdits{1, 1, {-200 - i, 0, 0}, all}) == nullptr);
  MessageWriter writer;
  const BlockEdits near{match.server.tick, 1, {0, 0, 0}, std::span(all).first(1)};
  match.server.connection()->send(StreamId::edits, writer.write(near));
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(ground.told_blocks() == 1);
}

TEST_CASE("how monsters show is news where it is other than before, and begins nothing anew where not",
          "[client_sim][client]") {
  ClientMatch match;
  match.run(1);
  MessageWriter writer;
  const auto tell = [&](const char* blood) {
    KindShow show{.kind = MonsterKind{3}, .show = {}};
    show.show.blood = blood;
    match.server.connection()->send(StreamId::control, writer.write(MonsterShows{{show}, 1}));
    match.run(0.2);
    return match.client.kinds();
  };
  const auto first = tell("green");
  CHECK(first->monsters[3].show.blood == "green");
  CHECK(tell("green") == first);
  CHECK(tell("blue") != first);
}

TEST_CASE("a client joins no world before it was told all its kinds, those that it has too",
          "[client_sim][client]") {
  ClientMatch match;
  match.server.tells_kinds = false;
  match.run(2);
  CHECK(match.client.state() == ClientState::joining);
  CHECK(match.server.joins == 0);
  match.server.say_kinds();
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  // Of the next world nothing is known of before.
  match.server.change_world();
  match.run(1);
  CHECK(match.client.state() == ClientState::joining);
  CHECK(match.server.joins == 1);
  match.server.say_kinds();
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.joins == 2);
}

TEST_CASE("a client with the server's map joins, and one with another content does not",
          "[client_sim][client]") {
  const std::uint64_t mine = GENERATE(42u, 43u);
  ClientConfig config = config_named("Ada");
  config.content = [mine](const WelcomeMap&) { return std::optional<std::uint64_t>{mine}; };
  ClientMatch match(std::move(config));
  match.server.maps.push_back({"MAP01", 42, {0, 0}, 10, 0});
  match.run(2);
  CHECK(match.client.state() == (mine == 42 ? ClientState::playing : ClientState::refused));
}

TEST_CASE("no answer, silence and a closed connection end in lost", "[client_sim][client]") {
  SECTION("no answer") {
    ClientMatch match;
    match.server.silent = true;
    match.run(9);
    CHECK(match.client.state() == ClientState::connecting);
    CHECK(match.client.stats().packets_out == 16);  // after 0.3 s, then every 0.6 s
    match.run(2);
    CHECK(match.client.state() == ClientState::lost);
    CHECK_THAT(match.client.reason(), ContainsSubstring("no answer"));
  }
  SECTION("silence") {
    ClientMatch match;
    match.run(2);
    match.down.partition(match.now + Micros{60'000'000});
    match.run(4);
    CHECK(match.client.state() == ClientState::playing);
    CHECK_FALSE(match.client.resuming());
    CHECK(match.client.stats().starved == 1);
    CHECK(match.client.stats().longest_gap > Micros{3'900'000});
    match.run(2);
    CHECK(match.client.state() == ClientState::playing);
    CHECK(match.client.resuming());
    match.run(18.5);
    CHECK(match.client.state() == ClientState::playing);
    match.run(1.5);
    CHECK(match.client.state() == ClientState::lost);
    CHECK(match.client.broken_off());
    CHECK_THAT(match.client.reason(), ContainsSubstring("silent"));
  }
  SECTION("closed") {
    ClientMatch match;
    match.run(2);
    DatagramBatch in, out;
    in.add_closed(server_address());
    match.client.advance(match.now, in, out);
    CHECK(match.client.state() == ClientState::lost);
    CHECK_THAT(match.client.reason(), ContainsSubstring("closed"));
    CHECK(match.client.broken_off());
  }
  SECTION("sent away") {
    ClientMatch match;
    match.run(2);
    match.server.goodbye = "play nicely";
    match.run(1);
    CHECK(match.client.state() == ClientState::lost);
    CHECK_THAT(match.client.reason(), ContainsSubstring("kicked: play nicely"));
    CHECK(match.client.end_reason() == SessionEnd::kicked);
    CHECK_FALSE(match.client.broken_off());
  }
}

TEST_CASE("a server that says what is no message is left", "[client_sim][client]") {
  const auto stream = GENERATE(StreamId::control, StreamId::chat, StreamId::bulk);
  ClientMatch match;
  match.run(1);
  REQUIRE(match.client.state() == ClientState::playing);
  match.server.connection()->send(stream, std::vector<std::uint8_t>(100, 0x55));
  match.run(2);
  CHECK(match.client.state() == ClientState::lost);
  CHECK(match.client.end_reason() == SessionEnd::protocol);
  CHECK_FALSE(match.client.broken_off());
  CHECK(match.server.left == close_reason(SessionEnd::protocol));
}

TEST_CASE("a message where it may not travel is counted and no more", "[client_sim][client]") {
  ClientMatch match;
  match.run(1);
  MessageWriter writer;
  Connection& server = *match.server.connection();
  Welcome welcome;
  welcome.world = 7;
  server.send(StreamId::chat, writer.write(welcome));
  server.send(StreamId::control, writer.write(ChatLine{"Bob", "hello"}));
  server.send(StreamId::events, writer.write(ChatLine{"Bob", "hello"}));
  DatagramBatch out;
  REQUIRE(server.send_unreliable(match.now, writer.write(ChatLine{"Bob", "hello"}), out).has_value());
  match.down.send(match.now, out);
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.welcome().world == 1);
  CHECK(match.client.take_chat().empty());
  CHECK(match.client.stats().drops[static_cast<std::size_t>(DropReason::wrong_state)] >= 3);
}

TEST_CASE("a gap of a second is counted once and the longest is kept", "[client_sim][client]") {
  ClientMatch match;
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

TEST_CASE("chat arrives once and in order both ways over a bad link", "[client_sim][client]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  ClientMatch match(config_named("Ada"), seed);
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
    match.server.lines_to_send.push_back({"Bob", "answer " + std::to_string(i)});
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
    ClientMatch match(config_named("Ada"), 7);
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
  ClientMatch match(config_named(" "));
  match.run(1);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.client.end_reason() == SessionEnd::bad_name);
  CHECK(match.server.hellos == 0);
}

TEST_CASE("a server of another version is told apart from nobody", "[client_sim][client]") {
  ClientMatch match;
  match.server.silent = true;
  DatagramBatch in, out;
  match.client.advance(match.now, in, out);
  REQUIRE(out.entries().size() == 1);
  std::vector<std::uint8_t> answer(secure::open_prefix_bytes);
  const auto hello = out.bytes(out.entries()[0]);
  constexpr std::uint8_t other = protocol_version + 1;
  REQUIRE(secure::write_refuse_version(hello, other, answer) == answer.size());
  // Who does not know its nonce is not believed.
  auto forged = answer;
  forged[secure::open_nonce_at] ^= 1;
  in.add(server_address(), forged);
  match.client.advance(match.now, in, out);
  match.run(1.5);
  CHECK(match.client.state() == ClientState::connecting);
  in.clear();
  in.add(server_address(), answer);
  match.client.advance(match.now, in, out);
  match.run(1.5);
  CHECK(match.client.state() == ClientState::refused);
  CHECK_THAT(match.client.reason(), ContainsSubstring("version " + std::to_string(other)));
  CHECK_FALSE(match.client.end_reason().has_value());
}

TEST_CASE("who is told once a second starves when two snapshots do not come", "[client_sim][client]") {
  ClientMatch match;
  match.server.snapshot_every = match.server.rate_hz;
  match.run(3);
  REQUIRE(match.client.state() == ClientState::playing);
  const auto pause = [&match](double seconds) {
    match.server.mute_snapshots = true;
    match.run(seconds);
    match.server.mute_snapshots = false;
    match.run(1.5);
  };
  for (int i = 0; i < 4; ++i) pause(1);
  CHECK(match.client.stats().starved == 0);
  pause(2);
  CHECK(match.client.stats().starved == 1);
}
