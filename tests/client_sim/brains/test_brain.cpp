#include "client_sim/brains/brain.h"

#include <cmath>

#include "tests/catch.h"
#include "tests/client_sim/fake_server.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

/// A client that plays against a fake server with others around it, with a brain at the keys.
struct Game {
  test::FakeServer server;
  Client client;
  Brain brain;
  Micros now{1000};
  DatagramBatch up, down;
  std::vector<PlayerCommand> commands;

  Game(BrainKind kind, std::uint64_t seed)
      : client([] {
          ClientConfig config;
          config.server.port = 7777;
          config.seed = secure::SeededEntropy(1).secret();
          return config;
        }()),
        brain(kind, seed) {}

  void run(double seconds) {
    const Micros until = now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (now < until) {
      now += Micros{4000};
      commands.push_back(brain.think(now, client));
      client.set_command(commands.back());
      up.clear();
      client.advance(now, down, up);
      DatagramBatch answers;
      server.advance(now, up, answers);
      down.clear();
      PeerAddress from;
      from.port = 7777;
      for (const auto& entry : answers.entries()) down.add(from, answers.bytes(entry));
    }
  }

  double way_m() const { return client.own() ? length(client.own()->body.position_m) : 0; }
};

}  // namespace

TEST_CASE("every brain but the idle one walks, with commands in range", "[client_sim][brain]") {
  const auto kind = static_cast<BrainKind>(GENERATE(0, 1, 2, 3, 4, 5));
  CAPTURE(name(kind));
  Game game(kind, 5);
  EntityRecord other;
  other.id = make_entity_id(9, 1);
  other.x = other.y = 60 * 128;
  game.server.others.push_back(other);
  game.run(10);
  REQUIRE(game.client.state() == ClientState::playing);
  for (const PlayerCommand& c : game.commands) {
    REQUIRE(std::fabs(c.forward) <= 1);
    REQUIRE(std::fabs(c.left) <= 1);
    REQUIRE((c.buttons & ~button::known) == 0);
  }
  if (kind == BrainKind::idle)
    CHECK(game.way_m() == 0);
  else
    CHECK(game.way_m() > 0.5);
}

TEST_CASE("a follower turns towards the nearest other player", "[client_sim][brain]") {
  Game game(BrainKind::follow, 3);
  EntityRecord near, far, monster, self;
  near.id = make_entity_id(9, 1);
  near.y = 40 * 128;  // due north of the origin, where the own player is
  far.id = make_entity_id(10, 1);
  far.x = 60 * 128, far.y = 60 * 128;
  monster.id = make_entity_id(11, 1);
  monster.kind = entity_kind(MonsterKind::imp);
  monster.x = 128;
  self.id = make_entity_id(1, 1);
  game.server.others = {near, far, monster, self};
  game.run(1);
  std::size_t north = 0;
  game.commands.clear();
  // The fake server moves along the axes of the command, not along yaw: look before it has gone far.
  for (int i = 0; i < 50; ++i) {
    game.run(0.02);
    const int off = static_cast<std::int16_t>(game.commands.back().yaw - Turn16{16384});
    north += std::abs(off) < 8192 ? 1u : 0u;
  }
  CHECK(north > 25);
}

TEST_CASE("a hunter turns towards the nearest monster, attacks and uses", "[client_sim][brain]") {
  Game game(BrainKind::hunt, 3);
  EntityRecord near, far, player;
  near.id = make_entity_id(9, 1);
  near.kind = far.kind = entity_kind(MonsterKind::imp);
  near.y = 40 * 128;
  far.id = make_entity_id(10, 1);
  far.x = 60 * 128, far.y = 60 * 128;
  player.id = make_entity_id(11, 1);
  player.x = 128;
  game.server.others = {near, far, player};
  game.run(1);
  std::size_t north = 0, attacks = 0, uses = 0;
  game.commands.clear();
  for (int i = 0; i < 50; ++i) {
    game.run(0.02);
    const PlayerCommand& c = game.commands.back();
    north += std::abs(static_cast<std::int16_t>(c.yaw - Turn16{16384})) < 8192 ? 1u : 0u;
    attacks += (c.buttons & button::attack) != 0 ? 1u : 0u;
    uses += (c.buttons & button::use) != 0 ? 1u : 0u;
  }
  CHECK(north > 25);
  CHECK(attacks > 5);
  CHECK(uses > 5);
}

TEST_CASE("the same seed gives the same commands and another seed gives others", "[client_sim][brain]") {
  const auto play = [](std::uint64_t seed) {
    Game game(BrainKind::wander, seed);
    game.run(5);
    return game.commands;
  };
  CHECK(play(1) == play(1));
  CHECK(play(1) != play(2));
}

TEST_CASE("brains are known by name", "[client_sim][brain]") {
  for (std::size_t i = 0; i < brain_kind_count; ++i) {
    const auto kind = static_cast<BrainKind>(i);
    CHECK(brain_kind(name(kind)) == kind);
  }
  CHECK_FALSE(brain_kind("genius").has_value());
}
