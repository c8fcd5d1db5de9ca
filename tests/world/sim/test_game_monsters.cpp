// What a game takes away and puts elsewhere: monsters, and what lies about.
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "tests/catch.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/combat.h"
#include "world/sim/game.h"
#include "world/sim/kept_state.h"
#include "world/sim/pickups.h"
#include "world/sim/projectiles.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// Does in its hooks what a test put there.
struct Herdsman final : Game {
  using Do = std::function<void(GameApi&, EntityId)>;
  void begin(GameApi& api) override { call(on_begin, api, EntityId{0}); }
  void tick(GameApi& api) override { call(on_tick, api, EntityId{0}); }
  std::uint16_t damage(GameApi& api, EntityId who, EntityId, std::uint16_t points) override {
    call(on_damage, api, who);
    return points;
  }
  void died(GameApi& api, EntityId who, EntityId) override {
    dead.push_back(who);
    call(on_died, api, who);
  }
  bool touches_monsters() const override { return true; }
  void touched_monster(GameApi& api, EntityId, EntityId monster) override { call(on_touched, api, monster); }
  void edited(GameApi& api, EntityId, IVec3) override { call(on_edited, api, EntityId{0}); }
  void picked_up(GameApi&, EntityId, std::uint16_t) override { ++picked; }
  static void call(const Do& what, GameApi& api, EntityId who) {
    if (what) what(api, who);
  }
  Do on_begin, on_tick, on_damage, on_died, on_touched, on_edited;
  std::vector<EntityId> dead;
  int picked = 0;
};

/// Flat ground, one player, and monsters that the world put there itself.
struct Pasture {
  using More = std::function<void(WorldSetup&, Herdsman&)>;
  explicit Pasture(std::uint32_t monsters = 0, const More& more = {}) {
    setup.terrain = TerrainKind::flat;
    setup.players_max = 2;
    setup.monsters = monsters;
    setup.monsters_max = 8;
    setup.game = [this, more] {
      auto made = std::make_unique<Herdsman>();
      game = made.get();
      if (more) more(setup, *made);
      return made;
    };
    if (Herdsman unused; more) more(setup, unused);
    begin();
  }
  void begin() {
    world = std::make_unique<World>(setup);
    const std::uint32_t token = 1;
    TickInput input;
    input.joins = {&token, 1};
    world->step(input);
    player = world->joined()[0].id;
  }
  void step(int ticks = 1) {
    for (int i = 0; i < ticks; ++i) world->step({});
  }
  /// In the next tick, before anybody moves.
  template <typename Body>
  auto ask(const Body& body) {
    decltype(body(std::declval<GameApi&>())) result{};
    game->on_tick = [&](GameApi& api, EntityId) { result = body(api); };
    step();
    game->on_tick = {};
    return result;
  }
  EntityId spawn(double x, bool asleep = true, MonsterKind kind = MonsterKind::imp) {
    return ask([&](GameApi& api) { return api.spawn_monster(kind, {{x, 6, ground_m}, Turn16{0}}, asleep); });
  }
  std::size_t row(EntityId monster) const { return slot_of(monster) - setup.players_max; }
  bool there(EntityId monster) const { return world->monster_row(monster) >= 0; }

  static constexpr double ground_m = flat_surface_m;
  WorldSetup setup;
  Herdsman* game = nullptr;
  std::unique_ptr<World> world;
  EntityId player{};
};

}  // namespace

TEST_CASE("a monster that a game removes is gone without a death, and its row is free",
          "[world][game][game_monsters]") {
  Pasture p;
  const EntityId imp = p.spawn(8), other = p.spawn(12);
  REQUIRE((imp != EntityId{0} && other != EntityId{0}));
  CHECK(p.world->monster_count() == 2);
  const std::uint64_t before = p.world->hash();
  struct Said {
    bool first, second, nobody, player;
    EntityId next;
  };
  const Said said = p.ask([&](GameApi& api) {
    Said s{};
    s.first = api.remove_monster(imp);
    s.second = api.remove_monster(imp);
    s.nobody = api.remove_monster(EntityId{0});
    s.player = api.remove_monster(p.player);
    CHECK_FALSE(api.hurt(imp, EntityId{0}, 1));
    CHECK_FALSE(api.set_field(imp, 0, 1));
    s.next = api.spawn_monster(MonsterKind::imp, {{8, 6, Pasture::ground_m}, Turn16{0}}, true);
    return s;
  });
  CHECK((said.first && !said.second && !said.nobody && !said.player));
  CHECK_FALSE(p.there(imp));
  CHECK(p.there(other));
  CHECK(p.row(said.next) == p.row(imp));
  CHECK(said.next != imp);
  CHECK(p.world->monster_count() == 2);
  CHECK(p.game->dead.empty());
  CHECK(p.world->combat().events().empty());
  CHECK(p.world->combat().counters().monster_deaths == 0);
  CHECK(p.world->match().players[0].kills == 0);
  CHECK(p.world->hash() != before);
}

TEST_CASE("a monster is put where its body has room, and keeps what it is", "[world][game][game_monsters]") {
  Pasture p;
  const EntityId imp = p.spawn(8);
  p.ask([&](GameApi& api) { return api.hurt(imp, EntityId{0}, 7); });
  const MonsterTable& m = p.world->monsters();
  const std::size_t row = p.row(imp);
  const std::uint16_t health = m.health[row];
  const DVec3 home = m.home_m[row];
  const auto move = [&](DVec3 to) {
    return p.ask([&](GameApi& api) { return api.move_monster(imp, {to, Turn16{100}}); });
  };
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(move({0, 0, -200}));       // rock
  CHECK_FALSE(move({100'000, 0, 100}));  // ground that is not loaded
  CHECK_FALSE(move({1e9, 0, 100}));      // out of the world
  CHECK_FALSE(move({nan, 0, 100}));
  CHECK(length(m.body[row].position_m - home) < 0.1);
  CHECK(move({-9, -7, Pasture::ground_m + 0.5}));
  CHECK(p.there(imp));
  CHECK(m.id[row] == imp);
  CHECK(m.health[row] == health);
  CHECK(m.home_m[row] == home);
  CHECK(length(xy(m.body[row].position_m) - DVec2{-9, -7}) < 0.5);
  p.step(60);
  CHECK(m.body[row].position_m.z == Approx(Pasture::ground_m).margin(0.05));  // it fell onto its feet
  CHECK(p.ask([&](GameApi& api) { return api.remove_monster(imp); }));
  CHECK_FALSE(move({8, 6, Pasture::ground_m}));
}

TEST_CASE("monsters go and move in whatever hook they are in, with those after them and their missiles",
          "[world][game][game_monsters]") {
  // Two who fight each other, one who sleeps, one that the player touches.
  Pasture p(0, [](WorldSetup& setup, Herdsman&) { setup.rules.monsters_fight = Switch::on; });
  std::vector<EntityId> imps;
  for (const double x : {8.0, 14.0, 20.0}) imps.push_back(p.spawn(x, x > 15));
  p.ask([&](GameApi& api) { return api.hurt(imps[0], imps[1], 1) && api.hurt(imps[1], imps[0], 1); });
  CHECK(p.world->monsters().target[p.row(imps[0])] == imps[1]);
  for (int i = 0; i < 600 && p.world->projectiles().count == 0; ++i) p.step();
  REQUIRE(p.world->projectiles().count > 0);
  // Asked how much it takes, the game takes it away: the hit meets nobody, and its row is another's at once.
  EntityId gone{}, instead{};
  p.game->on_damage = [&](GameApi& api, EntityId who) {
    if (gone != EntityId{0} || p.world->player_row(who) >= 0) return;
    const DVec3 at = api.monsters().body[p.row(who)].position_m;
    CHECK(api.remove_monster(who));
    instead = api.spawn_monster(MonsterKind::imp, {at, Turn16{0}}, true);
    gone = who;
  };
  for (int i = 0; i < 1200 && gone == EntityId{0}; ++i) p.step();
  REQUIRE(gone != EntityId{0});
  REQUIRE(instead != EntityId{0});
  CHECK_FALSE(p.there(gone));
  CHECK(p.world->monsters().health[p.row(instead)] == p.world->monsters().traits_at(p.row(instead)).health);
  CHECK(p.world->monster_count() == 3);
  p.game->on_damage = {};
  p.step(120);
  // The one that sleeps goes in the tick in which it wakes, and in a late hook.
  p.game->on_touched = [&](GameApi& api, EntityId monster) { CHECK(api.remove_monster(monster)); };
  const DVec3 at = p.world->players().body[0].position_m;
  CHECK(p.ask([&](GameApi& api) { return api.move_monster(imps[2], {at + DVec3{0.8, 0, 0}, Turn16{0}}); }));
  CHECK_FALSE(p.there(imps[2]));
  CHECK(p.world->monster_count() == 2);
  p.step(60);
}

TEST_CASE("ids of monsters that were there for a tick's middle alone are not given again",
          "[world][game][game_monsters]") {
  const auto generation_after = [](bool passes) {
    Pasture p;
    p.ask([&](GameApi& api) {
      if (!passes) return true;
      const EntityId imp = api.spawn_monster(MonsterKind::imp, {{8, 6, Pasture::ground_m}, Turn16{0}}, false);
      CHECK(api.move_monster(imp, {{9, 6, Pasture::ground_m}, Turn16{0}}));
      CHECK(api.remove_monster(imp));
      return api.spawn_monster(MonsterKind::imp, {{8, 6, Pasture::ground_m}, Turn16{0}}) != EntityId{0} &&
             api.remove_monster(api.monsters().id[0]);
    });
    CHECK(p.world->monster_count() == 0);
    p.step(10);
    return p.world->monsters().generation[0];
  };
  CHECK(generation_after(true) == generation_after(false) + 2);
}

TEST_CASE("the same removals and moves are the same world", "[world][game][game_monsters]") {
  const auto play = [](double to_x) {
    Pasture p(6);
    p.game->on_tick = [&](GameApi& api, EntityId) {
      if (api.tick() == TickId{30}) CHECK(api.remove_monster(api.monsters().id[2]));
      if (api.tick() == TickId{40})
        CHECK(api.move_monster(api.monsters().id[3], {{to_x, 6, Pasture::ground_m}, Turn16{0}}));
    };
    p.step(120);
    CHECK(p.world->monster_count() == 5);
    return p.world->hash();
  };
  CHECK(play(6) == play(6));
  CHECK(play(6) != play(7));
}

TEST_CASE("a removed monster of the world's own stays away until the next match, and from a kept world",
          "[world][game][game_monsters]") {
  Pasture p(2, [](WorldSetup& setup, Herdsman&) { setup.rules.monster_respawn_s = 1; });
  const EntityId first = p.world->monsters().id[0];
  CHECK(p.ask([&](GameApi& api) { return api.remove_monster(first); }));
  p.step(200);
  CHECK(p.world->monster_count() == 1);
  KeptState state;
  p.world->keep_state(state);
  REQUIRE(state.monsters.size() == 1);
  CHECK(state.monsters[0].row == 1);
  WorldSetup again = p.setup;
  again.kept = std::make_shared<const KeptState>(state);
  again.game = [] { return std::make_unique<Herdsman>(); };
  CHECK(World(again).monster_count() == 1);
  // One that died is back: that it is another's row by now nobody could tell.
  const EntityId second = p.world->monsters().id[1];
  p.ask([&](GameApi& api) { return api.hurt(second, EntityId{0}, 60'000); });
  CHECK(p.world->monster_count() == 0);
  p.step(120);
  CHECK(p.world->monster_count() == 1);
  p.ask([&](GameApi& api) { return api.restart(), 0; });
  CHECK(p.world->monster_count() == 2);
  // And as the world begins.
  p.setup.game = [] {
    auto made = std::make_unique<Herdsman>();
    made->on_begin = [](GameApi& api, EntityId) {
      for (const EntityId id : std::vector(api.monsters().id)) api.remove_monster(id);
    };
    return made;
  };
  CHECK(World(p.setup).monster_count() == 0);
}

TEST_CASE("what a game does to monsters that nobody sees is in the hash", "[world][game][game_monsters]") {
  const auto hash_of = [](bool removes) {
    WorldSetup setup;
    setup.terrain = TerrainKind::flat;
    setup.monsters = setup.monsters_max = 2;
    setup.game = [removes] {
      auto made = std::make_unique<Herdsman>();
      if (removes)
        made->on_edited = [](GameApi& api, EntityId) { CHECK(api.remove_monster(api.monsters().id[0])); };
      return made;
    };
    World world(setup);
    const BlockEdit edit{{0, 0, flat_surface_m + 5}, BlockId::stone};
    TickInput input;
    input.edits = {&edit, 1};
    world.step(input);
    CHECK(world.monster_count() == (removes ? 1 : 2));
    return world.hash();
  };
  CHECK(hash_of(true) != hash_of(false));
}

namespace {

/// A room with a shotgun, a key and a stimpack, and a player in its corner.
struct Armoury : Pasture {
  Armoury()
      : Pasture(0, [](WorldSetup& made, Herdsman&) {
          PlaceOptions options;
          options.surface_z = 32;
          auto placed = place_map(row_of_rooms({{0, 128}, {0, 128}}, {{}},
                                               {thing_at(30, 128, 1), thing_at(200, 128, 2001),
                                                thing_at(200, 60, 5), thing_at(200, 200, 2011)}),
                                  options);
          if (!placed) FAIL(placed.error().line());
          if (made.maps.empty()) made.maps = {*placed};
          made.rules.skill = 3;
        }) {}
  const PickupTable& table() const { return world->pickups().table(); }
  bool lies(std::size_t row) const { return table().id[row] != EntityId{0}; }
};

}  // namespace

TEST_CASE("a game takes what lies about, and puts it there again", "[world][game][game_pickups]") {
  Armoury a;
  constexpr std::size_t gun = 0, key = 1, stimpack = 2;
  REQUIRE(a.table().dropped_from == 3);
  const EntityId first = a.table().id[gun];
  const std::uint64_t before = a.world->hash();
  a.ask([&](GameApi& api) {
    CHECK(&api.pickups() == &a.table());
    CHECK(api.take_pickup(gun));
    CHECK_FALSE(api.take_pickup(gun));
    CHECK_FALSE(api.take_pickup(key));
    CHECK_FALSE(api.put_pickup(key));
    CHECK_FALSE(api.take_pickup(a.table().rows()));
    CHECK_FALSE(api.put_pickup(a.table().rows()));
    CHECK_FALSE(api.put_pickup(a.table().dropped_from));  // room for what monsters leave
    CHECK(api.take_pickup(stimpack, 1));
    return 0;
  });
  CHECK(a.world->pickups().lying() == 1);
  CHECK(a.world->hash() != before);
  a.step(58);
  CHECK_FALSE(a.lies(stimpack));
  a.step(4);
  CHECK((a.lies(stimpack) && !a.lies(gun)));
  a.step(200);
  CHECK_FALSE(a.lies(gun));
  CHECK(a.ask([&](GameApi& api) { return api.put_pickup(gun); }));
  CHECK(a.lies(gun));
  CHECK(a.table().id[gun] != first);  // clients see it go and come
  // It is there for all: somebody takes it, and the game puts it back at once.
  const DVec3 at = a.table().position_m[gun];
  const AdminCommand there{AdminAction::teleport, a.player, at};
  TickInput input;
  input.admin = {&there, 1};
  a.world->step(input);
  a.step(2);
  CHECK(a.game->picked == 1);
  CHECK_FALSE(a.lies(gun));
  CHECK(a.ask([&](GameApi& api) { return api.put_pickup(gun); }));
  CHECK(a.game->picked == 2);  // who stands there has more of its shells
  CHECK(a.ask([&](GameApi& api) { return api.take_pickup(stimpack); }));
  CHECK(a.world->pickups().lying() == 1);
  a.ask([&](GameApi& api) { return api.restart(), 0; });
  CHECK(a.world->pickups().lying() == 3);
  CHECK(a.game->picked == 2);
}

TEST_CASE("what a monster left is taken by a game for good", "[world][game][game_pickups]") {
  Armoury a;
  const DVec3 by = a.world->players().body[0].position_m;
  a.ask([&](GameApi& api) {
    const EntityId gunner = api.spawn_monster(MonsterKind::rifleman, {by + DVec3{2, 0, 0}, Turn16{0}}, true);
    REQUIRE(gunner != EntityId{0});
    return api.hurt(gunner, EntityId{0}, 60'000);
  });
  const std::size_t row = a.table().dropped_from;
  REQUIRE(a.lies(row));
  CHECK(a.ask([&](GameApi& api) { return api.take_pickup(row, 1); }));
  CHECK_FALSE(a.lies(row));
  CHECK_FALSE(a.ask([&](GameApi& api) { return api.put_pickup(row); }));
  a.step(120);
  CHECK_FALSE(a.lies(row));
  CHECK(a.world->pickups().lying() == 3);
}
