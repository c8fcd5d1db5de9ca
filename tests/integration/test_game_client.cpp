// A game that brings nothing: its client fetches the world, foresees its player in it, and keeps what it got.
#include "client_sim/client/game_client.h"

#include <map>

#include "server/host/content_shelf.h"
#include "tests/integration/hosted_client.h"
#include "tests/integration/teleporter_world.h"
#include "tests/protocol/content/contents.h"
#include "tests/world/compass.h"
#include "world/sim/mechanics.h"

using namespace ashlar;
using namespace ashlar::client_sim;

namespace {

/// A Host and a game's client over a line of 20 ms, in simulated time.
struct GameParty {
  GameParty(const WorldSetup& setup, ContentStore store)
      : client(config_of(std::move(store))), up({}, 1), down({}, 2) {
    auto shelf = std::make_shared<server::ContentShelf>();
    REQUIRE(shelf->add(setup).empty());
    server::HostConfig config;
    config.clients_max = 4;
    config.identity = testing::hosts_identity();
    config.content = shelf;
    config.content_bytes_per_s = 4 << 20;
    host = std::make_unique<server::Host>(config, std::make_unique<World>(setup),
                                          secure::SeededEntropy(5).secret());
    LinkConditions line;
    line.latency = Micros{20'000};
    up.set_conditions(line), down.set_conditions(line);
  }
  static GameConfig config_of(ContentStore store) {
    GameConfig config;
    config.client.server.port = 7777;
    config.client.name = "game";
    config.client.seed = secure::SeededEntropy(79).secret();
    config.prediction.chunks_per_advance = 16;
    config.content = std::move(store);
    return config;
  }
  void run(double seconds) {
    const Micros until = now + Micros{static_cast<std::int64_t>(seconds * 1e6)};
    while (now < until) {
      now += Micros{2000};
      in.clear(), out.clear(), to_host.datagrams.clear(), to_host.ground.clear();
      down.deliver(now, in);
      client.advance(now, in, out);
      up.send(now, out);
      up.deliver(now, to_host.datagrams);
      for (const IVec2 column : std::exchange(from_host.ground_requests, {}))
        to_host.ground.push_back(server::make_column(*host->world().ground(), column));
      from_host.clear();
      host->advance(now, to_host, from_host);
      down.send(now, from_host.datagrams);
    }
  }
  GameClient client;
  Link up, down;
  std::unique_ptr<server::Host> host;
  DatagramBatch in, out;
  server::HostInput to_host;
  server::HostOutput from_host;
  Micros now{1'000'000};
};

WorldSetup with_map_and_prop() {
  WorldSetup setup;
  setup.players_max = 4;
  setup.monsters = setup.monsters_max = 0;
  setup.maps = {testing::must_place(testing::builtin_map())};
  setup.props = {testing::random_prop(3)};
  return setup;
}

}  // namespace

TEST_CASE("a game without files plays in a world of maps and props, and foresees",
          "[integration][game_client]") {
  const WorldSetup setup = with_map_and_prop();
  std::map<std::uint64_t, std::vector<std::uint8_t>> kept;
  const ContentStore store{[&](std::uint64_t hash) { return kept[hash]; },
                           [&](std::uint64_t hash, std::span<const std::uint8_t> bytes) {
                             kept[hash].assign(bytes.begin(), bytes.end());
                           }};
  GameParty first(setup, store);
  first.run(8);
  CAPTURE(first.client.client().reason());
  REQUIRE(first.client.client().state() == ClientState::playing);
  REQUIRE(first.client.predictor().ready());
  CHECK(first.client.predictor().replica().setup().maps.size() == 1);
  CHECK(first.client.predictor().replica().setup().props.size() == 1);
  CHECK(first.client.predictor().stats().confirmed > 100);
  CHECK(first.client.client().stats().fetched == 2);
  CHECK(kept.size() == 2);

  // The next time nothing travels, and what was damaged meanwhile is fetched anew.
  kept.begin()->second.back() ^= 1;
  GameParty second(setup, store);
  second.run(8);
  REQUIRE(second.client.predictor().ready());
  CHECK(second.client.client().stats().fetched == 1);
  GameParty third(setup, store);
  third.run(8);
  REQUIRE(third.client.predictor().ready());
  CHECK(third.client.client().stats().fetched == 0);
}

TEST_CASE("a game that keeps nothing plays as well", "[integration][game_client]") {
  GameParty game(with_map_and_prop(), {});
  game.run(8);
  CHECK(game.client.predictor().ready());
  CHECK(game.client.client().stats().fetched == 2);
}

TEST_CASE("a game turns its held view by what is foreseen of a teleporter, and its commands once",
          "[integration][game_client]") {
  GameParty game(testing::teleporter_world(), {});
  game.run(4);
  REQUIRE(game.client.predictor().ready());
  const World& world = game.host->world();
  const PlacedMap& map = *world.setup().maps[0];
  const DVec2 at = map.to_world({60, 128});
  game.host->admin({AdminAction::teleport, game.client.client().player(), {at.x, at.y, map.z_to_world(0)}});
  game.run(1);
  PlayerCommand walk;
  walk.yaw = testing::east, walk.forward = 1;
  Turn16 told = game.client.self(game.now)->delta_yaw;
  int foreseen = 0, there = 0;
  for (int i = 0; i < 2000 && there < 500; ++i) {
    game.client.set_command(walk);
    game.run(0.002);
    const Turn16 turned = game.client.self(game.now)->delta_yaw;
    walk.yaw = walk.yaw + (turned - told);
    told = turned;
    foreseen += turned != game.client.client().delta_yaw() ? 1 : 0;
    if (world.mechanics().counters().teleports == 0) continue;
    ++there;
    REQUIRE(world.players().yaw[0] == testing::north);
    REQUIRE(walk.yaw == testing::north);
  }
  CHECK(there == 500);
  CHECK(foreseen > 10);  // for a round trip it was ahead of the server's word
}

TEST_CASE("while the next world's content is fetched nothing of the old one is shown",
          "[integration][game_client]") {
  WorldSetup first;
  first.players_max = 4;
  first.monsters = first.monsters_max = 0;
  first.terrain = TerrainKind::flat;
  GameParty game(first, {});
  game.run(3);
  REQUIRE(game.client.predictor().ready());
  WorldSetup second = with_map_and_prop();
  second.seed = 77;
  auto shelf = std::make_shared<server::ContentShelf>();
  REQUIRE(shelf->add(second).empty());
  game.host->change_world(std::make_unique<World>(second), shelf);
  bool fetched = false;
  for (int i = 0; i < 4000 && !(fetched && game.client.predictor().ready()); ++i) {
    game.run(0.002);
    if (!game.client.client().fetching()) continue;
    fetched = true;
    CHECK_FALSE(game.client.predictor().ready());
    CHECK_FALSE(game.client.self(game.now).has_value());
    CHECK(game.client.others(game.now).empty());
    CHECK(game.client.client().state() == ClientState::joining);
  }
  REQUIRE(fetched);
  REQUIRE(game.client.predictor().ready());
  CHECK(game.client.predictor().replica().setup().seed == 77);
  CHECK(game.client.self(game.now).has_value());
}
