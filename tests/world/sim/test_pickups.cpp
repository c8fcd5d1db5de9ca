// What lies about and who takes it. Facts: p_inter.c of the published Doom source.
#include "world/sim/pickups.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>

#include "tests/catch.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/combat.h"
#include "world/sim/game.h"
#include "world/sim/kept_state.h"
#include "world/sim/mechanics.h"
#include "world/sim/spawn.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

struct Taker {
  Taker() {
    p.resize(1);
    p.id[0] = make_entity_id(0, 1);
    p.health[0] = 100;
  }
  bool take(std::uint16_t thing, bool dropped = false) {
    return give_item(default_kinds(), rules, item_of_thing(thing), dropped, p, 0);
  }
  Arsenal& arsenal() { return p.arsenal[0]; }
  Rules rules;
  PlayerTable p;
};

/// Two rooms with things in them, and one player.
struct ItemWorld {
  explicit ItemWorld(const std::vector<MapThing>& things, std::uint16_t respawn_s = 2,
                     std::function<std::unique_ptr<Game>()> game = {}) {
    if (game) setup.game = std::move(game);
    PlaceOptions options;
    options.surface_z = 32;
    auto placed = place_map(row_of_rooms({{0, 128}, {0, 128}}, {{}}, things), options);
    if (!placed) FAIL(placed.error().line());
    map = *placed;
    setup.maps = {map};
    setup.players_max = 4;
    setup.monsters_max = setup.monsters = 4;
    setup.rules.item_respawn_s = respawn_s;
    setup.rules.skill = 3;
    world = std::make_unique<World>(setup);
    const std::uint32_t token = 1;
    TickInput input;
    input.joins = {&token, 1};
    world->step(input);
    me = world->joined()[0].id;
    put(40, 40);
  }
  void put(double x, double y) {
    const DVec2 at = map->to_world({x, y});
    const AdminCommand to{AdminAction::teleport, me, {at.x, at.y, map->z_to_world(0)}};
    TickInput input;
    input.admin = {&to, 1};
    world->step(input);
  }
  void step(int ticks = 1) {
    for (int i = 0; i < ticks; ++i) world->step({});
  }
  std::shared_ptr<const PlacedMap> map;
  WorldSetup setup;
  std::unique_ptr<World> world;
  EntityId me{};
};

}  // namespace

TEST_CASE("health and armour are given as far as there is room for them", "[world][sim][pickups]") {
  Taker t;
  CHECK_FALSE(t.take(2011));  // a stimpack to who is whole
  t.p.health[0] = 85;
  CHECK(t.take(2011));
  CHECK(t.p.health[0] == 95);
  CHECK(t.take(2012));
  CHECK(t.p.health[0] == 100);
  CHECK(t.take(2014));
  CHECK(t.p.health[0] == 101);
  CHECK(t.take(2013));
  CHECK(t.p.health[0] == 200);
  CHECK_FALSE(t.take(2014));
  CHECK(t.take(2018));
  CHECK((t.p.armour[0] == 100 && t.p.armour_half[0] == 0));
  CHECK_FALSE(t.take(2018));
  CHECK(t.take(2015));
  CHECK(t.p.armour[0] == 101);
  CHECK(t.take(2019));
  CHECK((t.p.armour[0] == 200 && t.p.armour_half[0] == 1));
  CHECK_FALSE(t.take(83));
  t.p.health[0] = 20, t.p.armour[0] = 0;
  CHECK(t.take(83));
  CHECK((t.p.health[0] == 200 && t.p.armour[0] == 200));
}

TEST_CASE("ammunition comes in Doom's numbers, half of it from the dead, twice at the ends of skill",
          "[world][sim][pickups]") {
  Taker t;
  CHECK(t.take(2007));
  CHECK(t.arsenal().ammo[0] == 60);
  CHECK(t.take(2007, true));
  CHECK(t.arsenal().ammo[0] == 65);
  CHECK(t.take(2048));
  CHECK(t.arsenal().ammo[0] == 115);
  for (int i = 0; i < 5; ++i) t.take(2048);
  CHECK(t.arsenal().ammo[0] == 200);
  CHECK_FALSE(t.take(2048));
  CHECK(t.take(8));  // a backpack: room for twice as much, and a clip of each
  CHECK(t.arsenal().ammo == std::array<std::uint16_t, 4>{210, 4, 1, 20});
  for (int i = 0; i < 5; ++i) t.take(2048);
  CHECK(t.arsenal().ammo[0] == 400);
  t.rules.skill = 5;
  CHECK(t.take(2049));
  CHECK(t.arsenal().ammo[1] == 44);
}

TEST_CASE("a weapon comes with two clips, and up", "[world][sim][pickups]") {
  Taker t;
  CHECK(t.take(2001));
  CHECK(t.arsenal().has(weapon::shotgun));
  CHECK(t.arsenal().ammo[1] == 8);
  CHECK(t.arsenal().wanted == weapon::shotgun);
  CHECK(t.take(2001, true));
  CHECK(t.arsenal().ammo[1] == 12);
  t.arsenal().ammo[1] = 50;
  CHECK_FALSE(t.take(2001));
  CHECK(t.take(2005));  // a saw
  CHECK_FALSE(t.take(2005));
  for (const int thing : {2002, 2003, 2004, 2006, 82}) CHECK(t.take(static_cast<std::uint16_t>(thing)));
  CHECK(t.arsenal().weapons == 0x1ff);
  CHECK(t.arsenal().ammo == std::array<std::uint16_t, 4>{70, 50, 2, 80});
}

TEST_CASE("who was out of ammunition takes up what it came for", "[world][sim][pickups]") {
  Taker t;
  t.arsenal().ammo[0] = 0;
  t.arsenal().held = t.arsenal().wanted = weapon::fist;
  CHECK(t.take(2007));
  CHECK(t.arsenal().wanted == weapon::pistol);
}

TEST_CASE("powers last as long as Doom's", "[world][sim][pickups]") {
  Taker t;
  const auto left_s = [&](Power power) {
    return t.arsenal().power_ticks[static_cast<std::size_t>(power)] / 60.0;
  };
  for (const int thing : {2022, 2024, 2025, 2026, 2045}) CHECK(t.take(static_cast<std::uint16_t>(thing)));
  CHECK(left_s(Power::invulnerability) == 30);
  CHECK(left_s(Power::invisibility) == 60);
  CHECK(left_s(Power::suit) == 60);
  CHECK(left_s(Power::light) == 120);
  CHECK(t.arsenal().power_ticks[static_cast<std::size_t>(Power::map)] == power_endless);
  CHECK_FALSE(t.take(2026));
  t.p.health[0] = 30;
  CHECK(t.take(2023));
  CHECK(t.p.health[0] == 100);
  CHECK(t.arsenal().wanted == weapon::fist);
}

TEST_CASE("an item is taken by who comes near, and back after its time", "[world][sim][pickups]") {
  ItemWorld w({thing_at(30, 128, 1), thing_at(200, 128, 2001), thing_at(200, 200, 2011)});
  const Pickups& pickups = w.world->pickups();
  CHECK(pickups.lying() == 2);
  w.put(200, 90);  // 38 units away: Doom's boxes of 16 and 20 do not touch
  CHECK(pickups.lying() == 2);
  w.put(200, 96);
  CHECK(pickups.lying() == 1);
  REQUIRE(pickups.events().size() == 1);
  CHECK(pickups.events()[0].player == w.me);
  CHECK(item_type(pickups.events()[0].item).number == 2001);
  const auto row = static_cast<std::size_t>(w.world->player_row(w.me));
  CHECK(w.world->players().arsenal[row].has(weapon::shotgun));
  w.put(200, 200);  // health that it has no use for
  CHECK(pickups.lying() == 1);
  w.step(115);
  CHECK(pickups.lying() == 1);
  w.step(6);
  CHECK(pickups.lying() == 2);
  CHECK(pickups.taken() == 1);
}

TEST_CASE("a key lies there for everybody, and opens what it belongs to", "[world][sim][pickups]") {
  ItemWorld w({thing_at(30, 128, 1), thing_at(200, 128, 5)});
  w.put(200, 128);
  w.step();
  const auto row = static_cast<std::size_t>(w.world->player_row(w.me));
  CHECK(w.world->mechanics().keys(row) != 0);
  CHECK(w.world->pickups().lying() == 1);
}

TEST_CASE("what is marked for another skill, or stands in a wall, is not there or beside it",
          "[world][sim][pickups]") {
  MapThing hard = thing_at(200, 128, 2001);
  hard.flags = thing_flag::hard;
  ItemWorld w({thing_at(30, 128, 1), hard, thing_at(254, 128, 2007), thing_at(2, 200, 2008)});
  const PickupTable& items = w.world->pickups().table();
  CHECK(w.world->pickups().lying() == 2);
  for (std::size_t i = 0; i < items.dropped_from; ++i)
    CHECK_FALSE(space_overlaps(w.world->space(), item_shape, items.position_m[i]));
}

TEST_CASE("things are there in the games that their marks name", "[world][sim][pickups]") {
  constexpr std::uint16_t all = thing_flag::easy | thing_flag::medium | thing_flag::hard;
  const auto there = [](GameMode mode, unsigned flags) {
    Rules rules;
    rules.mode = mode;
    rules.skill = 3;
    return thing_in_game(static_cast<std::uint16_t>(flags), rules);
  };
  for (const GameMode mode :
       {GameMode::sandbox, GameMode::cooperative, GameMode::deathmatch, GameMode::teams}) {
    CHECK(there(mode, all));
    CHECK(there(mode, all | thing_flag::multiplayer_only));
    CHECK_FALSE(there(mode, thing_flag::hard));
    CHECK_FALSE(there(mode, all | thing_flag::not_deathmatch | thing_flag::not_cooperative));
    // An editor of old that sets whatever it does not know means nothing by it.
    CHECK(there(mode, 0xfff8u | all));
    const bool against = mode == GameMode::deathmatch || mode == GameMode::teams;
    CHECK(there(mode, all | thing_flag::not_deathmatch) == !against);
    CHECK(there(mode, all | thing_flag::not_cooperative) == against);
  }

  MapThing together = thing_at(200, 128, 2001);
  together.flags = all | thing_flag::not_deathmatch;
  MapThing against = thing_at(200, 40, 2003);
  against.flags = all | thing_flag::not_cooperative;
  ItemWorld w({thing_at(30, 128, 1), together, against});
  REQUIRE(w.world->pickups().lying() == 1);
  CHECK(item_type(w.world->pickups().table().item[0]).number == 2001);
}

TEST_CASE("what a monster leaves is its own though another has its row in the same tick",
          "[world][sim][pickups]") {
  struct Swap final : Game {
    void tick(GameApi& api) override {
      const MonsterTable& m = api.monsters();
      if (!asked || m.id[0] == EntityId{0}) return;
      asked = false;
      where = m.body[0].position_m;
      api.hurt(m.id[0], EntityId{0}, 60000);
      api.spawn_monster(MonsterKind::brute, {where + DVec3{0, 3, 0}, Turn16{0}});
      same_row = m.id[0] != EntityId{0};
    }
    bool asked = false, same_row = false;
    DVec3 where;
  };
  Swap* game = nullptr;
  ItemWorld w({thing_at(30, 128, 1), thing_at(200, 128, 3004, 180)}, 2, [&] {
    auto swap = std::make_unique<Swap>();
    game = swap.get();
    return swap;
  });
  game->asked = true;
  w.step();
  REQUIRE(game->same_row);
  REQUIRE(w.world->pickups().lying() == 1);
  const PickupTable& items = w.world->pickups().table();
  CHECK(item_type(items.item[items.dropped_from]).number == 2007);
  CHECK(length(xy(items.position_m[items.dropped_from] - game->where)) < 0.5);
}

TEST_CASE("a rifleman leaves a clip of half its bullets, for a minute", "[world][sim][pickups]") {
  ItemWorld w({thing_at(30, 128, 1), thing_at(200, 128, 3004, 180)});
  REQUIRE(w.world->monster_count() >= 1);
  const DVec2 there = w.map->to_world({200, 128});
  w.put(60, 128);
  PlayerInput shot{w.me, {}};
  const auto row = static_cast<std::size_t>(w.world->player_row(w.me));
  for (int i = 0; i < 60 * 20 && w.world->pickups().lying() == 0; ++i) {
    const DVec2 to = there - xy(w.world->players().body[row].position_m);
    shot.command.yaw = turn_towards(to);
    shot.command.buttons = button::attack;
    TickInput input;
    input.commands = {&shot, 1};
    w.world->step(input);
  }
  REQUIRE(w.world->pickups().lying() == 1);
  const PickupTable& items = w.world->pickups().table();
  CHECK(item_type(items.item[items.dropped_from]).number == 2007);
  const DVec2 lies = w.map->to_map(xy(items.position_m[items.dropped_from]));
  const std::uint16_t before = w.world->players().arsenal[row].ammo[0];
  w.put(lies.x, lies.y);
  CHECK(w.world->players().arsenal[row].ammo[0] == before + 5);
  CHECK(w.world->pickups().lying() == 0);
}

TEST_CASE("in a world whose maps hold no ammunition nobody runs out", "[world][sim][pickups]") {
  const auto bullets_left = [](const std::vector<MapThing>& things) {
    ItemWorld w(things);
    const auto row = static_cast<std::size_t>(w.world->player_row(w.me));
    PlayerInput shot{w.me, {}};
    shot.command.buttons = button::attack;
    TickInput input;
    input.commands = {&shot, 1};
    for (int i = 0; i < 60; ++i) w.world->step(input);
    return w.world->players().arsenal[row].ammo[0];
  };
  CHECK(bullets_left({thing_at(30, 128, 1)}) == 50);
  CHECK(bullets_left({thing_at(30, 128, 1), thing_at(200, 128, 2001)}) < 50);
}

namespace {

/// Sixteen clips on a lift at the end of three rooms, called by who walks over a line.
struct LiftedItems {
  LiftedItems(std::uint16_t special, std::uint16_t rate_hz, double floor) {
    PlaceOptions options;
    options.surface_z = 32;
    std::vector<MapThing> things{thing_at(30, 128, 1)};
    for (int i = 0; i < 16; ++i) things.push_back(thing_at(280 + (i % 4) * 24, 60 + (i / 4) * 24, 2007));
    auto placed =
        place_map(row_of_rooms({{0, 320}, {0, 320}, {floor, 320, 1}}, {{special, 1}, {}}, things), options);
    if (!placed) FAIL(placed.error().line());
    map = *placed;
    setup.maps = {map};
    setup.players_max = 2;
    setup.monsters_max = setup.monsters = 0;
    setup.rules.tick_rate_hz = rate_hz;
    begin();
  }
  void begin() {
    world = std::make_unique<World>(setup);
    const std::uint32_t token = 1;
    TickInput join;
    join.joins = {&token, 1};
    world->step(join);
    me = world->joined()[0].id;
    const DVec2 at = map->to_world({60, 200});
    const AdminCommand to{AdminAction::teleport, me, {at.x, at.y, map->z_to_world(0)}};
    TickInput put;
    put.admin = {&to, 1};
    world->step(put);
  }
  /// Eastward until something moves.
  void call() {
    PlayerInput go{me, {}};
    go.command.forward = 1;
    TickInput input;
    input.commands = {&go, 1};
    for (int i = 0; i < 2 * setup.rules.tick_rate_hz && !world->mechanics().in_motion(); ++i)
      world->step(input);
    REQUIRE(world->mechanics().in_motion());
  }
  double furthest_off_m() const {
    const PickupTable& items = world->pickups().table();
    const double floor_m = world->maps()[0].heights[2].floor_m;
    double off_m = 0;
    for (std::size_t i = 0; i < items.dropped_from; ++i)
      off_m = std::max(off_m, std::fabs(items.position_m[i].z - floor_m));
    return off_m;
  }
  void seconds(double s) {
    for (int i = 0; i < s * setup.rules.tick_rate_hz; ++i) world->step({});
  }
  std::shared_ptr<const PlacedMap> map;
  WorldSetup setup;
  std::unique_ptr<World> world;
  EntityId me{};
};

}  // namespace

TEST_CASE("items lie on their floors wherever these come to rest, at every tick rate",
          "[world][sim][pickups]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(10, 60, 128));
  const auto special = static_cast<std::uint16_t>(GENERATE(36, 58, 88, 120));
  CAPTURE(rate, special);
  LiftedItems lift(special, rate, special == 36 ? 128 : special == 58 ? 0 : 96);
  lift.call();
  lift.seconds(30);
  CHECK_FALSE(lift.world->mechanics().in_motion());
  CHECK(lift.furthest_off_m() == 0);
}

TEST_CASE("items follow floors that move while nobody is there", "[world][sim][pickups]") {
  LiftedItems lift(36, 60, 128);
  lift.call();
  TickInput gone;
  gone.leaves = {&lift.me, 1};
  lift.world->step(gone);
  lift.seconds(30);
  const std::uint32_t token = 2;
  TickInput join;
  join.joins = {&token, 1};
  lift.world->step(join);
  lift.seconds(1);
  CHECK(lift.furthest_off_m() == 0);
}

TEST_CASE("whoever wakes a world finds all items on their floors", "[world][sim][pickups]") {
  // Who leaves a moment after the lift arrived, and whoever comes at any tick later.
  const int left_after = GENERATE(1, 5, 9), away = GENERATE(1, 7, 15, 22, 30);
  CAPTURE(left_after, away);
  LiftedItems lift(36, 60, 128);
  lift.call();
  for (int i = 0; i < 60 * 30 && lift.world->mechanics().in_motion(); ++i) lift.world->step({});
  for (int i = 0; i < left_after; ++i) lift.world->step({});
  TickInput gone;
  gone.leaves = {&lift.me, 1};
  lift.world->step(gone);
  for (int i = 0; i < away; ++i) lift.world->step({});
  const std::uint32_t token = 2;
  TickInput join;
  join.joins = {&token, 1};
  lift.world->step(join);
  lift.seconds(0.5);
  CHECK(lift.furthest_off_m() == 0);
}

TEST_CASE("items lie on floors that an earlier run left elsewhere", "[world][sim][pickups]") {
  LiftedItems before(36, 60, 128);
  before.call();
  before.seconds(30);
  LiftedItems after(36, 60, 128);
  KeptState state;
  before.world->keep_state(state);
  after.setup.kept = std::make_shared<const KeptState>(state);
  after.begin();
  REQUIRE(after.world->maps()[0].heights[2].floor_m == before.world->maps()[0].heights[2].floor_m);
  after.seconds(0.5);
  CHECK(after.furthest_off_m() == 0);
}
