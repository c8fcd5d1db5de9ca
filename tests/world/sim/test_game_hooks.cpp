// What hooks do late in a tick, as players come and go, and with numbers that make no sense.
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"
#include "world/sim/combat.h"
#include "world/sim/game.h"
#include "world/sim/game_replication.h"
#include "world/sim/kept_state.h"
#include "world/sim/world.h"
#include "world/voxel/volume.h"

using namespace ashlar;

namespace {

/// Does in each hook what a test put there.
struct Hooked final : Game {
  using Do = std::function<void(GameApi&, EntityId)>;
  void declare(ReplicationRegistry& to) override { orb = *to.add_kind("orb", false); }
  void begin(GameApi& api) override { call(on_begin, api, EntityId{0}); }
  void joined(GameApi& api, EntityId who) override { call(on_joined, api, who); }
  void left(GameApi& api, EntityId who) override { call(on_left, api, who); }
  void spawned(GameApi& api, EntityId who) override { call(on_spawned, api, who); }
  void tick(GameApi& api) override { call(on_tick, api, EntityId{0}); }
  void timer(GameApi& api, std::size_t number) override {
    fired.push_back(number);
    call(on_timer, api, EntityId{0});
  }
  void edited(GameApi& api, EntityId who, IVec3 block) override {
    edits.push_back(block);
    call(on_edited, api, who);
  }
  bool touches_monsters() const override { return true; }
  void touched_monster(GameApi& api, EntityId, EntityId monster) override { call(on_touched, api, monster); }
  void died(GameApi& api, EntityId who, EntityId) override {
    dead.push_back(who);
    call(on_died, api, who);
  }
  static void call(const Do& what, GameApi& api, EntityId who) {
    if (what) what(api, who);
  }
  Do on_begin, on_joined, on_left, on_spawned, on_tick, on_timer, on_edited, on_touched, on_died;
  std::vector<EntityId> dead;
  std::vector<IVec3> edits;
  std::vector<std::size_t> fired;
  EntityKind orb{};
};

struct Stage {
  using More = std::function<void(WorldSetup&, Hooked&)>;
  explicit Stage(const More& more = {}) {
    setup.terrain = TerrainKind::flat;
    setup.players_max = 4;
    setup.monsters_max = 8;
    setup.monsters = 0;
    setup.rules.monsters_fight = Switch::off;
    setup.game = [this, more] {
      auto made = std::make_unique<Hooked>();
      game = made.get();
      if (more) more(setup, *made);
      return made;
    };
    if (Hooked unused; more) more(setup, unused);
    world = std::make_unique<World>(setup);
  }
  EntityId join() {
    const std::uint32_t token = 1;
    TickInput input;
    input.joins = {&token, 1};
    world->step(input);
    return world->joined()[0].id;
  }
  void leave(EntityId who) {
    TickInput input;
    input.leaves = {&who, 1};
    world->step(input);
  }
  void step(int ticks = 1) {
    for (int i = 0; i < ticks; ++i) world->step({});
  }
  const MatchPlayer& of(EntityId who) const { return world->match().players[slot_of(who)]; }

  WorldSetup setup;
  Hooked* game = nullptr;
  std::unique_ptr<World> world;
};

DVec3 beside(const GameApi& api, EntityId player, double m) {
  return api.players().body[slot_of(player)].position_m + DVec3{m, 0, 0};
}

constexpr std::int32_t lowest_air = flat_surface_m;  // the lowest block of air

}  // namespace

TEST_CASE("who is killed by a late hook is told of, counted, and makes room, in that tick",
          "[world][game][hooks]") {
  Stage s;
  const EntityId player = s.join();
  s.game->on_tick = [&](GameApi& api, EntityId) {
    for (int i = 0; s.world->monster_count() < 8 && i < 8; ++i)
      api.spawn_monster(MonsterKind::imp, {beside(api, player, i == 0 ? 0.8 : 3.0 * i), Turn16{0}}, true);
  };
  s.step();
  REQUIRE(s.world->monster_count() == 8);
  s.game->on_tick = {};
  int replaced = 0;
  s.game->on_touched = [&](GameApi& api, EntityId monster) {
    const DVec3 at = api.monsters().body[slot_of(monster) - 4].position_m;
    CHECK(api.hurt(monster, player, 1000));
    replaced +=
        api.spawn_monster(MonsterKind::imp, {at + DVec3{0, 4, 0}, Turn16{0}}, true) != EntityId{0} ? 1 : 0;
  };
  s.step(3);
  CHECK(replaced == 1);
  CHECK(s.world->monster_count() == 8);
  CHECK(s.game->dead.size() == 1);
  CHECK(s.of(player).kills == 1);
  // And a chain of them, each of which kills the next.
  s.game->on_died = [](GameApi& api, EntityId) {
    for (std::size_t i = 0; i < api.monsters().rows(); ++i)
      if (api.monsters().id[i] != EntityId{0})
        return static_cast<void>(api.hurt(api.monsters().id[i], EntityId{0}, 1000));
  };
  s.game->on_touched = {};
  s.game->on_edited = [&](GameApi& api, EntityId) { api.hurt(player, EntityId{0}, 1000); };
  s.game->on_tick = [&](GameApi& api, EntityId) { api.set_block({0, 0, lowest_air + 9}, BlockId::stone); };
  s.game->dead.clear();
  s.step();
  CHECK(s.game->dead.size() == 9);
  CHECK(s.world->monster_count() == 0);
  CHECK(s.of(player).deaths == 1);
}

TEST_CASE("blocks that a game sets as players come and go are changes like others", "[world][game][hooks]") {
  GameEdit at_begin{};
  std::int32_t gone = 0;
  Stage s([&](WorldSetup&, Hooked& game) {
    game.on_begin = [&](GameApi& api, EntityId) {
      at_begin = api.set_block({0, 0, lowest_air + 5}, BlockId::stone);
    };
    game.on_joined = [](GameApi& api, EntityId) {
      CHECK(api.set_block({1, 0, lowest_air + 5}, BlockId::stone) == GameEdit::done);
    };
    game.on_left = [&](GameApi& api, EntityId) {
      CHECK(api.set_block({++gone + 1, 0, lowest_air + 5}, BlockId::stone) == GameEdit::done);
    };
  });
  CHECK(at_begin == GameEdit::not_loaded);
  const EntityId first = s.join(), second = s.join();
  CHECK(s.game->edits.size() == 1);  // the second time it was so before
  CHECK(s.game->edits[0] == IVec3{1, 0, lowest_air + 5});
  s.leave(first);
  REQUIRE(s.world->applied_edits().size() == 1);
  CHECK(s.world->applied_edits()[0].block == IVec3{2, 0, lowest_air + 5});
  CHECK(s.game->edits.size() == 2);
  s.step();
  CHECK(s.world->applied_edits().empty());
  s.leave(second);  // nobody is there any more, and the game is told all the same
  REQUIRE(s.world->applied_edits().size() == 1);
  CHECK(s.world->applied_edits()[0].block == IVec3{3, 0, lowest_air + 5});
  CHECK(s.game->edits.size() == 3);
}

TEST_CASE("a game is told of each block that it changes, once, in the tick and in whichever hook",
          "[world][game][hooks]") {
  // Each hook sets a block of its own, over and over: what is so already is no change.
  Stage s([](WorldSetup& setup, Hooked&) { setup.rules.respawn_s = 0.1; });
  const auto sets = [](std::int32_t x) {
    return [x](GameApi& api, EntityId) {
      CHECK(api.set_block({x, 0, lowest_air + 5}, BlockId::stone) == GameEdit::done);
    };
  };
  const EntityId player = s.join();
  s.game->on_died = [&](GameApi& api, EntityId who) {
    if (who == player) return;
    sets(1)(api, who);
    if (s.game->dead.size() == 1) CHECK(api.hurt(player, EntityId{0}, 1000));
  };
  s.game->on_touched = [&](GameApi& api, EntityId monster) {
    sets(2)(api, monster);
    CHECK(api.hurt(monster, player, 1000));
    api.restart();
  };
  s.game->on_spawned = sets(3);
  s.game->on_edited = [&](GameApi& api, EntityId) {
    sets(4)(api, EntityId{0});
  };  // of which it hears nothing
  s.game->on_tick = [&](GameApi& api, EntityId) {
    sets(0)(api, EntityId{0});
    if (s.world->monster_count() == 0 && s.game->dead.empty())
      api.spawn_monster(MonsterKind::imp, {beside(api, player, 0.8), Turn16{0}}, true);
  };
  s.step();
  const auto at = [](std::int32_t x) { return IVec3{x, 0, lowest_air + 5}; };
  CHECK(s.game->edits == std::vector{at(0), at(2), at(1), at(3)});
  CHECK(s.world->applied_edits().size() == 5);
  CHECK(s.world->match().number == 2);
  s.game->edits.clear();
  s.game->on_tick = {};
  s.step(10);
  CHECK(s.game->edits.empty());
}

TEST_CASE("a game whose deaths change blocks whose changes kill comes to an end", "[world][game][hooks]") {
  Stage s;
  const EntityId player = s.join();
  s.game->on_tick = [&](GameApi& api, EntityId) {
    api.set_block({0, 0, lowest_air + 5}, BlockId::stone);
    s.game->on_tick = {};
  };
  std::int32_t deaths = 0;
  s.game->on_died = [&](GameApi& api, EntityId) {
    ++deaths;
    api.set_block({deaths % 64, deaths / 64, lowest_air + 6}, BlockId::stone);
  };
  s.game->on_edited = [&](GameApi& api, EntityId) {
    const EntityId imp = api.spawn_monster(MonsterKind::imp, {beside(api, player, 3), Turn16{0}}, true);
    api.hurt(imp, EntityId{0}, 1000);
  };
  s.step();
  CHECK(deaths >= 2000);  // a tick's blocks, or its events
  CHECK(deaths <= 4096);
  CHECK(s.world->monster_count() == 0);
  s.step();
}

TEST_CASE("what starts behind restart() goes on", "[world][game][hooks]") {
  Stage s;
  s.join();
  int ticks = 0;
  s.game->on_timer = [&](GameApi& api, EntityId) { api.start_timer(0, 0.1); };
  s.game->on_tick = [&](GameApi& api, EntityId) {
    if (ticks++ == 0) CHECK((api.start_timer(0, 0.1) && api.start_timer(1, 0.1)));
    if (ticks != 3) return;
    api.restart();
    CHECK(api.start_timer(0, 0.1));
  };
  s.step(60);
  CHECK(s.world->match().number == 2);
  CHECK(s.game->fired == std::vector<std::size_t>(9, 0));  // number 1 was stopped, number 0 runs on
}

TEST_CASE("a game gives what it likes to who begins a life", "[world][game][hooks]") {
  Stage s([](WorldSetup& setup, Hooked& game) {
    setup.rules.respawn_s = 0.1;
    game.on_spawned = [](GameApi& api, EntityId who) {
      CHECK(api.alive(who));
      CHECK(api.set_health(who, 55));
      CHECK(api.give(who, 2018));  // green armour
    };
  });
  const EntityId player = s.join();
  const PlayerTable& players = s.world->players();
  CHECK((players.health[0] == 55 && players.armour[0] == 100));
  s.game->on_tick = [&](GameApi& api, EntityId) { api.hurt(player, EntityId{0}, 1000); };
  s.step();
  CHECK(players.health[0] == 0);
  s.game->on_tick = {};
  s.step(20);
  CHECK((players.health[0] == 55 && players.armour[0] == 100));
  s.game->on_tick = [&](GameApi& api, EntityId) { api.restart(); };
  s.game->on_spawned = [](GameApi& api, EntityId who) { api.hurt(who, EntityId{0}, 1000); };
  s.game->dead.clear();
  s.step();  // who is killed as it begins is dead, and the game hears of it
  CHECK(players.health[0] == 0);
  CHECK(s.game->dead == std::vector{player});
  s.game->on_tick = {};
  CHECK(s.join() != EntityId{0});
}

TEST_CASE("a game gives weapons of its world's own kinds", "[world][game][hooks]") {
  const std::size_t own = default_kinds().weapons.size();
  Stage s([](WorldSetup& setup, Hooked&) {
    KindSet kinds = default_kinds();
    kinds.weapons.push_back(kinds.weapons[weapon::shotgun]);
    setup.kinds = std::make_shared<const KindSet>(std::move(kinds));
  });
  const EntityId player = s.join();
  s.game->on_tick = [&](GameApi& api, EntityId) {
    CHECK(api.give_weapon(player, own));
    CHECK_FALSE(api.give_weapon(player, own + 1));
    CHECK_FALSE(api.give_weapon(player, 256));
    CHECK_FALSE(api.give_weapon(EntityId{0}, own));
    CHECK(api.give_weapon(player, own));  // its ammunition
    CHECK(api.give_weapon(player, weapon::saw));
    CHECK_FALSE(api.give_weapon(player, weapon::saw));
    s.game->on_tick = {};
  };
  s.step();
  const Arsenal& arsenal = s.world->players().arsenal[0];
  CHECK(arsenal.has(static_cast<std::uint8_t>(own)));
  CHECK(arsenal.ammo[static_cast<std::size_t>(AmmoKind::shells)] == 16);
  CHECK(arsenal.has(weapon::saw));
  CHECK(arsenal.wanted == weapon::saw);
}

TEST_CASE("a kept world begins without the monsters that its game put there", "[world][game][hooks]") {
  Stage s;
  const EntityId player = s.join();
  s.game->on_tick = [&](GameApi& api, EntityId) {
    if (api.tick() == TickId{2})
      CHECK(api.spawn_monster(MonsterKind::imp, {beside(api, player, 3), Turn16{0}}) != EntityId{0});
  };
  s.step(4);
  REQUIRE(s.world->monster_count() == 1);
  KeptState kept;
  s.world->keep_state(kept);
  CHECK(kept.monsters.empty());
}

TEST_CASE("what a game does to monsters while nobody is there is in the hash", "[world][game][hooks]") {
  const auto hash_of = [](bool spawns) {
    Stage s;
    s.game->on_edited = [&](GameApi& api, EntityId) {
      if (spawns) api.spawn_monster(MonsterKind::imp, {{4, 4, lowest_air + 1.0}, Turn16{0}});
    };
    const BlockEdit edit{{0, 0, lowest_air + 5}, BlockId::stone};
    TickInput input;
    input.edits = {&edit, 1};
    s.world->step(input);
    CHECK(s.world->monster_count() == (spawns ? 1 : 0));
    return s.world->hash();
  };
  CHECK(hash_of(true) != hash_of(false));
}

TEST_CASE("numbers that make no sense do nothing, and scores end where they can be told",
          "[world][game][hooks]") {
  Stage s([](WorldSetup& setup, Hooked&) { setup.rules.infighting = Switch::off; });
  const EntityId player = s.join();
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  s.game->on_tick = [&](GameApi& api, EntityId) {
    const MatchPhase before = api.match().phase;
    CHECK_FALSE(api.begin_phase(static_cast<MatchPhase>(match_phase_count), 1));
    CHECK(api.match().phase == before);
    CHECK(api.begin_phase(MatchPhase::playing, no_number));
    CHECK(api.match().left_ticks == 0);
    CHECK((api.add_score(player, most) && api.add_score(player, most)));
    CHECK((api.add_team_score(1, -most) && api.add_team_score(1, -most)));
    // However long a direction is.
    CHECK(api.launch(0, beside(api, player, 2) + DVec3{0, 0, 5}, {1e200, 0, 0}));
    CHECK(api.launch(0, beside(api, player, 2) + DVec3{0, 0, 5}, {0, 1e-200, 0}));
    CHECK_FALSE(api.launch(0, beside(api, player, 2), {no_number, 0, 0}));
    // A thing of the game's is no monster, whatever monsters do to each other.
    const EntityId turret = api.add_thing(s.game->orb, beside(api, player, 5));
    const EntityId imp = api.spawn_monster(MonsterKind::imp, {beside(api, player, 3), Turn16{0}}, true);
    const std::uint16_t health = api.monsters().health[slot_of(imp) - 4];
    CHECK(api.hurt(imp, turret, 1));
    CHECK(api.monsters().health[slot_of(imp) - 4] == health - 1);
    s.game->on_tick = {};
  };
  s.step(2);
  CHECK(s.of(player).score == most);
  CHECK(s.world->match().team_score[0] == std::numeric_limits<std::int32_t>::min());
  int flying = 0;
  const ProjectileTable& p = s.world->projectiles();
  for (std::size_t i = 0; i < p.rows(); ++i)
    if (p.id[i] != EntityId{0} && length(p.velocity_mps[i]) > 1) ++flying;
  CHECK(flying == 2);
}
