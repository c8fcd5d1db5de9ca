// Shots are judged where their players saw the world, so far back and no further.
#include <cmath>
#include <map>

#include "tests/catch.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/math/random.h"
#include "world/sim/history.h"
#include "world/sim/shooting.h"
#include "world/sim/shown_between.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Two players in a plain: one runs across, the other one shoots at where it was.
struct Range {
  explicit Range(std::uint16_t rate_hz) {
    WorldSetup setup;
    setup.rules.tick_rate_hz = rate_hz;
    setup.rules.shot_interval_s = 0;
    setup.rules.gravity_mps2 = 0;
    setup.rules.air_acceleration_mps2 = 1000;
    // A trigger that is held to hit what is aimed at.
    auto kinds = std::make_shared<KindSet>(default_kinds());
    kinds->weapons[weapon::pistol].spread_deg = 0;
    setup.kinds = std::move(kinds);
    setup.players_max = 2;
    setup.monsters = 0, setup.monsters_max = 1;
    world = std::make_unique<World>(setup);
    const std::uint32_t tokens[]{0, 1};
    TickInput input;
    input.joins = tokens;
    world->step(input);
    shooter = world->joined()[0].id, runner = world->joined()[1].id;
    // High above the ground, where nothing is in the way.
    const AdminCommand puts[]{{AdminAction::teleport, shooter, {0, 0, 60}},
                              {AdminAction::teleport, runner, {15, -12, 60}}};
    TickInput put;
    put.admin = puts;
    world->step(put);
    note();
  }
  void note() { was[number(world->tick())] = body(runner).position_m; }
  const Body& body(EntityId id) const {
    return world->players().body[static_cast<std::size_t>(world->player_row(id))];
  }
  /// A tick in which the runner runs on. @return whom the shot at a place hit
  EntityId step(std::optional<DVec3> aim, std::uint32_t seen, int told_before = 0, int told_after = 0,
                std::span<const ToldApart> told_apart = {}) {
    PlayerInput inputs[2];
    inputs[0].player = runner;
    inputs[0].command.forward = 1;
    inputs[0].command.yaw =
        Turn16{static_cast<std::uint16_t>((number(world->tick()) / 90) % 2 == 0 ? 16384 : 49152)};
    inputs[1].player = shooter;
    if (aim) {
      const DVec3 way = *aim + DVec3{0, 0, 1} - (body(shooter).position_m + DVec3{0, 0, 1.6});
      inputs[1].command.yaw = Turn16{
          static_cast<std::uint16_t>(std::lround(std::atan2(way.y, way.x) / 6.283185307179586 * 65536))};
      inputs[1].command.pitch = Turn16{static_cast<std::uint16_t>(
          std::lround(std::atan2(way.z, std::hypot(way.x, way.y)) / 6.283185307179586 * 65536))};
      inputs[1].command.buttons = button::attack;
      inputs[1].command.seen = TickId{seen};
      inputs[1].command.told_before = static_cast<std::uint8_t>(told_before);
      inputs[1].command.told_after = static_cast<std::int8_t>(told_after);
    }
    TickInput input;
    input.commands = inputs;
    input.told_apart = told_apart;
    world->step(input);
    note();
    const auto shots = world->shooting().events();
    return shots.empty() ? EntityId{0} : shots.front().hit.target;
  }

  std::unique_ptr<World> world;
  EntityId shooter{}, runner{};
  std::map<std::uint32_t, DVec3> was;
};

}  // namespace

TEST_CASE("a shot hits whom its player saw in its sights, up to a quarter of a second ago",
          "[world][sim][rewind]") {
  const std::uint16_t rate = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  Range range(rate);
  for (int i = 0; i < rate; ++i) range.step(std::nullopt, 0);
  const std::uint32_t limit = range.world->history().ticks_max();
  CHECK(limit == static_cast<std::uint32_t>(rate / 4));
  Rng rng = rng_for(rate, 3);
  int hits = 0, shots = 0;
  for (int i = 0; i < 4 * rate; ++i) {
    const std::uint32_t now = number(range.world->tick());
    const std::uint32_t seen = now - rng.below(limit + 1);
    hits += range.step(range.was.at(seen), seen) == range.runner ? 1 : 0;
    ++shots;
  }
  CHECK(hits == shots);
}

TEST_CASE("who lies about what it saw gains no more than the quarter of a second", "[world][sim][rewind]") {
  Range range(60);
  for (int i = 0; i < 100; ++i) range.step(std::nullopt, 0);
  const std::uint32_t limit = range.world->history().ticks_max();
  int older = 0, newer = 0, unknown = 0;
  for (int i = 0; i < 60; ++i) {
    const std::uint32_t now = number(range.world->tick());
    const DVec3 before = range.was.at(now - limit - 12);
    const bool turned = length(before - range.was.at(now - limit)) < 0.7;
    const EntityId hit = range.step(before, now - limit - 12);
    if (!turned) older += hit == range.runner ? 1 : 0;
  }
  for (int i = 0; i < 30; ++i) {
    // What it claims to have seen in the future is the present.
    const std::uint32_t now = number(range.world->tick());
    newer += range.step(range.was.at(now), now + 40) == range.runner ? 1 : 0;
    const std::uint32_t next = number(range.world->tick());
    unknown += range.step(range.was.at(next), 0) == range.runner ? 1 : 0;
  }
  CHECK(older == 0);
  CHECK(newer == 30);
  CHECK(unknown == 30);
}

TEST_CASE("the ring of what was is bounded, and knows nothing that is older", "[world][sim][rewind]") {
  Rules rules;
  PlayerTable players;
  MonsterTable monsters;
  players.resize(2);
  monsters.resize(1);
  players.id[0] = make_entity_id(0, 1);
  players.health[0] = 100;
  std::vector<std::vector<SectorHeights>> heights(1, std::vector<SectorHeights>(1));
  History history(rules, 2, 1, heights);
  REQUIRE(history.ticks_max() == 15);
  for (std::uint32_t tick = 1; tick <= 100; ++tick) {
    players.body[0].position_m.x = tick;
    heights[0][0].floor_m = -static_cast<double>(tick);
    history.record(TickId{tick}, players, monsters, heights);
    for (std::uint32_t asked = 0; asked <= tick + 1; ++asked) {
      const History::Frame* frame = history.at(TickId{asked});
      const bool held = asked >= 1 && asked <= tick && tick - asked <= 15 + 30;
      REQUIRE((frame != nullptr) == held);
      if (!held) continue;
      REQUIRE(frame->position_of(0, players.id[0])->x == asked);
      REQUIRE_FALSE(frame->position_of(0, make_entity_id(0, 2)).has_value());
      REQUIRE_FALSE(frame->position_of(1, make_entity_id(1, 1)).has_value());
      REQUIRE(frame->heights(0)[0].floor_m == -static_cast<double>(asked));
    }
  }
}

TEST_CASE("a shot is judged between the two states that its picture was made of", "[world][sim][rewind]") {
  Range range(60);
  for (int i = 0; i < 100; ++i) range.step(std::nullopt, 0);
  int corners = 0, between = 0, at_the_tick = 0, on = 0, wide = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::uint32_t seen = number(range.world->tick()) - 8;
    const DVec3 from = range.was.at(seen - 6), to = range.was.at(seen + 6);
    const DVec3 shown = from + (to - from) * 0.5;
    const DVec3 going_on = range.was.at(seen - 6) + (range.was.at(seen - 6) - range.was.at(seen - 12)) * 1.0;
    // Only where it turned meanwhile is there a difference.
    if (length(shown - range.was.at(seen)) < 0.35) {
      range.step(std::nullopt, 0);
      continue;
    }
    ++corners;
    switch (corners % 4) {
      case 0: between += range.step(shown, seen, 6, 6) == range.runner ? 1 : 0; break;
      case 1: at_the_tick += range.step(range.was.at(seen), seen) == range.runner ? 1 : 0; break;
      case 2: on += range.step(going_on, seen, 12, -6) == range.runner ? 1 : 0; break;
      default:
        // Of states that are out of the ring nothing is known.
        wide += range.step(range.was.at(seen), seen, 100, 6) == range.runner ? 1 : 0;
    }
  }
  CAPTURE(corners, between, at_the_tick, on, wide);
  REQUIRE(corners >= 24);
  CHECK(between == corners / 4);
  CHECK(at_the_tick == (corners + 3) / 4);
  CHECK(on == (corners + 2) / 4);
  CHECK(wide == (corners + 1) / 4);
}

TEST_CASE("who was told of at other ticks than the rest is shot at where it was shown between these",
          "[world][sim][rewind]") {
  Range range(60);
  for (int i = 0; i < 100; ++i) range.step(std::nullopt, 0);
  int corners = 0, apart = 0, others = 0, with_the_rest = 0;
  for (int i = 0; i < 1500; ++i) {
    const std::uint32_t seen = number(range.world->tick()) - 8;
    const DVec3 from = range.was.at(seen - 6), to = range.was.at(seen + 6);
    const DVec3 shown = from + (to - from) * 0.5;
    if (length(shown - range.was.at(seen)) < 0.35) {
      range.step(std::nullopt, 0);
      continue;
    }
    // The command says that the tick that was seen was told.
    const ToldApart told[]{{range.shooter, range.runner, 6, 6}};
    const ToldApart of_others[]{{range.runner, range.runner, 6, 6}, {range.shooter, range.shooter, 6, 6}};
    switch (++corners % 3) {
      case 0: apart += range.step(shown, seen, 0, 0, told) == range.runner ? 1 : 0; break;
      case 1: others += range.step(range.was.at(seen), seen, 0, 0, of_others) == range.runner ? 1 : 0; break;
      default: with_the_rest += range.step(shown, seen, 0, 0) == range.runner ? 1 : 0;
    }
  }
  CAPTURE(corners, apart, others, with_the_rest);
  REQUIRE(corners >= 24);
  CHECK(apart == corners / 3);
  CHECK(others == (corners + 2) / 3);
  CHECK(with_the_rest == 0);
}

TEST_CASE(
    "somebody is shown on the straight way between two states, goes on for a while, and is not shown to "
    "fly to where he was put",
    "[world][sim][rewind]") {
  const Rules rules;
  const DVec3 a{1, 2, 3}, b{1.5, 2, 3};
  CHECK(shown_between({a, 10, b, 16}, 10, rules) == a);
  CHECK(shown_between({a, 10, b, 16}, 13, rules).x == Approx(1.25));
  CHECK(shown_between({a, 10, b, 16}, 16, rules) == b);
  CHECK(shown_between({a, 10, b, 16}, 19, rules).x == Approx(1.75));
  // For a tenth of a second, or until the next state is due.
  CHECK(shown_between({a, 10, b, 16}, 60, rules).x == Approx(2.0));
  CHECK(shown_between({a, 10, b, 22}, 60, rules).x == Approx(2.0));
  CHECK(shown_between({a, 10, b, 50}, 200, rules).x == Approx(1.5 + 0.5 * 18 / 40));
  const DVec3 far{40, 2, 3};
  CHECK(shown_between({a, 10, far, 16}, 15, rules) == a);
  CHECK(shown_between({a, 10, far, 16}, 16, rules) == far);
  CHECK(shown_between({a, 10, far, 16}, 18, rules) == far);
}

namespace {

/// A door between two players, opened by one of them: through it he shoots.
struct DoorRange {
  DoorRange() {
    PlaceOptions options;
    options.surface_z = 32;
    options.doors_open = options.doorway = false;
    auto placed = place_map(row_of_rooms({{0, 256}, {0, 0}, {0, 256}}, {{1, 0}, {1, 0, true}}), options);
    REQUIRE(placed.has_value());
    map = *placed;
    WorldSetup setup;
    setup.maps = {map};
    setup.rules.shot_interval_s = 0;
    setup.players_max = 2;
    setup.monsters = 0, setup.monsters_max = 1;
    world = std::make_unique<World>(setup);
    const std::uint32_t tokens[]{0, 1};
    TickInput input;
    input.joins = tokens;
    world->step(input);
    shooter = world->joined()[0].id, target = world->joined()[1].id;
    const AdminCommand puts[]{{AdminAction::teleport, shooter, at(112)},
                              {AdminAction::teleport, target, at(320)}};
    TickInput put;
    put.admin = puts;
    world->step(put);
    for (int i = 0; i < 30; ++i) step(0, 0);
  }
  DVec3 at(double x) const {
    const DVec2 p = map->to_world({x, 128});
    return {p.x, p.y, map->z_to_world(0)};
  }
  double gap_m() const {
    const HeightsView heights = world->space().maps[0].heights;
    return heights[1].ceiling_m - heights[1].floor_m;
  }
  std::uint32_t now() const { return number(world->tick()); }
  EntityId step(std::uint16_t buttons, std::uint32_t seen) {
    PlayerInput command;
    command.player = shooter;
    command.command.buttons = buttons;
    command.command.seen = TickId{seen};
    const PlayerInput commands[]{command};
    TickInput input;
    input.commands = commands;
    world->step(input);
    const auto shots = world->shooting().events();
    return shots.empty() ? EntityId{0} : shots.front().hit.target;
  }
  std::shared_ptr<const PlacedMap> map;
  std::unique_ptr<World> world;
  EntityId shooter{}, target{};
};

}  // namespace

TEST_CASE("a shot goes through a door that its player saw open, and stops at one that he saw shut",
          "[world][sim][rewind]") {
  DoorRange d;
  constexpr double eye_m = 1.7;  // a shot goes through above this, as it starts at 1.6 m
  REQUIRE(d.gap_m() == 0);
  const std::uint32_t shut = d.now();
  d.step(button::use, 0);
  while (d.gap_m() < eye_m) d.step(0, 0);
  REQUIRE(d.now() - shut < 240);
  const std::uint32_t just_open = d.now();
  CHECK(d.step(button::attack, just_open) == d.target);
  CHECK(d.step(button::attack, just_open - 12) == EntityId{0});
  // It stands open, and comes down again.
  while (d.gap_m() > eye_m) d.step(0, 0);
  while (d.gap_m() > 1.5) d.step(0, 0);
  const std::uint32_t closing = d.now();
  CHECK(d.step(button::attack, closing) == EntityId{0});
  CHECK(d.step(button::attack, closing - 12) == d.target);
  CHECK(d.step(button::attack, 0) == EntityId{0});
}
