#include "client_sim/simulation/simulation.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "client_sim/simulation/match.h"
#include "server/host/host.h"
#include "tests/catch.h"
#include "tests/slowness.h"
#include "tests/world/bsp/maps.h"
#include "world/collide/prop.h"

using namespace ashlar::simulation;

namespace {

using ashlar::test::slowness;

/// On terrain alone; with the built-in map, its visibility set included, as `ashlar-sim simulate` plays.
enum class Ground { terrain, map };

SimulationConfig match_of(std::uint64_t seed, std::uint32_t seconds, Ground ground = Ground::terrain) {
  SimulationConfig config;
  if (ground == Ground::map) {
    ashlar::PlaceOptions options;
    options.surface_z = 24;
    options.doors_open = false;
    options.visibility = true;
    config.maps.push_back(ashlar::testing::must_place(ashlar::testing::builtin_map(), options));
  }
  config.seed = seed;
  config.seconds = seconds;
  return config;
}

std::string told(const Outcome& outcome) {
  if (!outcome.broken) return "";
  const Broken& b = *outcome.broken;
  return "tick " + std::to_string(b.tick) + ": " + b.invariant + ": " + b.entity + ": " + b.detail;
}

}  // namespace

TEST_CASE("ten simulated minutes with every fault break nothing", "[simulation]") {
  // Longer by the environment, as ./dev bench simulate is: simulated seconds for each of five seeds.
  const char* wanted = std::getenv("ASHLAR_SIMULATED_SECONDS");
  const auto seconds =
      wanted == nullptr ? 120 / slowness : static_cast<std::uint32_t>(std::max(1, std::atoi(wanted)));
  const std::uint64_t seed = GENERATE(11u, 12u, 13u, 14u, 15u);
  CAPTURE(seed);
  const Outcome outcome = simulate(match_of(seed, seconds, seed % 2 == 0 ? Ground::terrain : Ground::map));
  CHECK(told(outcome) == "");
  CHECK(outcome.sim_ticks == seconds * 60);
  CHECK(outcome.joins >= 14);
  CHECK(outcome.replayed_ticks == outcome.ticks);
  if (seconds < 60) return;
  CHECK(outcome.fault_count() > 100);
  CHECK(outcome.links.lost > 1000);
  CHECK(outcome.links.corrupted > 0);
  CHECK(outcome.links.cut > 200);
  CHECK(outcome.chat_lines > 100);
  CHECK(outcome.resumed > 2);
  CHECK(outcome.moved > 2);
}

TEST_CASE("what the match itself keeps of what was does not count as the server's memory",
          "[simulation][memory]") {
  // Servers that die early leave the ring of the world's frames to be filled after the first minute.
  SimulationConfig config = match_of(8, 115 / slowness, Ground::map);
  config.clients = 8;
  config.monsters = 50;
  config.check_replay = false;
  config.rates = rates_from_text("all=3,restart=0", config.rates).value();
  CHECK(told(simulate(config)) == "");
}

TEST_CASE("hills are played on with every fault, and replayed", "[simulation][terrain]") {
  SimulationConfig config = match_of(61, 40 / slowness);
  config.terrain = ashlar::TerrainKind::hills;
  config.clients = 8;
  config.spawn = {{250, 250}, 60};
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.joins >= 6);
  CHECK(outcome.replayed_ticks == outcome.ticks);
}

TEST_CASE("half of the players dig and build of what they dug, through every fault", "[simulation][items]") {
  SimulationConfig config = match_of(62, 40 / slowness);
  config.clients = 8;
  config.survival = true;
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
  CHECK(outcome.items_dug > (slowness == 1 ? 5U : 0U));
  if (slowness == 1) CHECK(outcome.treasures > 0);  // seldom enough that a shorter match may find none
}

TEST_CASE("half of the players are sent the ground while others dig in it, through every fault",
          "[simulation][ground]") {
  SimulationConfig config = match_of(63, 20 / slowness);
  config.clients = 8;
  config.survival = true;
  config.stream_ground = 4;
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
}

TEST_CASE("the same seed gives the same match, another seed another", "[simulation]") {
  SimulationConfig config = match_of(21, slowness == 1 ? 20 : 6);
  config.clients = 8;
  const Outcome first = simulate(config);
  const Outcome second = simulate(config);
  CHECK(told(first) == "");
  CHECK(first.hash == second.hash);
  CHECK(first.links.delivered == second.links.delivered);
  CHECK(first.checks == second.checks);
  config.seed = 22;
  CHECK(simulate(config).hash != first.hash);
}

TEST_CASE("a list of faults given plays as the same list drawn from the seed", "[simulation]") {
  SimulationConfig config = match_of(23, slowness == 1 ? 15 : 5);
  config.clients = 6;
  const Outcome drawn = simulate(config);
  config.faults = plan_faults(config.seed, config.rates, config.clients, config.seconds * 60, 60);
  CHECK(simulate(config).hash == drawn.hash);
  config.faults->clear();
  const Outcome none = simulate(config);
  CHECK(none.hash != drawn.hash);
  CHECK(none.fault_count() == 0);
}

TEST_CASE("props stand in the simulated world, at its clients and in its replay", "[simulation]") {
  ashlar::PropModel box;
  box.name = "box.obj";
  for (int corner = 0; corner < 8; ++corner)
    box.vertices.push_back({static_cast<double>(corner & 1), static_cast<double>(corner >> 1 & 1),
                            static_cast<double>(corner >> 2)});
  box.triangles = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                   {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  SimulationConfig config = match_of(25, 5);
  config.clients = 4;
  config.faults.emplace();
  const Outcome bare = simulate(config);
  for (const double x : {3.0, 9.0}) {
    const auto prop = ashlar::Prop::place(box, {{x, 2, 12}, ashlar::Turn16{8192}, 2});
    REQUIRE(prop.has_value());
    config.props.push_back(*prop);
  }
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.joins == 4);
  CHECK(outcome.replayed_ticks == outcome.ticks);
  CHECK(outcome.hash != bare.hash);
}

TEST_CASE("a map may stand in the simulated world twice", "[simulation]") {
  SimulationConfig config = match_of(27, 5, Ground::map);
  config.clients = 4;
  ashlar::PlaceOptions options = config.maps.front()->options();
  options.origin_block.x = config.maps.front()->box().max.x + 20;
  config.maps.push_back(ashlar::testing::must_place(ashlar::testing::builtin_map(), options));
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.joins >= 4);
  CHECK(outcome.replayed_ticks == outcome.ticks);
}

TEST_CASE("every way of keeping bodies out of walls holds through a match", "[simulation]") {
  SimulationConfig config = match_of(28, 40 / slowness, Ground::map);
  config.clients = 8;
  config.player_solver = GENERATE(ashlar::Solver::sweep, ashlar::Solver::correct);
  config.monster_solver =
      config.player_solver == ashlar::Solver::sweep ? ashlar::Solver::correct : ashlar::Solver::sweep;
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
}

TEST_CASE("slow ticks and rare snapshots break nothing", "[simulation]") {
  SimulationConfig config = match_of(29, 40, Ground::map);
  config.clients = 8;
  config.tick_rate_hz = GENERATE(std::uint16_t{10}, std::uint16_t{30});
  config.snapshot_every_ticks = config.tick_rate_hz / 5;
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
}

TEST_CASE("who comes and walks where the ground is late waits for it and falls nowhere", "[simulation]") {
  // Far from the home region, so that every step needs ground; it takes up to three seconds most of the time.
  SimulationConfig config = match_of(32, 60 / slowness);
  config.clients = 12;
  config.monsters = 4;
  config.spawn = {{1500, -900}, 60};
  config.rates = rates_from_text("all=0,slow-ground=10,overload=2,death=1,restart=0.5", config.rates).value();
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
  CHECK(outcome.joins >= 9);
  CHECK(outcome.columns >= 49);
}

TEST_CASE("snapshots without room for all tell of all in turns", "[simulation]") {
  // A few clients, and room for a third of what is near them: every fault there is, in every order of turns.
  SimulationConfig config = match_of(30, 40 / slowness);
  config.clients = 12;
  config.monsters = 300;
  config.snapshot_bytes_max = 4800;
  config.snapshot_every_ticks = GENERATE(std::uint16_t{1}, std::uint16_t{3});
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
}

namespace {

/// So many in one cell, with room in a snapshot for four of five, so that they come in turns.
SimulationConfig crowd_of(std::uint32_t clients, std::uint32_t snapshot_bytes_max) {
  SimulationConfig config = match_of(31, 7);
  config.clients = clients;
  config.monsters = 0;
  config.tick_rate_hz = 20;  // ticks are what costs, and by ticks is counted who may come in
  config.spawn = {{32, 32}, 14};
  config.rates = FaultRates::none();
  config.hostile = false;
  config.snapshot_bytes_max = snapshot_bytes_max;
  config.check_replay = false;
  return config;
}

}  // namespace

TEST_CASE("with hundreds of players in one cell each is told of all", "[simulation][crowd]") {
  SimulationConfig config = crowd_of(300, 4800);
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.joins >= config.clients);
  config.defects.no_turns = true;
  const Outcome dark = simulate(config);
  REQUIRE(dark.broken.has_value());
  // Whichever is looked at first: somebody is not told of, or not any more.
  CAPTURE(dark.broken->invariant);
  CHECK((dark.broken->invariant.find("whom its player sees") != std::string::npos ||
         dark.broken->invariant.find("client's picture") != std::string::npos));
}

TEST_CASE("with a thousand players in one cell each is told of all", "[.slow][simulation][crowd]") {
  const SimulationConfig config = crowd_of(1000, 14400);
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.joins >= config.clients);
}

TEST_CASE("lines that lose, reorder, double and spoil all the time cost no message and no session",
          "[simulation][soak]") {
  // The whole soak is a command line in the folder's README. What is said on streams is said once and in
  // order, and sessions stay: invariants of a run. Nobody is in trouble that counts, so nobody is excused.
  const std::uint64_t seed = GENERATE(71u, 72u);
  CAPTURE(seed);
  SimulationConfig config = match_of(seed, 240 / slowness, Ground::map);
  config.clients = 4;
  config.monsters = 10;
  config.hostile = false;
  config.rates = FaultRates::none();
  config.line = {20, 30, 2, 1};
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.resumed == 0);
  CHECK(outcome.replayed_ticks == outcome.ticks);
  CHECK(outcome.chat_lines >= config.seconds / 8);
  CHECK(outcome.links.lost > outcome.links.taken / 10);
  CHECK(outcome.links.corrupted > 0);
}

TEST_CASE("no session is lost that keeps one packet in five", "[simulation][soak]") {
  SimulationConfig config = match_of(73, 100, Ground::terrain);
  config.clients = 4;
  config.monsters = 10;
  config.hostile = false;
  config.faults.emplace();
  // Seat 3 plays over TCP: it is told late, and loses nothing.
  for (std::uint16_t i = 0; i < config.clients; ++i)
    config.faults->push_back({10 * 60, 80 * 60, FaultKind::loss, i, 80});
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.joins == 4);
  CHECK(outcome.resumed == 0);
  CHECK(outcome.links.lost > outcome.links.taken / 3);
}

TEST_CASE("all clients are frozen for a second, again and again, and soon see the world as it is",
          "[simulation][false_players]") {
  SimulationConfig config = match_of(74, 40, GENERATE(Ground::terrain, Ground::map));
  config.clients = 8;
  config.hostile = false;
  config.faults.emplace();
  for (std::uint32_t second = 15; second + 5 < config.seconds; second += 15)
    config.faults->push_back({second * 60, 60, FaultKind::freeze, server_subject, 0});
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.joins >= 8);
  CHECK(outcome.resumed == 0);
}

TEST_CASE("who acknowledges nothing, or at random, costs nobody else a packet",
          "[simulation][false_players]") {
  SimulationConfig config = match_of(75, 30);
  config.clients = 6;
  config.monsters = 20;
  config.hostile = false;
  config.faults.emplace();
  const Outcome alone = simulate(config);
  CHECK(told(alone) == "");
  for (const FaultKind kind : {FaultKind::deaf, FaultKind::liar}) {
    CAPTURE(name(kind));
    config.faults->clear();
    for (std::uint16_t seat = 0; seat < 3; ++seat) config.faults->push_back({5 * 60, 24 * 60, kind, seat, 0});
    const Outcome beside = simulate(config);
    CHECK(told(beside) == "");
    CHECK(beside.joins >= alone.joins + 3);  // they play, too
    CHECK(beside.resumed == alone.resumed);
    CHECK(beside.client_bytes_max <= 64 * 1024);
    // Of datagrams, that the links of the six carried: the three are to be seen as any others are.
    CHECK(static_cast<double>(beside.links.delivered) < 1.1 * static_cast<double>(alone.links.delivered));
    CHECK(static_cast<double>(beside.links.delivered) > 0.95 * static_cast<double>(alone.links.delivered));
  }
}

TEST_CASE("servers that are killed again and again on a bad disk lose nothing that was announced",
          "[simulation][kept]") {
  const bool survival = GENERATE(false, true);
  CAPTURE(survival);
  const std::uint32_t seconds = slowness == 1 ? 120 : 20;
  SimulationConfig config = match_of(survival ? 4 : 3, seconds);
  config.clients = 6;
  config.monsters = 4;
  config.survival = survival;
  config.rates =
      rates_from_text("all=0,power-cut=12,restart=6,disk-full=2,disk-errors=4", config.rates).value();
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.replayed_ticks == outcome.ticks);
  CHECK(outcome.kills > seconds / 10);
  // A short run may spend much of its time away, or on a disk that fails.
  CHECK(outcome.groups_saved > seconds / (slowness == 1 ? 4 : 8));
  if (seconds >= 60) CHECK(outcome.saves_failed > 0);
}

TEST_CASE("a leap of the server's clock counts to who is away", "[simulation][away]") {
  const bool leaps = GENERATE(false, true);
  CAPTURE(leaps);
  SimulationConfig config = match_of(76, 50);
  config.clients = 2;
  config.monsters = 2;
  config.hostile = false;
  config.check_replay = false;
  // Silent for 23 s: the server gives its session up after ten of them.
  config.faults = {{10 * 60, 23 * 60, FaultKind::resume, 0, 1}};
  for (std::uint32_t leap = 0; leaps && leap < 5; ++leap)
    config.faults->push_back({(25 + leap) * 60, 0, FaultKind::server_jump, server_subject, 2000});
  const Outcome outcome = simulate(config);
  CHECK(told(outcome) == "");
  CHECK(outcome.joins == 2 + (leaps ? 1 : 0));
  CHECK(outcome.resumed == (leaps ? 0 : 1));
}

TEST_CASE("packets of a dead client that somebody held back keep its session for as long as they come",
          "[simulation][forge]") {
  // What it says for three seconds is lost on its way, but not to him who reads along; then it dies.
  SimulationConfig config = match_of(GENERATE(1u, 2u), 45);
  config.clients = 2;
  config.monsters = 2;
  config.hostile = false;
  config.check_replay = false;
  config.faults = {{10 * 60, 3 * 60, FaultKind::partition, 0, 1},
                   {10 * 60, 26 * 60, FaultKind::forge, 0, 1},
                   {13 * 60, 25 * 60, FaultKind::death, 0, 0}};
  CHECK(told(simulate(config)) == "");
}

TEST_CASE("deliberately wrong servers are each caught within a simulated minute",
          "[simulation][statistics]") {
  using ashlar::server::Defects;
  struct Wrong {
    const char* name;
    bool Defects::* defect;
    const char* invariant;  ///< part of the name of the check that has to notice
    const char* rates;      ///< over the defaults: what the defect shows by, often enough for one minute
    Ground ground = Ground::terrain;
    std::array<const char*, 2> or_else{};  ///< what may notice it before that
  };
  const Wrong wrong = GENERATE(
      Wrong{"early-ack", &Defects::early_ack, "confirmed commands", ""},
      Wrong{"reuse-id", &Defects::reuse_id, "ids are not used again", ""},
      Wrong{"stale-input", &Defects::stale_input, "players do what", ""},
      Wrong{"replay-window", &Defects::replay_window, "not taken again", "duplicate=2"},
      Wrong{"pays-for-forgery", &Defects::pays_for_forgery, "is taken, whatever is forged", "all=0,forge=6"},
      Wrong{"tells-forger",
            &Defects::tells_forger,
            "forged packets",
            "all=0,forge=6",
            Ground::terrain,
            {"without trouble plays", "whom its player sees"}},
      Wrong{"moves-at-once", &Defects::moves_at_once, "forged packets", "all=0,forge=6"},
      Wrong{"unproven-resume", &Defects::unproven_resume, "belong to one player", "all=0,forge=6"},
      Wrong{"no-grace", &Defects::no_grace, "body back", "all=0,resume=4"},
      Wrong{"waits-for-ever", &Defects::waits_for_ever, "not for ever", "all=0,death=4"},
      Wrong{"lost-wake", &Defects::lost_wake, "chat keeps its order", "all=0,loss=1"},
      Wrong{"ghost", &Defects::ghost, "sessions, addresses and players agree", "death=2"},
      Wrong{"blind-spot", &Defects::blind_spot, "whom its player sees", ""},
      Wrong{"lost-heights", &Defects::lost_heights, "floors and ceilings", "all=0", Ground::map},
      Wrong{"lost-line", &Defects::lost_line, "chat keeps its order", ""},
      Wrong{"no-turns", &Defects::no_turns, "whom its player sees", ""},
      Wrong{"lost-part", &Defects::lost_part, "without trouble plays", "all=0", Ground::map},
      Wrong{"early-saved", &Defects::early_saved, "announced as saved", "all=0,power-cut=6"},
      Wrong{"lying-disk", &Defects::lying_disk, "announced as saved", "all=0,power-cut=6"},
      Wrong{"no-refusals", &Defects::no_refusals, "cannot be saved is refused", "all=0,disk-full=12"},
      Wrong{"wrong-eyes", &Defects::wrong_eyes, "whom its player sees", "", Ground::map});
  CAPTURE(wrong.name);
  SimulationConfig config = match_of(1, 60, wrong.ground);
  config.check_replay = false;
  config.defects.*wrong.defect = true;
  config.rates = rates_from_text(wrong.rates, config.rates).value();
  // Many who dig at many places.
  if (config.defects.no_refusals) config.clients = 40, config.monsters = 1, config.survival = true;
  if (config.defects.no_turns) config.monsters = 300, config.snapshot_bytes_max = 4800;
  const Outcome outcome = simulate(config);
  REQUIRE(outcome.broken.has_value());
  CAPTURE(outcome.broken->invariant, outcome.broken->entity, wrong.invariant);
  const auto noticed = [&](const char* by) {
    return by != nullptr && outcome.broken->invariant.find(by) != std::string::npos;
  };
  CHECK((noticed(wrong.invariant) || std::ranges::any_of(wrong.or_else, noticed)));
  CHECK(outcome.broken->tick < 60 * 60);
}

TEST_CASE("what breaks is shrunk to the faults that it takes", "[simulation][shrink]") {
  // A session that times out leaves a ghost: it takes one client that dies, or is cut off for long.
  SimulationConfig config = match_of(1, 60);
  config.clients = 8;
  config.monsters = 4;
  config.rates[FaultKind::death] = 2;
  config.check_replay = false;
  config.defects.ghost = true;
  const Outcome outcome = simulate(config);
  REQUIRE(outcome.broken.has_value());
  const ShrunkOutcome shrunk = shrink_run(config, outcome, slowness == 1 ? 30 : 8);
  CHECK(shrunk.broken.invariant == outcome.broken->invariant);
  if (slowness == 1) CHECK(shrunk.faults.size() <= 3);
  config.faults = shrunk.faults;
  config.seconds = outcome.broken->tick / 60 + 2;
  const Outcome again = simulate(config);
  REQUIRE(again.broken.has_value());
  CHECK(again.broken->tick == shrunk.broken.tick);
}

TEST_CASE("who is far from an overloaded server's clients is told of when there is time",
          "[simulation][overload]") {
  // Nothing else goes wrong: stalls without end, and a few that come now and then.
  SimulationConfig config = match_of(GENERATE(std::uint64_t{1}, std::uint64_t{4}), 40);
  config.clients = 6;
  config.tick_rate_hz = 20;
  config.snapshot_every_ticks = 2;
  config.check_replay = false;
  config.faults.emplace();
  for (std::uint32_t i = 0; i < 24; ++i)
    config.faults->push_back({200 + 12 * i, 6, FaultKind::overload, server_subject, 0});
  ashlar::simulation::Match match(config);
  unsigned highest = 0;
  while (match.advance())
    if (match.host() != nullptr) highest = std::max<unsigned>(highest, match.host()->status().overload_rung);
  CHECK(told(match.finish()) == "");
  CHECK(highest > 0);
}
