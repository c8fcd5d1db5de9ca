// What only shows of what moves: steps, splashes, items taken, lines used, floors and ceilings.
#include "world/sim/motion_cues.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "tests/catch.h"
#include "tests/world/sim/builders.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/pickups.h"
#include "world/sim/sector_movers.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Players in a world, and every cue of its ticks.
struct Stage {
  explicit Stage(WorldSetup given, std::uint32_t players = 1) : setup(std::move(given)) {
    world = std::make_unique<World>(setup);
    std::vector<std::uint32_t> tokens;
    for (std::uint32_t i = 0; i < players; ++i) tokens.push_back(i + 1);
    TickInput input;
    input.joins = tokens;
    step(input);
    for (const Joined& joined : world->joined()) ids.push_back(joined.id);
  }
  static WorldSetup terrain(std::uint16_t rate_hz = 60, std::uint32_t players = 1) {
    WorldSetup setup;
    setup.monsters = 0, setup.monsters_max = 1, setup.players_max = players;
    setup.rules.tick_rate_hz = rate_hz;
    return setup;
  }
  static WorldSetup map(const SectorMap& source) {
    PlaceOptions options;
    options.surface_z = 32;
    auto placed = place_map(source, options);
    if (!placed) FAIL(placed.error().line());
    WorldSetup setup = terrain();
    setup.maps = {*placed};
    return setup;
  }
  void step(const TickInput& input = {}) {
    world->step(input);
    cues.stepped(*world);
    most = std::max(most, cues.cues().size());
    for (const WorldCue& cue : cues.cues()) heard.push_back(cue);
  }
  void admin(const AdminCommand& act) {
    TickInput input;
    input.admin = {&act, 1};
    step(input);
  }
  void put(EntityId who, DVec3 at) { admin({AdminAction::teleport, who, at}); }
  void fill(IVec3 low, IVec3 high, BlockId id) {
    AdminCommand act{AdminAction::fill_box, {}, {}};
    act.box = {low, high};
    act.id = id;
    admin(act);
  }
  void walk(const PlayerCommand& command, int ticks) {
    std::vector<PlayerInput> inputs;
    for (const EntityId id : ids) inputs.push_back({id, command});
    TickInput input;
    input.commands = inputs;
    for (int i = 0; i < ticks; ++i) step(input);
  }
  std::size_t count(CueKind kind) const {
    return static_cast<std::size_t>(
        std::ranges::count_if(heard, [kind](const WorldCue& cue) { return cue.kind == kind; }));
  }
  const WorldCue* first(CueKind kind) const {
    const auto at = std::ranges::find(heard, kind, &WorldCue::kind);
    return at == heard.end() ? nullptr : &*at;
  }

  WorldSetup setup;
  std::unique_ptr<World> world;
  MotionCues cues;
  std::vector<EntityId> ids;
  std::vector<WorldCue> heard;
  std::size_t most = 0;
};

PlayerCommand forwards(double pace = 1) {
  PlayerCommand command;
  command.forward = pace;
  return command;
}

/// A bridge of bricks in the air, from x = -8 eastwards.
void bridge(Stage& stage, std::int32_t long_m = 60) {
  for (std::int32_t x = -8; x < long_m; x += 16) stage.fill({x, -4, 99}, {x + 16, 4, 100}, BlockId::brick);
}

}  // namespace

TEST_CASE("who runs steps once every two metres, by its distance at any tick rate, and says on what",
          "[world][sim][cues]") {
  const auto rate = GENERATE(std::uint16_t{10}, std::uint16_t{60}, std::uint16_t{128});
  Stage stage(Stage::terrain(rate));
  bridge(stage);
  stage.put(stage.ids[0], {-6, 0, 100});
  stage.walk({}, rate / 2);
  stage.heard.clear();
  const double from = stage.world->players().body[0].position_m.x;
  stage.walk(forwards(), 4 * rate);
  const double way = stage.world->players().body[0].position_m.x - from;
  REQUIRE(way > 15);
  CHECK(std::fabs(static_cast<double>(stage.count(CueKind::step)) - way / MotionCues::stride_m) <= 1.5);
  REQUIRE(stage.first(CueKind::step) != nullptr);
  CHECK(stage.first(CueKind::step)->who == stage.ids[0]);
  CHECK(stage.first(CueKind::step)->detail == static_cast<std::uint8_t>(BlockId::brick));
  CHECK_FALSE(stage.first(CueKind::step)->placed);
}

TEST_CASE("who stands, walks softly, is in the air or is put elsewhere makes no step", "[world][sim][cues]") {
  Stage stage(Stage::terrain());
  bridge(stage);
  stage.put(stage.ids[0], {-6, 0, 100});
  stage.walk({}, 60);
  stage.heard.clear();
  stage.walk(forwards(0.25), 180);
  CHECK(stage.count(CueKind::step) == 0);
  for (int i = 0; i < 20; ++i) stage.put(stage.ids[0], {i % 2 == 0 ? 3.0 : -3.0, 0, 100});
  stage.walk({}, 60);
  CHECK(stage.count(CueKind::step) == 0);
  stage.put(stage.ids[0], {0, 0, 118});  // and runs on in the air
  stage.walk(forwards(), 60);
  CHECK(stage.world->players().body[0].grounded == 0);
  CHECK(stage.count(CueKind::step) == 0);
}

TEST_CASE("a fall into water is a splash, once, and says of what, and who appears in it makes none",
          "[world][sim][cues]") {
  Stage stage(Stage::terrain());
  stage.fill({-4, -4, 94}, {4, 4, 102}, BlockId::stone);
  stage.fill({-3, -3, 95}, {3, 3, 100}, BlockId::water);
  stage.fill({-3, -3, 100}, {3, 3, 102}, BlockId::air);
  stage.put(stage.ids[0], {0, 0, 97});
  stage.walk({}, 60);
  CHECK(stage.count(CueKind::splash) == 0);
  stage.put(stage.ids[0], {0, 0, 103.5});
  stage.walk({}, 90);
  REQUIRE(stage.count(CueKind::splash) == 1);
  CHECK(stage.first(CueKind::splash)->detail == static_cast<std::uint8_t>(BlockId::water));
  CHECK(stage.first(CueKind::splash)->place_m.z == Approx(100).margin(0.5));
}

TEST_CASE("a crowd's steps are bounded in each tick and cell, and none of it stays silent",
          "[world][sim][cues]") {
  constexpr std::uint32_t players = 64;
  Stage stage(Stage::terrain(60, players), players);
  bridge(stage);
  for (std::uint32_t i = 0; i < players; ++i)
    stage.put(stage.ids[i], {-6 + 0.7 * (i % 8), -3 + 0.7 * (i / 8), 100});
  stage.walk({}, 60);
  stage.heard.clear(), stage.most = 0;
  stage.walk(forwards(), 180);
  CHECK(stage.most > 1);
  CHECK(stage.most <= 6 * MotionCues::cell_max);  // a crowd this wide is in six cells at most
  std::map<EntityId, int> of;
  for (const WorldCue& cue : stage.heard) ++of[cue.who];
  std::size_t ran = 0;
  for (std::uint32_t i = 0; i < players; ++i) {
    if (stage.world->players().body[i].position_m.x < 6) continue;
    ++ran;
    CHECK(of[stage.ids[i]] > 1);
  }
  CHECK(ran > players / 2);
}

TEST_CASE("digging shows as it begins, at each quarter and when it is left off", "[world][sim][cues]") {
  Builders yard(1, [](IVec3 b) { return b.z < 4 ? BlockId::dirt : BlockId::air; });
  constexpr IVec3 ground{2, 0, 3};
  yard.put(0, {0.5, 0.5, 4});
  yard.rest();
  yard.look(0, {2.5, 0.5, 4});
  MotionCues cues;
  std::vector<int> shares;
  const auto step = [&](std::span<const BlockAct> acts = {}) {
    yard.step(acts);
    cues.stepped(*yard.world);
    for (const WorldCue& cue : cues.cues()) {
      if (cue.kind != CueKind::digging) continue;
      CHECK(cue.who == yard.ids[0]);
      CHECK((cue.placed && block_at(cue.place_m) == ground));
      shares.push_back(cue.detail);
    }
  };
  const auto act = [&](BlockActKind kind) {
    const BlockAct made = yard.act(0, kind, ground);
    step({&made, 1});
  };
  step();
  act(BlockActKind::dig);
  for (int i = 0; i < 10; ++i) step();  // of 30
  CHECK(shares == std::vector<int>{1, 1 + 254 * 8 / 30});
  act(BlockActKind::stop);
  CHECK(shares.back() == 0);
  step();
  CHECK(shares.size() == 3);
  shares.clear();
  act(BlockActKind::dig);
  for (int i = 0; i < 40; ++i) step();
  CHECK(yard.block(ground) == BlockId::air);
  CHECK(shares == std::vector<int>{1, 1 + 254 * 8 / 30, 1 + 254 * 15 / 30, 1 + 254 * 23 / 30});
}

TEST_CASE("a door that is used is heard: its line, its start and its stop, in its sector",
          "[world][sim][cues]") {
  Stage stage(Stage::map(row_of_rooms({{0, 128}, {0, 0}, {0, 128}}, {{1}, {1, 0, true}})));
  const PlacedMap& map = *stage.setup.maps[0];
  const DVec2 at = map.to_world({100, 128});
  stage.put(stage.ids[0], {at.x, at.y, map.z_to_world(0)});
  PlayerCommand use;
  use.buttons = button::use;
  // East, whatever its start turned it by: yaw is as commands say.
  stage.walk({}, 5);
  stage.walk(use, 5);
  stage.walk({}, 150);
  REQUIRE(stage.count(CueKind::use) == 1);
  const WorldCue& used = *stage.first(CueKind::use);
  CHECK(used.who == stage.ids[0]);
  CHECK(used.detail == 0);
  REQUIRE(stage.count(CueKind::plane_starts) == 1);
  REQUIRE(stage.count(CueKind::plane_stops) == 1);
  const WorldCue& starts = *stage.first(CueKind::plane_starts);
  CHECK((starts.detail & PlaneCue::ceiling) != 0);
  CHECK((starts.detail & PlaneCue::up) != 0);
  CHECK(starts.detail >> PlaneCue::motion_shift == static_cast<int>(Motion::door_raise));
  const DVec2 middle = map.to_world({192, 128});
  CHECK(starts.place_m.x == Approx(middle.x));
  CHECK(starts.place_m.y == Approx(middle.y));
  stage.walk({}, 400);  // it waits, and shuts
  CHECK(stage.count(CueKind::plane_starts) == 2);
  CHECK(stage.count(CueKind::plane_stops) == 2);
}

TEST_CASE("what is picked up is heard where it lay", "[world][sim][cues]") {
  WorldSetup setup = Stage::map(row_of_rooms({{0, 128}, {0, 128}}, {{}}, {thing_at(200, 128, 2014)}));
  Stage stage(setup);
  const PlacedMap& map = *stage.setup.maps[0];
  const DVec2 at = map.to_world({200, 128});
  stage.put(stage.ids[0], {at.x, at.y, map.z_to_world(0)});
  stage.walk({}, 20);
  REQUIRE(stage.count(CueKind::pickup) == 1);
  const WorldCue& taken = *stage.first(CueKind::pickup);
  CHECK(taken.who == stage.ids[0]);
  CHECK(taken.detail == item_of_thing(2014));
  CHECK(length(taken.place_m - DVec3{at.x, at.y, map.z_to_world(0)}) < 1);
}
