// Matches of players who play to win, server and clients on simulated time: they end as their rules say, and
// everything that must hold of hits, health and score does.

#include <algorithm>
#include <numeric>

#include "client_sim/simulation/simulation.h"
#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "world/examples/capture/capture.h"

using namespace ashlar;
using namespace ashlar::simulation;

namespace {

SimulationConfig duel(GameMode mode, std::uint32_t seconds, std::uint32_t players = 8) {
  SimulationConfig config;
  config.seed = 71;
  config.clients = config.fighters = players;
  config.hostile = false;
  config.monsters = mode == GameMode::cooperative ? 30 : 0;
  config.seconds = seconds;
  config.check_replay = seconds < 60;
  config.faults.emplace();
  config.match = {.mode = mode, .intermission_s = 2};
  return config;
}

std::shared_ptr<const PlacedMap> shut(const SectorMap& map) {
  PlaceOptions options;
  options.surface_z = 24;
  options.doors_open = false;
  options.visibility = true;
  return testing::must_place(map, options);
}

std::string broken_line(const Outcome& outcome) {
  if (!outcome.broken) return "";
  const Broken& b = *outcome.broken;
  return "tick " + std::to_string(b.tick) + ": " + b.invariant + ": " + b.entity + ": " + b.detail;
}

/// The example game on flat ground.
SimulationConfig capture(std::uint32_t players, std::uint32_t seconds) {
  SimulationConfig config = duel(GameMode::sandbox, seconds, players);
  config.terrain = TerrainKind::flat;
  WorldSetup flat;
  flat.terrain = TerrainKind::flat;
  flat.monsters = flat.monsters_max = 0;
  const double ground = space_ground_below(World(flat).space(), {0.5, 0.5}, 0.45, 60, 120).value_or(0);
  const std::array<DVec3, 2> bases{DVec3{4, 4, ground}, DVec3{30, 4, ground}};
  config.game = [bases] { return std::make_unique<examples::Capture>(bases); };
  return config;
}

/// Did every match end by one of its limits, and not before?
void check_ends(const SimulationConfig& config, const Outcome& outcome) {
  const std::uint32_t limit_ticks = std::uint32_t{config.match.time_limit_s} * config.tick_rate_hz;
  for (const MatchEnd& end : outcome.ends) {
    CAPTURE(end.number, end.played_ticks, end.best_score, end.exited);
    const bool by_time = limit_ticks > 0 && end.played_ticks == limit_ticks;
    const bool by_frags = config.match.frag_limit > 0 && end.best_score >= config.match.frag_limit;
    const bool by_exit = config.match.mode == GameMode::cooperative && end.exited;
    CHECK((by_time || by_frags || by_exit));
    CHECK((limit_ticks == 0 || end.played_ticks <= limit_ticks));
  }
}

}  // namespace

TEST_CASE("players who play to win fight a deathmatch to its limit, twice over", "[simulation][matches]") {
  SimulationConfig config = duel(GameMode::deathmatch, 40 / test::slowness, 6);
  config.maps = {shut(testing::builtin_map())};
  config.match.frag_limit = 2;
  config.match.time_limit_s = 16;
  const Outcome outcome = simulate(config);
  CHECK(broken_line(outcome) == "");
  check_ends(config, outcome);
  if (test::slowness > 1) return;
  CHECK(outcome.ends.size() >= 2);
  CHECK(outcome.player_kills >= 2);
  CHECK(outcome.replayed_ticks == outcome.ticks);
}

TEST_CASE("through every fault hits are told once, and health and score agree", "[simulation][matches]") {
  SimulationConfig config = duel(GameMode::teams, 40 / test::slowness, 6);
  config.maps = {shut(testing::builtin_map())};
  config.monsters = 10;
  config.faults.reset();
  config.hostile = true;
  config.fighters = 5;
  config.match = {
      .mode = GameMode::teams, .frag_limit = 10, .time_limit_s = 12, .warmup_s = 2, .intermission_s = 2};
  const Outcome outcome = simulate(config);
  CHECK(broken_line(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
  if (test::slowness == 1) CHECK(outcome.player_kills + outcome.monster_kills > 3);
}

TEST_CASE("spectators watch a deathmatch through every fault, and nobody is told of them",
          "[simulation][matches][spectators]") {
  SimulationConfig config = duel(GameMode::deathmatch, 40 / test::slowness, 6);
  config.maps = {shut(testing::builtin_map())};
  config.faults.reset();
  config.fighters = 4;
  config.watchers = 2;
  config.match.time_limit_s = 12;
  const Outcome outcome = simulate(config);
  CHECK(broken_line(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
  check_ends(config, outcome);
}

TEST_CASE("a player alone carries flags home until he has won", "[simulation][matches]") {
  const SimulationConfig config = capture(1, 60 / test::slowness);
  const Outcome outcome = simulate(config);
  CHECK(broken_line(outcome) == "");
  if (test::slowness > 1) return;
  CHECK(outcome.best_score == examples::Capture::score_to_win);
}

TEST_CASE("players who build end their matches at the limit of blocks or of time", "[simulation][matches]") {
  SimulationConfig config = duel(GameMode::building, 40 / test::slowness, 4);
  config.terrain = TerrainKind::flat;
  config.match.frag_limit = 8;
  config.match.time_limit_s = 15;
  const Outcome outcome = simulate(config);
  CHECK(broken_line(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
  check_ends(config, outcome);
  if (test::slowness > 1) return;
  CHECK(outcome.ends.size() >= 2);
  CHECK(outcome.best_score > 0);
}

TEST_CASE("eight players play capture the flag to its end", "[simulation][matches][.slow]") {
  const SimulationConfig config = capture(8, 600);
  const Outcome outcome = simulate(config);
  CHECK(broken_line(outcome) == "");
  REQUIRE(!outcome.ends.empty());
  CHECK(outcome.ends.front().best_score == examples::Capture::score_to_win);
}

TEST_CASE("a cooperative match in the built-in map goes on", "[simulation][matches]") {
  SimulationConfig config = duel(GameMode::cooperative, 16 / test::slowness, 2);
  config.maps = {shut(testing::builtin_map())};
  config.monsters = 6;
  config.match.time_limit_s = 10;
  const Outcome outcome = simulate(config);
  CHECK(broken_line(outcome) == "");
  check_ends(config, outcome);
  if (test::slowness == 1) CHECK(!outcome.ends.empty());
}

TEST_CASE("eight players end their matches in five of Freedoom's maps in each mode",
          "[simulation][matches][.slow]") {
  const auto wads = testing::freedoom();
  if (wads.empty()) return;
  const auto mode = GENERATE(GameMode::deathmatch, GameMode::teams, GameMode::cooperative);
  const std::string name = GENERATE(std::string("MAP01"), std::string("MAP02"), std::string("MAP04"),
                                    std::string("MAP07"), std::string("MAP11"));
  CAPTURE(mode, name);
  SimulationConfig config = duel(mode, 130);
  config.maps = {shut(testing::must_read(wads.front(), name))};
  config.match.frag_limit = mode == GameMode::cooperative ? 0 : 10;
  config.match.time_limit_s = 60;
  const Outcome outcome = simulate(config);
  CHECK(broken_line(outcome) == "");
  CHECK(outcome.ends.size() >= 2);
  check_ends(config, outcome);
  if (mode != GameMode::cooperative) CHECK(outcome.player_kills > 0);
}

TEST_CASE("cooperative players leave at least three maps by their exits", "[simulation][matches][.slow]") {
  const auto wads = testing::freedoom();
  if (wads.empty()) return;
  int left = 0;
  std::string which;
  for (const char* name : {"MAP01", "MAP02", "MAP03", "MAP04", "MAP07"}) {
    SimulationConfig config = duel(GameMode::cooperative, 600);
    config.monsters = 200;
    config.maps = {shut(testing::must_read(wads.front(), name))};
    const Outcome outcome = simulate(config);
    CHECK(broken_line(outcome) == "");
    const bool by_exit = std::ranges::any_of(outcome.ends, &MatchEnd::exited);
    left += by_exit ? 1 : 0;
    which += std::string(" ") + name + (by_exit ? " left" : " not left");
  }
  INFO(which);
  CHECK(left >= 3);
}
