// Sessions that go on: over another connection, in another world; and those that do not.
#include "client_sim/client/client.h"

#include "protocol/little_endian.h"
#include "protocol/secure/connect_token.h"
#include "protocol/version.h"
#include "tests/catch.h"
#include "tests/client_sim/client/client_match.h"

using namespace ashlar;
using namespace ashlar::client_sim;
using namespace ashlar::client_sim::match_test;

TEST_CASE("a client that the server does not know any more goes on where it was", "[client_sim][resume]") {
  const int delay_ms = GENERATE(0, 40);
  ClientMatch match;
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  walk(match);
  const double before_m = x_of(match);
  const std::uint32_t session = match.client.session();
  match.server.lose_session();
  CHECK(plays_through(match, 1));
  CHECK(match.server.resets > 0);
  CHECK(match.server.resumes == 1);
  CHECK(match.client.stats().resumes == 1);
  CHECK(match.client.stats().rejoins == 0);
  CHECK(match.client.stats().worlds == 1);
  CHECK(match.client.session() != session);
  CHECK_FALSE(match.client.resuming());
  match.run(1);
  match.server.missing = 0;
  match.run(1);
  CHECK(match.server.missing == 0);
  CHECK(x_of(match) > before_m + 10);
  CHECK(match.client.stats().starved == 0);
}

TEST_CASE("what a session said of chests, signs and timers ends with it", "[client_sim][resume]") {
  ClientMatch match;
  match.run(1);
  REQUIRE(match.client.state() == ClientState::playing);
  const IVec3 chest{4, 5, 40}, sign{5, 5, 40};
  const auto tell = [&](IVec3 block, bool open) {
    HeldByBlock held{.tick = match.server.tick, .world = 1, .open = open, .block = block, .data = {}};
    if (!open) held.data.text = SignText::of("to the mine"), held.data.due = 1'000'000;
    MessageWriter writer;
    match.server.connection()->send(StreamId::edits, writer.write(held));
    match.run(0.2);
  };
  tell(chest, true);
  tell(sign, false);
  CHECK(match.client.opened().has_value());
  CHECK(match.client.sign_text(sign) == "to the mine");
  CHECK(match.client.timer_ticks(sign).has_value());
  match.server.lose_session();
  CHECK(plays_through(match, 1));
  REQUIRE(match.client.stats().resumes == 1);
  CHECK_FALSE(match.client.opened().has_value());
  CHECK(match.client.sign_text(sign).empty());
  CHECK_FALSE(match.client.timer_ticks(sign).has_value());
  tell(sign, false);
  CHECK(match.client.sign_text(sign) == "to the mine");
}

TEST_CASE("a client whose server was started again joins anew", "[client_sim][resume]") {
  ClientMatch match;
  walk(match);
  match.server.restart();
  match.server.tick = 7;
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().rejoins == 1);
  CHECK(match.client.stats().resumes == 0);
  CHECK(match.client.stats().worlds == 2);
  CHECK(match.server.resumes == 0);
  CHECK(match.client.own_tick() < 100);
  CHECK(match.client.view().newest_tick() < 100);
  match.server.missing = 0;
  match.run(1);
  CHECK(match.server.missing == 0);
}

TEST_CASE("only the reset of one's own session is believed", "[client_sim][resume]") {
  ClientMatch match;
  match.run(1);
  REQUIRE(match.client.state() == ClientState::playing);
  Rng rng{3};
  const auto send = [&](std::uint32_t number, const secure::ResetToken& token) {
    std::array<std::uint8_t, secure::reset_bytes> bytes{protocol_version,
                                                        static_cast<std::uint8_t>(secure::PacketType::reset)};
    put_little(&bytes[2], number);
    std::ranges::copy(token, bytes.begin() + 6);
    DatagramBatch in, out;
    in.add(server_address(), bytes);
    match.client.advance(match.now, in, out);
    match.up.send(match.now, out);
  };
  const std::uint32_t session = match.client.session();
  const secure::ResetToken token = match.client.welcome().reset_token;
  for (int i = 0; i < 500; ++i) {
    secure::ResetToken guess = token;
    guess[rng.below(16)] ^= static_cast<std::uint8_t>(1 + rng.below(255));
    send(session, guess);
  }
  send(session ^ 1, token);
  CHECK_FALSE(match.client.resuming());
  CHECK(match.client.stats().drops[static_cast<std::size_t>(DropReason::unknown_connection)] == 501);
  send(session, token);
  CHECK(match.client.resuming());
}

TEST_CASE("a session that fell silent is sought, and its player is where it was", "[client_sim][resume]") {
  ClientMatch match;
  walk(match);
  const double before_m = x_of(match);
  // The server gave the session up meanwhile.
  match.server.silent = true;
  match.run(7);
  CHECK(match.client.resuming());
  match.server.lose_session();
  match.run(5);
  match.server.silent = false;
  CHECK(plays_through(match, 2));
  CHECK(match.client.stats().resumes == 1);
  CHECK(match.server.bad_proofs == 0);
  CHECK(x_of(match) >= before_m);
  match.run(1);
  match.server.missing = 0;
  match.run(1);
  CHECK(match.server.missing == 0);
}

TEST_CASE("a session that is heard again needs no other", "[client_sim][resume]") {
  ClientMatch match;
  walk(match);
  const std::uint32_t session = match.client.session();
  // Until some time before the next hello: else it is chance which answer comes first.
  match.down.partition(match.now + Micros{6'700'000});
  match.run(6.5);
  CHECK(match.client.resuming());
  match.run(1.5);
  CHECK_FALSE(match.client.resuming());
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.session() == session);
  CHECK(match.server.hellos == 1);
}

TEST_CASE("the player who takes its session over another connection is heard over that",
          "[client_sim][resume]") {
  const std::uint64_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  ClientMatch match(config_named("Ada"), seed);
  walk(match);
  LinkConditions conditions;
  conditions.loss = 0.4;
  conditions.latency = Micros{50'000};
  conditions.jitter = Micros{50'000};
  match.conditions(conditions);
  const auto& stats = match.client.stats();
  for (std::uint64_t i = 1; i <= 3; ++i) {
    CAPTURE(i, stats.rejoins);
    match.server.lose_session();
    // A handshake of three round trips, of which two thirds fail: some three seconds, and fifteen now and
    // then.
    const Micros until = match.now + Micros{30'000'000};
    // Where the answer to its hello never came, the server knows another session as its last.
    while (match.now < until && stats.resumes + stats.rejoins < i) match.step(Micros{2000});
    REQUIRE(stats.resumes + stats.rejoins == i);
    match.run(6);  // its join may be said many times
    CHECK(match.client.state() == ClientState::playing);
    CHECK_FALSE(match.client.resuming());
    CHECK(match.server.joined);
    const std::uint64_t applied = match.server.applied;
    match.run(1);
    CHECK(match.server.applied > applied);
  }
  CHECK(stats.resumes > 0);
}

TEST_CASE("who gives up its session after a while is lost", "[client_sim][resume]") {
  ClientConfig config = config_named("Ada");
  config.resume_for = Micros{3'000'000};
  ClientMatch match(std::move(config));
  walk(match);
  match.server.silent = true;
  match.run(7.8);
  CHECK(match.client.state() == ClientState::playing);
  match.run(0.5);
  CHECK(match.client.state() == ClientState::lost);
  CHECK(match.client.broken_off());
  // Who tries again goes on all the same.
  match.server.silent = false;
  match.client.join_again(match.now);
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().resumes == 1);
}

TEST_CASE("a session is not sought where the server says no", "[client_sim][resume]") {
  ClientMatch match;
  walk(match);
  match.server.lose_session();
  match.server.refuse = SessionEnd::full;
  match.run(1);
  CHECK(match.client.state() == ClientState::lost);
  CHECK(match.client.end_reason() == SessionEnd::full);
  CHECK_FALSE(match.client.broken_off());
  CHECK_THAT(match.client.reason(), ContainsSubstring("full"));
}

TEST_CASE("a server of another key is told nothing of the session that was", "[client_sim][resume]") {
  const bool pinned = GENERATE(false, true);
  FakeServer other(1);
  ClientConfig config = config_named("Ada");
  if (pinned) config.pinned = other.key();
  ClientMatch match(std::move(config));
  walk(match);
  match.server.lose_session();
  match.server.change_key();
  match.run(4);
  CHECK(match.client.stats().rejoins == 0);  // it cannot reset what it does not know
  match.run(4);
  CHECK(match.server.resumes + match.server.bad_proofs == 0);
  CHECK(match.client.server_key() == match.server.key());
  if (pinned) {
    CHECK(match.client.state() == ClientState::refused);
    CHECK(match.server.hellos == 1);
    CHECK_THAT(match.client.reason(), ContainsSubstring("key"));
  } else {
    CHECK(match.client.state() == ClientState::playing);
    CHECK(match.client.stats().rejoins == 1);
  }
}

TEST_CASE("a client with a pinned key says nothing of itself to another server", "[client_sim][resume]") {
  ClientConfig config = config_named("Ada");
  config.pinned = FakeServer(2).key();
  ClientMatch match(std::move(config));
  match.run(3);
  CHECK(match.client.state() == ClientState::refused);
  CHECK(match.server.hellos == 0);
}

TEST_CASE("a client says who it is, and shows its token", "[client_sim][resume]") {
  ClientConfig config = config_named("Ada");
  config.identity = secure::key_pair(secure::SeededEntropy(9).secret());
  config.token.assign(200, 7);
  const secure::PublicKey open = config.identity.open;
  ClientMatch match(std::move(config));
  match.run(1);
  CHECK(match.server.client_key == open);
  CHECK(match.server.token_said == std::vector<std::uint8_t>(200, 7));
  ClientConfig longer = config_named("Ada");
  longer.token.resize(secure::token_bytes_max + 1);
  CHECK(Client(std::move(longer)).end_reason() == SessionEnd::token_malformed);
}

TEST_CASE("another world is joined within the session", "[client_sim][resume]") {
  const int delay_ms = GENERATE(0, 60);
  ClientMatch match;
  LinkConditions conditions;
  conditions.latency = Micros{delay_ms * 1000};
  match.conditions(conditions);
  EntityRecord other;
  other.id = make_entity_id(9, 1);
  match.server.others.push_back(other);
  walk(match);
  const std::uint32_t session = match.client.session();
  match.server.others.clear();
  match.server.change_world();
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.session() == session);
  CHECK(match.client.welcome().world == 2);
  CHECK(match.client.stats().worlds == 2);
  CHECK(match.client.stats().rejoins == 0);
  CHECK(match.server.joins == 2);
  CHECK(match.client.own_tick() > 5000);
  CHECK(match.client.view().entity_count() == 0);
  match.run(1);
  match.server.missing = match.server.early = 0;
  match.run(1);
  CHECK(match.server.missing + match.server.early == 0);
  CHECK(match.server.hellos == 1);
}

TEST_CASE("a part of another world than the welcomed one tells nothing", "[client_sim][resume]") {
  const auto world = static_cast<std::uint8_t>(GENERATE(0, 1, 2, 3));
  ClientMatch match;
  walk(match);
  match.server.change_world();
  match.run(1);
  REQUIRE(match.client.welcome().world == 2);
  const std::uint32_t tick = match.client.view().newest_tick();
  PartHead head;
  head.tick = tick + 50;
  head.world = world;
  PlainPartWriter writer;
  writer.begin(head);
  writer.set_part_count(1);
  const auto bytes = writer.bytes();
  DatagramBatch out;
  REQUIRE(match.server.connection()->send_unreliable(match.now, bytes, out).has_value());
  for (const auto& entry : out.entries()) {
    DatagramBatch in, said;
    in.add(server_address(), out.bytes(entry));
    match.client.advance(match.now, in, said);
  }
  CHECK(match.client.view().newest_tick() == (world == 2 ? tick + 50 : tick));
  CHECK(match.client.stats().drops[static_cast<std::size_t>(DropReason::wrong_state)] ==
        (world == 2 ? 0u : 1u));
}

TEST_CASE("what another world is made of is checked anew", "[client_sim][resume]") {
  ClientConfig config = config_named("Ada");
  int asked = 0;
  config.content = [&asked](const WelcomeMap& map) {
    ++asked;
    return map.name == "MAP01" ? std::optional<std::uint64_t>{42} : std::nullopt;
  };
  ClientMatch match(std::move(config));
  match.server.maps = {{"MAP01", 42, {0, 0}, 10, 0}};
  match.run(1);
  REQUIRE(match.client.state() == ClientState::playing);
  match.server.maps = {{"MAP02", 43, {0, 0}, 10, 0}};
  match.server.change_world();
  match.run(2);
  CHECK(asked == 2);
  CHECK(match.client.state() == ClientState::refused);
  CHECK_THAT(match.client.reason(), ContainsSubstring("MAP02"));
  CHECK(match.server.left == close_reason(SessionEnd::lacks_content));
}

TEST_CASE("who was asleep for longer than a session lasts goes on where it was", "[client_sim][resume]") {
  const double asleep_s = GENERATE(9.0, 11.0, 40.0);
  CAPTURE(asleep_s);
  ClientMatch match;
  walk(match);
  const Micros until = match.now + Micros{static_cast<std::int64_t>(asleep_s * 1e6)};
  while (match.now < until) {
    match.now += Micros{2000};
    match.to_server.clear();
    match.up.deliver(match.now, match.to_server);
    if (match.down.under_way() > 50) match.down.partition(match.now + Micros{1000});
    match.advance_server();
  }
  match.run(2);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.client.stats().resumes == (asleep_s > 10 ? 1u : 0u));
  CHECK(match.server.bad_proofs == 0);
  match.server.missing = 0;
  match.run(1);
  CHECK(match.server.missing == 0);
}

TEST_CASE("a line that nobody can tell to have been heard is said again", "[client_sim][resume]") {
  ClientMatch match;
  walk(match);
  match.up.partition(match.now + Micros{1'000'000});
  CHECK(match.client.say("one"));
  CHECK(match.client.say("two"));
  match.run(0.5);
  match.server.lose_session();
  match.run(4);
  CHECK(match.server.chat == std::vector<std::string>{"one", "two"});
}

namespace {

std::shared_ptr<const ReplicationRegistry> game_that_hears(const char* kind) {
  auto registry = std::make_shared<ReplicationRegistry>(*ReplicationRegistry::builtin_ptr());
  registry->add_client_message(kind, 8);
  return registry;
}

bool call(ClientMatch& match, const char* kind, std::uint8_t letter) {
  return match.client.send_game_message(kind, std::span(&letter, 1));
}

}  // namespace

TEST_CASE("what is said to the world's game comes in order, over another connection, too",
          "[client_sim][resume]") {
  const bool changed = GENERATE(false, true);
  ClientMatch match;
  match.server.registry = game_that_hears("vote");
  walk(match);
  // The next session counts its worlds anew.
  if (changed) match.server.change_world(), match.run(1);
  match.up.partition(match.now + Micros{1'000'000});
  CHECK(call(match, "vote", 'a'));
  CHECK(call(match, "vote", 'b'));
  match.run(0.5);
  match.server.lose_session();
  match.run(4);
  CHECK(match.client.stats().resumes == 1);
  CHECK(match.server.calls == std::vector<std::string>{"a", "b"});
  // As fast as ticks, and none of them twice.
  LinkConditions conditions;
  conditions.latency = Micros{50'000};
  conditions.loss = 0.1;
  match.conditions(conditions);
  match.server.calls.clear();
  std::vector<std::string> said;
  for (int i = 0; i < 200; ++i) {
    said.push_back(std::string(1, static_cast<char>('A' + i % 26)));
    while (!call(match, "vote", static_cast<std::uint8_t>(said.back()[0]))) match.run(0.01);
    match.run(0.016);
  }
  match.run(3);
  CHECK(match.server.calls == said);
}

TEST_CASE("what was to be said to a game is not said to another one", "[client_sim][resume]") {
  ClientMatch match;
  match.server.registry = game_that_hears("vote");
  walk(match);
  match.up.partition(match.now + Micros{1'000'000});
  CHECK(call(match, "vote", 'a'));
  match.run(0.5);
  match.server.restart();
  match.server.registry = game_that_hears("surrender");
  match.run(10);
  REQUIRE(match.client.stats().rejoins == 1);
  CHECK(match.server.calls.empty());
  CHECK(call(match, "surrender", 'b'));
  match.run(1);
  CHECK(match.server.calls == std::vector<std::string>{"b"});
}

TEST_CASE("what happened in a world that is gone is not told in the next one", "[client_sim][resume]") {
  ClientMatch match;
  walk(match);
  MessageWriter writer;
  Fight fight;
  fight.tick = match.server.tick, fight.world = 1, fight.health = 50;
  fight.hits.push_back({CombatEventKind{}, HurtBy{}, 10, make_entity_id(7, 1), make_entity_id(1, 1)});
  const ActAnswers answers{match.server.tick, {{9, ActVerdict::done, {1, 2, 3}}}, 1};
  Carried carried;
  carried.tick = match.server.tick, carried.world = 1;
  carried.picked.push_back(1);
  match.server.connection()->send(StreamId::events, writer.write(fight));
  match.server.connection()->send(StreamId::events, writer.write(carried));
  match.server.connection()->send(StreamId::edits, writer.write(answers));
  match.run(0.5);
  REQUIRE(match.client.stats().acts_done == 1);
  REQUIRE(match.client.stats().items_picked == 1);
  match.server.change_world();
  match.run(1);
  REQUIRE(match.client.stats().worlds == 2);
  CHECK(match.client.take_hits().empty());
  CHECK(match.client.take_picks().empty());
  CHECK(match.client.take_verdicts().empty());
}

TEST_CASE("who waits for its first snapshot when its session is sought waits on in the next one",
          "[client_sim][resume]") {
  const bool other_world = GENERATE(false, true);
  ClientMatch match;
  if (other_world) walk(match), match.server.change_world();
  match.server.mute_snapshots = true;
  match.run(1);
  REQUIRE(match.client.state() == ClientState::joining);
  match.server.silent = true;
  match.run(10.5);
  REQUIRE(match.client.resuming());
  match.server.silent = match.server.mute_snapshots = false;
  match.run(1);
  CHECK(match.client.state() == ClientState::playing);
  CHECK(match.server.resumes == 1);
}

TEST_CASE("who leaves is gone, whatever it was at", "[client_sim][resume]") {
  ClientMatch match;
  SECTION("before it said anything") {
    match.client.leave();
    match.run(0.01);
    CHECK(match.client.state() == ClientState::left);
    CHECK(match.server.hellos == 0);
  }
  SECTION("before it was welcomed") {
    match.server.no_welcome = true;
    match.run(1);
    match.client.leave(SessionEnd::stopped);
    match.run(2);
    CHECK(match.client.state() == ClientState::left);
    CHECK(match.server.left == close_reason(SessionEnd::stopped));
  }
  SECTION("while its hello is being answered") {
    LinkConditions conditions;
    conditions.latency = Micros{100'000};
    match.conditions(conditions);
    match.run(0.45);  // its finish is on the way
    match.client.leave();
    match.run(2);
    CHECK(match.client.state() == ClientState::left);
    CHECK(match.server.left == close_reason(SessionEnd::quit));
  }
  SECTION("while it seeks its session") {
    walk(match);
    match.server.silent = true;
    match.run(7);
    match.client.leave();
    match.run(1.1);
    CHECK(match.client.state() == ClientState::left);
  }
  SECTION("on a bad link") {
    LinkConditions conditions;
    conditions.loss = 0.3;
    match.conditions(conditions);
    match.run(4);
    REQUIRE(match.client.state() == ClientState::playing);
    match.client.leave();
    match.run(2);
    CHECK(match.client.state() == ClientState::left);
    CHECK(match.server.left == close_reason(SessionEnd::quit));
  }
}

TEST_CASE("who is let in and told nothing gives up", "[client_sim][resume]") {
  ClientMatch match;
  match.server.no_welcome = true;
  match.run(9);
  CHECK(match.client.state() == ClientState::connecting);
  match.run(2);
  CHECK(match.client.state() == ClientState::lost);
  CHECK_THAT(match.client.reason(), ContainsSubstring("no snapshot"));
}
