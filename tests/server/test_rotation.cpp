// Which map comes next, and when.
#include "server/rotation.h"

#include <atomic>
#include <chrono>
#include <thread>

#include "server/map_order.h"
#include "tests/catch.h"
#include "world/content/kinds_file.h"
#include "world/sim/match.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

/// A deathmatch of one second, and an intermission of one.
std::unique_ptr<World> short_match() {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.players_max = 2;
  setup.monsters = 0;
  setup.rules.tick_rate_hz = 20;
  setup.rules.mode = GameMode::deathmatch;
  setup.rules.time_limit_s = 1;
  setup.rules.intermission_s = 1;
  return std::make_unique<World>(setup);
}

MapRotation::Made make_short_match(const std::string& map) {
  if (map == "broken") return std::unexpected(std::string("there is no map broken"));
  return NextWorld{map, short_match(), nullptr};
}

MapRotation three_maps() { return MapRotation({"one", "two", "broken"}, false, make_short_match); }

/// What comes of an order, however long its thread takes: minutes of waiting are for a test that fails.
std::optional<NextWorld> wait_for_world(MapRotation& rotation, std::string& error) {
  for (int i = 0; i < 180'000; ++i) {
    if (auto next = rotation.take()) return next;
    if (error = rotation.take_error(); !error.empty()) return std::nullopt;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL("neither a world nor an error came");
  return std::nullopt;
}

}  // namespace

TEST_CASE("maps follow each other as in the list, secret ones as in Doom", "[server][rotation]") {
  const std::vector<std::string> few{"MAP07", "MAP01", "MAP31"};
  CHECK(next_in_order(few, 0, false, false) == 1);
  CHECK(next_in_order(few, 1, false, false) == 2);
  CHECK(next_in_order(few, 2, false, false) == 0);  // MAP16 is not in it
  CHECK(next_in_order(few, 0, true, false) == 1);   // no secret exit there
  CHECK(next_in_order(few, 1, false, true) == 0);   // MAP31 is none of the round

  std::vector<std::string> doom2;
  for (int i = 1; i <= 32; ++i) doom2.push_back((i < 10 ? "MAP0" : "MAP") + std::to_string(i));
  CHECK(doom2[next_in_order(doom2, 14, false, true)] == "MAP16");
  CHECK(doom2[next_in_order(doom2, 14, true, true)] == "MAP31");
  CHECK(doom2[next_in_order(doom2, 30, false, true)] == "MAP16");
  CHECK(doom2[next_in_order(doom2, 30, true, true)] == "MAP32");
  CHECK(doom2[next_in_order(doom2, 31, false, true)] == "MAP16");
  CHECK(doom2[next_in_order(doom2, 29, false, true)] == "MAP01");
  const std::vector<std::string> doom{"E1M3", "E1M4", "E1M8", "E1M9", "E2M1"};
  CHECK(next_in_order(doom, 0, true, true) == 3);
  CHECK(next_in_order(doom, 3, false, true) == 1);
  CHECK(next_in_order(doom, 2, false, true) == 4);
  const std::vector<std::string> only{"MAP31"};
  CHECK(next_in_order(only, 0, false, true) == 0);
  CHECK(is_secret_exit(51));
  CHECK(is_secret_exit(124));
  CHECK_FALSE(is_secret_exit(11));
}

TEST_CASE("the next world is due in the last tick of the intermission, not before", "[server][rotation]") {
  MapRotation rotation = three_maps();
  const auto world = short_match();
  const std::uint32_t token = 1;  // a match goes on while somebody is there
  TickInput join;
  join.joins = std::span(&token, 1);
  world->step(join);
  std::optional<NextWorld> next;
  for (int tick = 0; tick < 20 * 20 && !next; ++tick) {
    world->step({});
    rotation.note(*world);
    next = rotation.take();
    if (world->match().phase == MatchPhase::playing) CHECK_FALSE(next);
    // Its thread may be slow: the last tick waits here, as play goes on in a server.
    while (world->match().phase == MatchPhase::intermission && world->match().left_ticks <= 1 && !next) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      next = rotation.take();
    }
  }
  REQUIRE(next);
  CHECK(next->map == "two");
  CHECK(world->match().number == 1);
  CHECK(world->match().phase == MatchPhase::intermission);
  CHECK(rotation.playing() == "two");
}

TEST_CASE("an operator goes on or to any map, and what cannot be made leaves the world",
          "[server][rotation]") {
  MapRotation rotation = three_maps();
  std::string error;
  CHECK_FALSE(rotation.take());
  rotation.go_on();
  CHECK(wait_for_world(rotation, error)->map == "two");
  CHECK_FALSE(rotation.take());
  rotation.go_to("another");
  CHECK(wait_for_world(rotation, error)->map == "another");
  CHECK(rotation.playing() == "another");
  rotation.go_on();
  CHECK_FALSE(wait_for_world(rotation, error));
  CHECK(error == "broken: there is no map broken");
  CHECK(rotation.playing() == "another");
  rotation.go_on();  // behind it
  CHECK(wait_for_world(rotation, error)->map == "one");
  // The last order counts, whatever was under way.
  rotation.go_to("another");
  rotation.go_to("third");
  CHECK(wait_for_world(rotation, error)->map == "third");
}

TEST_CASE("the next world has the kinds that were read well last, whatever the files hold",
          "[server][rotation]") {
  Config config;
  config.blocks_file = config.kinds_file = "gone.toml";
  config.monsters = 0;
  config.clients_max = 2;
  config.terrain = TerrainKind::flat;
  const auto first = read_kinds("[monster.imp]\nhealth = 80\n", "first.toml");
  const auto second = read_kinds("[monster.imp]\nhealth = 90\n", "second.toml");
  REQUIRE((first && second));
  const auto kinds = std::make_shared<KindsToCome>(*first);
  const auto blocks = std::make_shared<const BlockRegistry>(BlockRegistry::builtin());
  const MapRotation::Maker make = world_maker(config, std::nullopt, blocks, kinds);
  const auto next = make("COURTYARD");
  REQUIRE(next.has_value());
  CHECK(next->world->setup().kinds == *first);
  CHECK(next->world->setup().blocks == blocks);
  kinds->set(*second);
  const auto behind = make("COURTYARD");
  REQUIRE(behind.has_value());
  CHECK(behind->world->setup().kinds == *second);
  struct Own final : Game {};
  const MapRotation::Maker own =
      world_maker(config, std::nullopt, blocks, kinds, [] { return std::make_unique<Own>(); });
  for (int i = 0; i < 2; ++i) {
    const auto of_own = own("COURTYARD");
    REQUIRE(of_own.has_value());
    CHECK(dynamic_cast<const Own*>(&of_own->world->game()) != nullptr);
  }
}

TEST_CASE("a world that is ready or being made is made again of what has changed", "[server][rotation]") {
  std::atomic<int> state = 1, made = 0;
  MapRotation rotation({"one", "two"}, false, [&](const std::string& map) -> MapRotation::Made {
    const std::string of = map + " of " + std::to_string(state.load());
    if (made++ == 0) std::this_thread::sleep_for(std::chrono::milliseconds(30));
    return NextWorld{of, short_match(), nullptr};
  });
  std::string error;
  rotation.make_again();  // nothing is being made
  rotation.go_on();
  while (made == 0) std::this_thread::yield();
  state = 2;
  rotation.make_again();
  CHECK(wait_for_world(rotation, error)->map == "two of 2");
  CHECK(made == 2);
}

}  // namespace ashlar::server
