// The seam for rules of play, our modes on it, and a game of somebody else's.
#include "world/sim/game.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>

#include "tests/catch.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/examples/capture/capture.h"
#include "world/sim/block_acts.h"
#include "world/sim/kept_state.h"
#include "world/sim/modes.h"
#include "world/sim/pickups.h"
#include "world/sim/placed_blocks.h"
#include "world/sim/world.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// A room 8 m deep and 16 m long with starts of both kinds, and players in it.
struct Play {
  explicit Play(GameMode mode, std::size_t count = 2, const std::function<void(WorldSetup&)>& more = {}) {
    std::vector<MapThing> things{thing_at(40, 128, 1),   thing_at(40, 60, 2),   thing_at(40, 200, 3),
                                 thing_at(300, 128, 11), thing_at(300, 60, 11), thing_at(300, 200, 11),
                                 thing_at(200, 30, 2011)};
    PlaceOptions options;
    options.surface_z = 32;
    auto placed = place_map(row_of_rooms({{0, 128}, {0, 128}, {0, 128}}, {{}, {}}, things), options);
    if (!placed) FAIL(placed.error().line());
    map = *placed;
    setup.maps = {map};
    setup.players_max = 4;
    setup.monsters_max = setup.monsters = 0;
    setup.rules.mode = mode;
    setup.rules.respawn_s = 0.5;
    setup.rules.intermission_s = 2;
    auto kinds = std::make_shared<KindSet>(default_kinds());
    kinds->weapons[weapon::pistol].damage_step = 200;  // one hit is enough
    setup.kinds = std::move(kinds);
    if (more) more(setup);
    world = std::make_unique<World>(setup);
    std::vector<std::uint32_t> tokens(count);
    TickInput input;
    input.joins = tokens;
    world->step(input);
    for (const Joined& j : world->joined()) ids.push_back(j.id);
  }
  std::size_t row(std::size_t player) const {
    return static_cast<std::size_t>(world->player_row(ids[player]));
  }
  const MatchPlayer& of(std::size_t player) const { return world->match().players[row(player)]; }
  DVec2 on_map(std::size_t player) const {
    return map->to_map(xy(world->players().body[row(player)].position_m));
  }
  void step(int ticks = 1) {
    for (int i = 0; i < ticks; ++i) world->step({});
  }
  /// One shoots another, wherever they are.
  void kill(std::size_t by, std::size_t whom) {
    const auto put = [&](std::size_t who, double x) {
      const DVec2 at = map->to_world({x, 128});
      return AdminCommand{AdminAction::teleport, ids[who], {at.x, at.y, map->z_to_world(0)}};
    };
    for (int i = 0; i < 100; ++i) {
      const AdminCommand puts[]{put(by, 100), put(whom, 160)};
      PlayerInput shot{ids[by], {}};
      shot.command.buttons = i % 30 == 29 ? button::attack : std::uint16_t{0};
      TickInput input;
      input.admin = puts;
      input.commands = {&shot, 1};
      world->step(input);
      if (world->players().health[row(whom)] == 0) return;
    }
    FAIL("nobody died");
  }
  std::shared_ptr<const PlacedMap> map;
  WorldSetup setup;
  std::unique_ptr<World> world;
  std::vector<EntityId> ids;
};

}  // namespace

TEST_CASE("a deathmatch counts kills, ends at its limit, shows the score, and begins anew",
          "[world][sim][game]") {
  Play play(GameMode::deathmatch, 2, [](WorldSetup& s) { s.rules.frag_limit = 2; });
  CHECK(play.world->match().phase == MatchPhase::playing);
  CHECK(play.on_map(0).x == Approx(300));
  CHECK(play.on_map(1).x == Approx(300));
  CHECK(play.on_map(0).y != Approx(play.on_map(1).y));
  play.kill(0, 1);
  CHECK((play.of(0).score == 1 && play.of(0).kills == 1 && play.of(1).deaths == 1));
  play.step(40);  // back
  CHECK(play.world->players().health[play.row(1)] == 100);
  play.kill(0, 1);
  play.step();
  CHECK(play.world->match().phase == MatchPhase::intermission);
  CHECK(play.of(0).score == 2);
  play.step(2 * 60 - 1);
  CHECK(play.world->match().number == 1);
  play.step(2);
  CHECK(play.world->match().number == 2);
  CHECK(play.world->match().phase == MatchPhase::playing);
  CHECK((play.of(0).score == 0 && play.of(1).deaths == 0));
  CHECK(play.world->players().alive(play.row(1)));
  CHECK(play.world->pickups().lying() == 1);
}

TEST_CASE("in a new match doors, lines, keys and what lies on lifts are as at the start",
          "[world][sim][game]") {
  // A door between two rooms that opens once and for all (31), and a floor (36, walked) that goes down once.
  Play play(GameMode::deathmatch, 1, [](WorldSetup& s) {
    s.rules.time_limit_s = 8;
    s.rules.intermission_s = 1;
    PlaceOptions options;
    options.surface_z = 32;
    options.doors_open = false;
    const std::vector<MapThing> things{thing_at(64, 128, 11), thing_at(64, 60, 1), thing_at(448, 128, 2011),
                                       thing_at(64, 200, 5)};
    auto placed = place_map(
        row_of_rooms({{0, 128}, {0, 0}, {0, 128}, {64, 192, 9}}, {{31}, {36, 9}, {}}, things), options);
    if (!placed) FAIL(placed.error().line());
    s.maps = {*placed};
  });
  play.map = play.setup.maps.front();
  World& world = *play.world;
  const std::vector<SectorHeights> before(world.maps()[0].heights.begin(), world.maps()[0].heights.end());
  const DVec3 item_before = world.pickups().table().position_m[0];
  const auto stand = [&](double x, double y, std::uint16_t buttons, int ticks) {
    const DVec2 at = play.map->to_world({x, y});
    const AdminCommand put{AdminAction::teleport, play.ids[0], {at.x, at.y, play.map->z_to_world(0)}};
    TickInput first;
    first.admin = {&put, 1};
    world.step(first);
    PlayerInput in{play.ids[0], {}};
    in.command.buttons = buttons;
    TickInput input;
    input.commands = {&in, 1};
    for (int i = 0; i < ticks; ++i) world.step(input);
  };
  stand(64, 200, 0, 2);
  stand(110, 128, button::use, 120);
  CHECK(world.maps()[0].heights[1].ceiling_m > before[1].ceiling_m + 2);
  // Walks over the line behind the door.
  stand(240, 128, 0, 1);
  PlayerInput east{play.ids[0], {}};
  east.command.forward = 1;
  TickInput walk;
  walk.commands = {&east, 1};
  for (int i = 0; i < 90; ++i) world.step(walk);
  CHECK(world.maps()[0].heights[3].floor_m < before[3].floor_m - 0.5);
  CHECK(world.mechanics().keys(0) != 0);
  while (world.match().number == 1) world.step({});
  CHECK(world.match().number == 2);
  CHECK(std::ranges::equal(world.maps()[0].heights, before));
  CHECK(world.mechanics().keys(0) == 0);
  CHECK(world.pickups().table().position_m[0] == item_before);
  CHECK_FALSE(world.mechanics().in_motion());
  stand(110, 128, button::use, 120);
  CHECK(world.maps()[0].heights[1].ceiling_m > before[1].ceiling_m + 2);
}

TEST_CASE("a match ends by its time, and a warm-up counts nothing", "[world][sim][game]") {
  Play play(GameMode::deathmatch, 2, [](WorldSetup& s) {
    s.rules.time_limit_s = 3;
    s.rules.warmup_s = 3;
  });
  CHECK(play.world->match().phase == MatchPhase::warmup);
  play.kill(0, 1);
  CHECK((play.of(0).score == 0 && play.of(1).deaths == 0));
  play.step(3 * 60);
  CHECK(play.world->match().phase == MatchPhase::playing);
  play.step(3 * 60);
  CHECK(play.world->match().phase == MatchPhase::intermission);
}

TEST_CASE("friends are safe in cooperative play and in teams, unless the rule says otherwise",
          "[world][sim][game]") {
  const auto dies = [](Play& play, std::size_t by, std::size_t whom) {
    play.step(30);  // the trigger works again
    const DVec2 a = play.map->to_world({100, 128}), b = play.map->to_world({160, 128});
    const AdminCommand puts[]{{AdminAction::teleport, play.ids[by], {a.x, a.y, play.map->z_to_world(0)}},
                              {AdminAction::teleport, play.ids[whom], {b.x, b.y, play.map->z_to_world(0)}}};
    PlayerInput shot{play.ids[by], {}};
    for (int i = 0; i < 2; ++i) {
      shot.command.buttons = i == 1 ? button::attack : std::uint16_t{0};
      TickInput input;
      input.admin = puts;
      input.commands = {&shot, 1};
      play.world->step(input);
    }
    return play.world->players().health[play.row(whom)] == 0;
  };
  Play coop(GameMode::cooperative, 3);
  CHECK(coop.on_map(0).x == Approx(40));
  CHECK(coop.on_map(0).y == Approx(128));  // start 1
  CHECK(coop.on_map(1).y == Approx(60));   // start 2
  CHECK_FALSE(dies(coop, 0, 1));
  Play teams(GameMode::teams, 3);
  CHECK(teams.of(0).team == 1);
  CHECK(teams.of(1).team == 2);
  CHECK(teams.of(2).team == 1);
  CHECK_FALSE(dies(teams, 0, 2));
  CHECK(dies(teams, 0, 1));
  CHECK(teams.world->match().team_score[0] == 1);
  Play rough(GameMode::teams, 3, [](WorldSetup& s) { s.rules.friendly_fire = Switch::on; });
  CHECK(dies(rough, 0, 2));
  CHECK(rough.world->match().team_score[0] == -1);
}

TEST_CASE("the game's hooks are told in the tick, and what makes no sense is refused", "[world][sim][game]") {
  struct Notes final : Game {
    void joined(GameApi& api, EntityId player) override {
      ++joins;
      CHECK_FALSE(api.alive(player));
      CHECK(api.set_team(player, 3));
    }
    void left(GameApi&, EntityId) override { ++leaves; }
    void used(GameApi& api, EntityId player) override {
      ++uses;
      CHECK(api.push(player, {0, 0, 5}));
      CHECK(api.give(player, 2001));
      CHECK_FALSE(api.give(player, 3001));
      CHECK_FALSE(api.push(player, {0, 0, 1e9}));
      CHECK_FALSE(api.set_health(player, 0));
      CHECK_FALSE(api.place(player, {{1e9, 0, 0}, Turn16{0}}));
      CHECK_FALSE(api.set_team(player, 9));
      CHECK_FALSE(api.add_score(EntityId{12345}, 1));
      CHECK_FALSE(api.start_timer(99, 1));
      CHECK(api.start_timer(3, 0.5));
      CHECK(api.hurt(player, EntityId{0}, 10));
    }
    void timer(GameApi&, std::size_t number) override { timed = number; }
    void picked_up(GameApi&, EntityId, std::uint16_t thing) override { picked = thing; }
    void tick(GameApi&) override { ++ticks; }
    int joins = 0, leaves = 0, uses = 0, ticks = 0;
    std::size_t timed = 99;
    std::uint16_t picked = 0;
  };
  Play play(GameMode::sandbox, 2, [](WorldSetup& s) { s.game = [] { return std::make_unique<Notes>(); }; });
  const auto& notes = static_cast<const Notes&>(play.world->game());
  CHECK(notes.joins == 2);
  CHECK(play.of(0).team == 3);
  PlayerInput use{play.ids[0], {}};
  use.command.buttons = button::use;
  TickInput input;
  input.commands = {&use, 1};
  play.world->step(input);
  play.world->step(input);  // still held
  CHECK(notes.uses == 1);
  CHECK(play.world->players().arsenal[play.row(0)].has(weapon::shotgun));
  CHECK(play.world->players().health[play.row(0)] == 90);
  play.step(40);
  CHECK(notes.timed == 3);
  const DVec2 at = play.map->to_world({200, 30});
  const AdminCommand put{AdminAction::teleport, play.ids[0], {at.x, at.y, play.map->z_to_world(0)}};
  TickInput go;
  go.admin = {&put, 1};
  play.world->step(go);
  CHECK(notes.picked == 2011);
  TickInput leave;
  leave.leaves = {&play.ids[1], 1};
  play.world->step(leave);
  CHECK(notes.leaves == 1);
  CHECK(notes.ticks == 45);
}

TEST_CASE("capture the flag, of the example: carried home it scores, and who dies drops it",
          "[world][sim][game]") {
  WorldSetup setup;
  setup.terrain = TerrainKind::flat;
  setup.players_max = 2;
  setup.monsters = setup.monsters_max = 0;
  const double ground = space_ground_below(World(setup).space(), {0.5, 0.5}, 0.45, 60, 120).value_or(0);
  const std::array<DVec3, 2> bases{{{-8, 0, ground}, {8, 0, ground}}};
  setup.game = [bases] { return std::make_unique<examples::Capture>(bases); };
  World world(setup), again(setup);
  const std::uint32_t tokens[]{1, 2};
  TickInput joins;
  joins.joins = tokens;
  world.step(joins), again.step(joins);
  const EntityId runner = world.joined()[0].id;
  const auto& game = static_cast<const examples::Capture&>(world.game());
  const auto put = [&](DVec3 at) {
    const AdminCommand to{AdminAction::teleport, runner, at};
    TickInput input;
    input.admin = {&to, 1};
    world.step(input), again.step(input);
    world.step({}), again.step({});
    REQUIRE(world.hash() == again.hash());
  };
  put(bases[1]);
  CHECK(game.carrier(1) == runner);
  put(bases[0]);
  CHECK(game.carrier(1) == EntityId{0});
  CHECK(world.match().team_score[0] == 1);
  put(bases[1]);
  CHECK(game.carrier(1) == runner);
  put({0, 0, ground});
  // Whose line broke drops it, and does not take it up again where it stands.
  AwayChange change{runner, true};
  TickInput away;
  away.away = {&change, 1};
  world.step(away), again.step(away);
  for (int i = 0; i < 200; ++i) {
    world.step({}), again.step({});
    REQUIRE(game.carrier(1) == EntityId{0});
  }
  change.away = false;
  world.step(away), again.step(away);
  world.step({}), again.step({});
  CHECK(game.carrier(1) == runner);
  put({0, 0, ground + 40});  // it falls, carries on
  TickInput leave;
  leave.leaves = {&runner, 1};
  world.step(leave);
  CHECK(game.carrier(1) == EntityId{0});
  CHECK(game.flag(1) != bases[1]);
  for (int i = 0; i < 11 * 60; ++i) world.step({});
  CHECK(game.flag(1) == bases[1]);
}

namespace {

/// A flat world with a game, and players who stand in it.
struct OnGrass {
  explicit OnGrass(const MakeGame& game, std::uint32_t count,
                   const std::function<void(WorldSetup&)>& more = {}) {
    setup.terrain = TerrainKind::flat;
    setup.players_max = count;
    setup.monsters = setup.monsters_max = 0;
    ground = space_ground_below(World(setup).space(), {0.5, 0.5}, 0.45, 60, 120).value_or(0);
    setup.game = game;
    if (more) more(setup);
    world = std::make_unique<World>(setup);
    const std::vector<std::uint32_t> tokens(count);
    TickInput joins;
    joins.joins = tokens;
    world->step(joins);
    for (const Joined& j : world->joined()) ids.push_back(j.id);
  }
  void put(std::size_t who, DVec3 at) {
    const AdminCommand to{AdminAction::teleport, ids[who], at};
    TickInput input;
    input.admin = {&to, 1};
    world->step(input);
  }
  /// Looks down at the top of a block, and does it. @return its verdict
  ActVerdict act(BlockActKind kind, IVec3 block) {
    const std::size_t row = static_cast<std::size_t>(world->player_row(ids[by]));
    const DVec3 eye = world->players().body[row].position_m + DVec3{0, 0, setup.rules.player_eye_m};
    const DVec3 way = to_dvec3(block) + DVec3{0.5, 0.5, 1} - eye;
    look = {ids[by], {}};
    look.command.yaw = turn_towards(xy(way));
    const double turns = std::atan2(way.z, length(xy(way))) / (2 * 3.14159265358979);
    look.command.pitch = Turn16{static_cast<std::uint16_t>(static_cast<std::int32_t>(turns * 65536))};
    const BlockAct act{ids[by], ++number, kind, BlockFace::top, block, placed};
    TickInput input = looking();
    input.acts = {&act, 1};
    world->step(input);
    for (const BlockVerdict& v : world->block_acts().verdicts())
      if (v.number == number) return v.verdict;
    return ActVerdict::stopped;
  }
  /// As the last act did.
  TickInput looking() const {
    TickInput input;
    input.commands = {&look, 1};
    return input;
  }
  std::size_t by = 0;  ///< who acts
  BlockId placed = BlockId::brick;
  PlayerInput look;
  WorldSetup setup;
  double ground = 0;
  std::uint32_t number = 0;
  std::unique_ptr<World> world;
  std::vector<EntityId> ids;
};

/// Blocks east of 0 are its own; it counts who touches whom.
class Ranger final : public Game {
 public:
  bool may_edit(GameApi&, EntityId, IVec3 block, BlockId) override { return block.x < 0; }
  bool touches_players() const override { return asks; }
  void touched(GameApi& api, EntityId player, EntityId met) override {
    ++touches;
    in_order = in_order && slot_of(player) < slot_of(met) && api.alive(player) && api.alive(met);
  }
  int touches = 0;
  bool in_order = true, asks = true;
};

}  // namespace

TEST_CASE("a game refuses edits, and is told who touches whom", "[world][sim][game]") {
  Ranger* made = nullptr;
  const auto make = [&made] {
    auto game = std::make_unique<Ranger>();
    made = game.get();
    return game;
  };
  OnGrass play(make, 3);
  Ranger& game = *made;
  const auto z = static_cast<std::int32_t>(play.ground);
  play.put(0, {0.1, 0.5, play.ground});
  play.world->step({});
  CHECK(play.act(BlockActKind::dig, {1, 0, z - 1}) == ActVerdict::protected_ground);
  CHECK(play.act(BlockActKind::place, {2, 0, z - 1}) == ActVerdict::protected_ground);
  CHECK_FALSE(refused(play.act(BlockActKind::dig, {-2, 0, z - 1})));
  CHECK(play.act(BlockActKind::place, {-2, 0, z - 1}) == ActVerdict::done);

  play.put(1, {20, 20, play.ground}), play.put(2, {30, 30, play.ground});
  play.world->step({});
  const int before = game.touches;
  play.put(1, {0.6, 0.5, play.ground});
  CHECK(game.touches > before);
  CHECK(game.in_order);
  // Who does not ask is not told, though they stand where they stood.
  const int asked = game.touches;
  game.asks = false;
  play.world->step({});
  CHECK(game.touches == asked);
  game.asks = true;
  play.world->step({});
  CHECK(game.touches > asked);
  // Who watches has nothing to touch, whichever of both it is.
  for (const std::size_t watcher : {std::size_t{0}, std::size_t{1}}) {
    const AdminCommand spectate{AdminAction::spectate, play.ids[watcher], {}},
        back{AdminAction::play, play.ids[watcher], {}};
    TickInput order;
    order.admin = std::span(&spectate, 1);
    play.world->step(order);
    const auto other = static_cast<std::size_t>(play.world->player_row(play.ids[1 - watcher]));
    play.put(watcher, play.world->players().body[other].position_m);
    const int unwatched = game.touches;
    for (int i = 0; i < 5; ++i) play.world->step({});
    CHECK(game.touches == unwatched);
    order.admin = std::span(&back, 1);
    play.world->step(order);
  }
  play.put(1, {20, 20, play.ground});
  const int after = game.touches;
  for (int i = 0; i < 10; ++i) play.world->step({});
  CHECK(game.touches == after);
}

TEST_CASE("who builds has a point for each block of his that stands", "[world][sim][game]") {
  OnGrass play({}, 2, [](WorldSetup& s) {
    s.rules.mode = GameMode::building;
    s.rules.block_interval_s = 0;
    s.rules.frag_limit = 4;
    s.rules.warmup_s = 1, s.rules.intermission_s = 1;
  });
  const auto z = static_cast<std::int32_t>(play.ground);
  const auto score = [&](std::size_t who) { return play.world->match().players[who].score; };
  const auto dig = [&](IVec3 block) {
    ActVerdict v = play.act(BlockActKind::dig, block);
    for (int i = 0; i < 600 && v == ActVerdict::progress; ++i) {
      play.world->step(play.looking());
      for (const BlockVerdict& b : play.world->block_acts().verdicts())
        if (b.number == play.number) v = b.verdict;
    }
    return v;
  };
  play.put(0, {0.5, 0.5, play.ground}), play.put(1, {20, 20, play.ground});
  CHECK(play.world->match().phase == MatchPhase::warmup);
  CHECK(play.act(BlockActKind::place, {2, 0, z - 1}) == ActVerdict::done);
  CHECK(score(0) == 0);
  while (play.world->match().phase != MatchPhase::playing) play.world->step({});
  play.put(0, {0.5, 0.5, play.ground});
  // What stood there before is nobody's.
  CHECK(dig({2, 0, z}) == ActVerdict::done);
  CHECK(score(0) == 0);
  for (int i = 0; i < 3; ++i) {
    CHECK(play.act(BlockActKind::place, {2, 0, z - 1}) == ActVerdict::done);
    CHECK(score(0) == 1);
    CHECK(dig({2, 0, z}) == ActVerdict::done);
    CHECK(score(0) == 0);
  }
  for (std::int32_t y = -1; y <= 1; ++y) play.act(BlockActKind::place, {2, y, z - 1});
  CHECK(score(0) == 3);
  // Of somebody else's it takes a point from him.
  play.by = 1;
  play.put(0, {20, 20, play.ground}), play.put(1, {0.5, 0.5, play.ground});
  CHECK(dig({2, 0, z}) == ActVerdict::done);
  CHECK((score(0) == 2 && score(1) == 0));
  for (const std::int32_t x : {-2, -1, 2}) play.act(BlockActKind::place, {x, 0, z - 1});
  CHECK(score(1) == 3);
  play.act(BlockActKind::place, {-2, 1, z - 1});
  play.world->step({});
  CHECK(score(1) == 4);
  REQUIRE(play.world->match().phase == MatchPhase::intermission);
  CHECK(play.act(BlockActKind::place, {-2, -1, z - 1}) == ActVerdict::protected_ground);
  while (play.world->match().phase == MatchPhase::intermission) play.world->step({});
  CHECK(play.world->match().number >= 2);
  CHECK((score(0) == 0 && score(1) == 0));
}

TEST_CASE("a block that nobody takes away by hand is no point any more, either", "[world][sim][game]") {
  auto types = std::vector(BlockRegistry::builtin().types().begin(), BlockRegistry::builtin().types().end());
  const auto melts = BlockId{static_cast<std::uint16_t>(types.size())};
  types.push_back({.name = "snowman", .timer_s = 1, .becomes = BlockId::air});
  OnGrass play({}, 2, [&](WorldSetup& s) {
    s.blocks = std::make_shared<const BlockRegistry>(types);
    s.rules.mode = GameMode::building;
    s.rules.block_interval_s = 0;
    s.rules.frag_limit = 1000;
    s.rules.warmup_s = 0;
  });
  const auto z = static_cast<std::int32_t>(play.ground);
  const auto score = [&](std::size_t who) { return play.world->match().players[who].score; };
  const auto fill = [&](IVec3 from, IVec3 to, BlockId id) {
    const AdminCommand fills{.action = AdminAction::fill_box, .box = {from, to}, .id = id};
    TickInput input;
    input.admin = {&fills, 1};
    play.world->step(input);
  };
  play.put(0, {20, 20, play.ground}), play.put(1, {0.5, 0.5, play.ground});
  play.by = 1;
  REQUIRE(play.world->match().phase == MatchPhase::playing);
  for (std::int32_t y = -1; y <= 1; ++y)
    REQUIRE(play.act(BlockActKind::place, {2, y, z - 1}) == ActVerdict::done);
  CHECK(score(1) == 3);
  // An operator: what he places is nobody's, and what he takes away of a player's is no point of his.
  fill({-4, -4, z}, {-2, -2, z + 1}, BlockId::stone);
  CHECK((score(0) == 0 && score(1) == 3));
  fill({2, -1, z}, {3, 0, z + 1}, BlockId::air);
  CHECK((score(0) == 0 && score(1) == 2));
  const AdminCommand digs{.action = AdminAction::blast, .position_m = {2.5, 1.5, z + 0.5}, .radius_m = 0.4};
  TickInput input;
  input.admin = {&digs, 1};
  play.world->step(input);
  CHECK(score(1) == 1);
  // What falls: sand on the brick that is left, when that goes.
  play.placed = BlockId::sand;
  REQUIRE(play.act(BlockActKind::place, {2, 0, z}) == ActVerdict::done);
  CHECK(score(1) == 2);
  fill({2, 0, z}, {3, 1, z + 1}, BlockId::air);
  CHECK(score(1) == 1);
  for (int i = 0; i < 60; ++i) play.world->step({});
  REQUIRE(play.world->space().voxels->block({2, 0, z}) == BlockId::sand);
  CHECK((score(0) == 0 && score(1) == 0));
  // What goes by itself.
  play.placed = melts;
  REQUIRE(play.act(BlockActKind::place, {-1, 0, z - 1}) == ActVerdict::done);
  CHECK(score(1) == 1);
  for (int i = 0; i < 90; ++i) play.world->step({});
  REQUIRE(play.world->space().voxels->block({-1, 0, z}) == BlockId::air);
  CHECK((score(0) == 0 && score(1) == 0));
  // While nobody is there.
  play.placed = BlockId::brick;
  for (std::int32_t y = -1; y <= 1; ++y)
    REQUIRE(play.act(BlockActKind::place, {-2, y, z - 1}) == ActVerdict::done);
  input = {};
  input.leaves = play.ids;
  play.world->step(input);
  REQUIRE(play.world->player_count() == 0);
  fill({-2, -1, z}, {-1, 1, z + 1}, BlockId::air);
  KeptState state;
  play.world->keep_state(state);
  CHECK(state.built.placed.size() == 1);
}

TEST_CASE("whose blocks they are is known in the world's next run, and to who was away meanwhile",
          "[world][sim][game]") {
  const auto rules = [](WorldSetup& s) {
    s.rules.mode = GameMode::building;
    s.rules.block_interval_s = 0;
    s.rules.frag_limit = 1000;
    s.rules.warmup_s = 0;
  };
  OnGrass play({}, 2, rules);
  const auto z = static_cast<std::int32_t>(play.ground);
  play.put(0, {0.5, 0.5, play.ground}), play.put(1, {20, 20, play.ground});
  REQUIRE(play.world->match().phase == MatchPhase::playing);
  for (std::int32_t y = -1; y <= 1; ++y)
    REQUIRE(play.act(BlockActKind::place, {2, y, z - 1}) == ActVerdict::done);
  const MatchPlayer& builder = play.world->match().players[0];
  REQUIRE((builder.score == 3 && builder.builder == 1));
  KeptState state;
  play.world->keep_state(state);
  CHECK(state.built.placed.size() == 3);
  const auto score_of = [](const World& world, std::size_t row) {
    const MatchPlayer& p = world.match().players[row];
    return KeptScore{world.match().number, p.score, p.kills, p.deaths, p.team, p.builder};
  };
  std::vector<Returning> back{{7, {}, score_of(*play.world, 0)}};

  // The next run, in which the other one is there first and takes a block away.
  WorldSetup setup = play.setup;
  setup.kept = std::make_shared<const KeptState>(state);
  setup.make_chunk = [&play](const Terrain& terrain, ChunkCoord at) {
    const Chunk* const was = play.world->space().voxels->find(at);
    return was != nullptr ? std::make_unique<Chunk>(*was) : generate_chunk(terrain, at);
  };
  auto next = std::make_unique<World>(setup);
  KeptState there;
  next->keep_state(there);
  CHECK(there.built == state.built);
  const std::uint32_t stranger = 6;
  TickInput input;
  input.joins = {&stranger, 1};
  next->step(input);
  std::swap(play.world, next);
  play.ids = {play.world->joined()[0].id};
  play.by = 0;
  play.put(0, {0.5, 0.5, play.ground});
  ActVerdict v = play.act(BlockActKind::dig, {2, 0, z});
  for (int i = 0; i < 600 && v == ActVerdict::progress; ++i) {
    play.world->step(play.looking());
    for (const BlockVerdict& b : play.world->block_acts().verdicts())
      if (b.number == play.number) v = b.verdict;
  }
  REQUIRE(v == ActVerdict::done);
  CHECK(play.world->match().players[0].score == 0);

  input = {};
  const std::uint32_t token = 7;
  input.joins = {&token, 1};
  input.returning = back;
  play.world->step(input);
  const int row = play.world->player_row(play.world->joined()[0].id);
  REQUIRE(row == 1);
  CHECK(play.world->match().players[1].score == 2);
  // One more goes, and now he is there to lose it.
  v = play.act(BlockActKind::dig, {2, 1, z});
  for (int i = 0; i < 600 && v == ActVerdict::progress; ++i) {
    play.world->step(play.looking());
    for (const BlockVerdict& b : play.world->block_acts().verdicts())
      if (b.number == play.number) v = b.verdict;
  }
  REQUIRE(v == ActVerdict::done);
  CHECK(play.world->match().players[1].score == 1);
  // Who builds for the first time is nobody's double.
  REQUIRE(play.act(BlockActKind::place, {2, 0, z - 1}) == ActVerdict::done);
  CHECK((play.world->match().players[0].score == 1 && play.world->match().players[0].builder == 2));
}

TEST_CASE("whose blocks they are is found again, whatever was taken away between",
          "[world][sim][game][property]") {
  PlacedBlocks placed;
  std::map<std::tuple<int, int, int>, std::uint32_t> known;
  Rng rng{17};
  for (int i = 0; i < 40000; ++i) {
    const auto axis = [&] { return static_cast<std::int32_t>(rng.below(24)) - 12; };
    IVec3 block;
    block.x = axis(), block.y = axis(), block.z = axis();
    const std::uint32_t by = 1 + rng.below(5);
    const std::tuple at(block.x, block.y, block.z);
    if (rng.below(2) == 0) {
      CHECK(placed.add(block, by) == known.emplace(at, by).second);
    } else {
      placed.remove(block);
      known.erase(at);
    }
    REQUIRE(placed.count() == known.size());
  }
  for (std::int32_t x = -12; x < 12; ++x)
    for (std::int32_t y = -12; y < 12; ++y)
      for (std::int32_t z = -12; z < 12; ++z) {
        const auto it = known.find({x, y, z});
        REQUIRE(placed.owner({x, y, z}) == (it == known.end() ? std::nullopt : std::optional(it->second)));
      }
  for (std::uint32_t by = 1; by <= 5; ++by) {
    const auto his = std::ranges::count_if(known, [by](const auto& one) { return one.second == by; });
    CHECK(placed.count_of(by) == static_cast<std::size_t>(his));
  }
  std::size_t seen = 0;
  placed.each([&](IVec3 block, std::uint32_t by) {
    ++seen;
    REQUIRE(known.at({block.x, block.y, block.z}) == by);
  });
  CHECK(seen == known.size());
  StripeHasher full, again;
  placed.add_to_hash(full);
  PlacedBlocks other;
  for (const auto& [at, by] : known) other.add({std::get<0>(at), std::get<1>(at), std::get<2>(at)}, by);
  other.add_to_hash(again);
  CHECK(full.value() == again.value());
}

TEST_CASE("a push upwards lifts who stands", "[world][sim][game]") {
  class Spring final : public Game {
    void used(GameApi& api, EntityId player) override { api.push(player, {0, 0, 9}); }
  };
  OnGrass play([] { return std::make_unique<Spring>(); }, 1);
  play.put(0, {0.5, 0.5, play.ground});
  PlayerInput jump{play.ids[0], {}};
  jump.command.buttons = button::use;
  TickInput input;
  input.commands = {&jump, 1};
  double highest = 0;
  for (int i = 0; i < 40; ++i) {
    play.world->step(input);
    highest = std::max(highest, play.world->players().body[0].position_m.z - play.ground);
  }
  CHECK(highest > 1.5);
}

TEST_CASE("the example's grapple pulls whoever looks at something near, and nobody into walls",
          "[world][sim][game]") {
  const std::array<DVec3, 2> bases{{{-8, 0, 0}, {8, 0, 0}}};
  OnGrass play([bases] { return std::make_unique<examples::Capture>(bases); }, 2);
  const auto z = static_cast<std::int32_t>(play.ground);
  std::vector<BlockEdit> tower;
  for (std::int32_t up = 0; up < 12; ++up)
    for (std::int32_t y = -2; y <= 2; ++y) tower.push_back({{12, y, z + up}, BlockId::stone});
  TickInput built;
  built.edits = tower;
  play.world->step(built);
  play.put(0, {0, 0.5, play.ground});
  PlayerInput pull{play.ids[0], {}};
  pull.command.pitch = Turn16{6000};  // 33 degrees up: some 8 m high on the tower
  pull.command.buttons = button::use;
  TickInput input;
  input.commands = {&pull, 1};
  double highest = 0;
  for (int i = 0; i < 90; ++i) {
    play.world->step(input);
    const DVec3 at = play.world->players().body[0].position_m;
    highest = std::max(highest, at.z - play.ground);
    REQUIRE(at.x < 12);
  }
  CHECK(highest > 5);
  // Into the sky there is nothing to hold on to.
  play.put(0, {0, 0.5, play.ground});
  pull.command.pitch = Turn16{16000};
  for (int i = 0; i < 30; ++i) play.world->step(input);
  CHECK(play.world->players().body[0].position_m.z < play.ground + 0.1);
}
