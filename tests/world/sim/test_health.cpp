#include "world/sim/health.h"

#include <memory>
#include <utility>

#include "tests/catch.h"
#include "tests/world/compass.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/combat.h"
#include "world/sim/game.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

/// A world of one map with a crusher behind a line that starts it, and a player before that line.
struct Crushed {
  /// @param imp  one sleeps under the crusher, and is back a second after it died
  explicit Crushed(std::uint16_t rate_hz, double respawn_s = 4, bool imp = false) {
    PlaceOptions options;
    options.surface_z = 32;
    options.doors_open = options.doorway = false;
    setup.maps.push_back(*place_map(row_of_rooms({{0, 128}, {0, 120, 5}, {0, 128}}, {{77, 5}, {}},
                                                 {thing_at(40, 128, 1), thing_at(192, 200, 3001)}),
                                    options));
    setup.rules.tick_rate_hz = rate_hz;
    setup.rules.respawn_s = respawn_s;
    setup.players_max = 2;
    setup.monsters_max = setup.monsters = imp ? 1 : 0;
    setup.rules.monster_respawn_s = 1;
    setup.rules.monsters_fight = Switch::off;
    begin();
  }
  /// Anew, with what the setup says now.
  void begin() {
    world = std::make_unique<World>(setup);
    const std::uint32_t token = 1;
    TickInput join;
    join.joins = std::span(&token, 1);
    world->step(join);
    id = world->joined()[0].id;
    const DVec2 at = setup.maps[0]->to_world({90, 128});
    const AdminCommand to_room{AdminAction::teleport, id, {at.x, at.y, setup.maps[0]->z_to_world(0)}};
    TickInput put;
    put.admin = std::span(&to_room, 1);
    world->step(put);
  }
  void step(PlayerCommand command) {
    const PlayerInput in{id, command};
    TickInput input;
    input.commands = std::span(&in, 1);
    world->step(input);
  }
  /// Walks under the crusher and stops there until it dies. @return ticks from the first hurt to death
  int die() {
    PlayerCommand walk;
    walk.yaw = east, walk.forward = 1;
    int ticks = 0, hurt_for = 0;
    while (world->players().health[0] != 0) {
      const DVec2 at = setup.maps[0]->to_map(xy(world->players().body[0].position_m));
      step(at.x < 190 ? walk : PlayerCommand{});
      if (world->players().health[0] < setup.rules.player_health) ++hurt_for;
      if (++ticks > 20 * setup.rules.tick_rate_hz) FAIL("the crusher did not kill");
    }
    return hurt_for;
  }

  WorldSetup setup;
  std::unique_ptr<World> world;
  EntityId id{};
};

}  // namespace

TEST_CASE("health runs from full to dead and death comes once", "[world][health]") {
  std::uint16_t health = 25;
  CHECK_FALSE(hurt(health, 10));
  CHECK(health == 15);
  CHECK_FALSE(hurt(health, 14));
  CHECK(hurt(health, 10));
  CHECK(health == 0);
  CHECK_FALSE(hurt(health, 10));
  CHECK(health_share(0, 100) == 0);
  CHECK(health_share(1, 4000) == 1);
  CHECK(health_share(50, 100) == 127);
  CHECK(health_share(100, 100) == 255);
  CHECK(health_share(200, 100) == 255);
}

TEST_CASE("a monster that a crusher killed is back after the rule's seconds", "[world][health]") {
  Crushed c(60, 4, true);
  REQUIRE(c.world->monster_count() == 1);
  c.die();
  for (int t = 0; t < 20 * 60 && c.world->monster_count() > 0; ++t) c.step({});
  REQUIRE(c.world->mechanics().counters().monster_deaths > 0);
  REQUIRE(c.world->monster_count() == 0);
  int ticks = 0;
  for (; ticks < 20 * 60 && c.world->monster_count() == 0; ++ticks) c.step({});
  CHECK(c.world->monster_count() == 1);
  CHECK(ticks >= 50);
}

TEST_CASE("a game takes a monster from under a crusher, in whose stead another one stays whole",
          "[world][health][game_monsters]") {
  Crushed c(60, 4, true);
  struct Saviour final : Game {
    std::uint16_t damage(GameApi& api, EntityId who, EntityId, std::uint16_t asked) override {
      if (is_player(api, who) || saved) return asked;
      saved = true;
      CHECK(api.remove_monster(who));
      instead = api.spawn_monster(MonsterKind::imp, {{0, 0, 100}, Turn16{0}}, true);
      return 60'000;
    }
    bool saved = false;
    EntityId instead{};
  };
  Saviour* game = nullptr;
  c.setup.game = [&game] {
    auto made = std::make_unique<Saviour>();
    game = made.get();
    return made;
  };
  c.begin();
  PlayerCommand walk;
  walk.yaw = east, walk.forward = 1;
  for (int t = 0; t < 60 * 60 && !game->saved; ++t) c.step(walk);
  REQUIRE(game->saved);
  REQUIRE(game->instead != EntityId{0});
  CHECK(c.world->mechanics().counters().monster_deaths == 0);
  CHECK(c.world->monster_row(game->instead) == 0);
  CHECK(c.world->monsters().health[0] == c.world->monsters().traits_at(0).health);
  CHECK(c.world->monster_count() == 1);
  c.step({});
  CHECK(c.world->combat().counters().monster_deaths == 0);
}

TEST_CASE("a crusher kills a player in ten strokes, who comes back at a start", "[world][health]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(10, 35, 60, 128));
  CAPTURE(rate);
  Crushed c(rate);
  const int hurt_for = c.die();
  // Ten times, every 4/35 s, each rounded up to whole ticks.
  const double least_s = 9 * 4.0 / 35;
  CHECK(hurt_for >= static_cast<int>(least_s * rate));
  CHECK(hurt_for <= static_cast<int>((least_s + 9.0 / rate) * rate) + 2);
  CHECK(c.world->mechanics().counters().player_deaths == 1);
  CHECK_FALSE(c.world->players().alive(0));
  CHECK(c.world->players().id[0] == c.id);

  // The dead do not walk, use lines, take room or stop a crusher.
  const DVec3 fell = c.world->players().body[0].position_m;
  PlayerCommand push;
  push.forward = 1, push.buttons = button::jump;
  const int wait = static_cast<int>(c.setup.rules.respawn_s * rate);
  double lowest = 1e9;
  for (int i = 0; i < wait - 2; ++i) {
    c.step(push);
    REQUIRE_FALSE(c.world->players().alive(0));
    REQUIRE(c.world->players().body[0].position_m == fell);
    lowest = std::min(lowest, c.world->maps()[0].heights[1].ceiling_m);
  }
  CHECK(lowest < fell.z + 0.5);
  for (int i = 0; i < 4; ++i) c.step({});
  REQUIRE(c.world->players().alive(0));
  CHECK(c.world->players().health[0] == 100);
  CHECK(c.world->players().body[0].position_m != fell);
  CHECK_FALSE(space_overlaps(c.world->space(), c.setup.rules.player, c.world->players().body[0].position_m));
}

TEST_CASE("the use button brings a dead player back after a second and does nothing else",
          "[world][health]") {
  Crushed c(60, 30);
  c.die();
  PlayerCommand use;
  use.buttons = button::use;
  int ticks = 0;
  while (!c.world->players().alive(0) && ticks < 200) c.step(use), ++ticks;
  CHECK(ticks >= 58);
  CHECK(ticks <= 62);
}

TEST_CASE("health is part of the world's hash", "[world][health]") {
  Crushed a(60), b(60);
  REQUIRE(a.world->hash() == b.world->hash());
  a.setup.rules.crush_damage = 10;
  a.die(), b.die();
  CHECK(a.world->hash() == b.world->hash());
}

TEST_CASE("a crusher kills monsters by their health, and their rows are free then", "[world][health]") {
  struct Case {
    MonsterKind kind;
    int strokes;
  };
  const Case c =
      GENERATE(Case{MonsterKind::rifleman, 2}, Case{MonsterKind::imp, 6}, Case{MonsterKind::brute, 15});
  CAPTURE(traits(c.kind).name);
  MovingWorld w(row_of_rooms({{0, 128}, {0, 120, 5}, {0, 128}}, {{}, {}}), 60);
  const std::size_t row = w.add_monster(c.kind, w.at(192, 128, 0), Turn16{16384});
  const EntityId id = w.monsters.id[row];
  REQUIRE(start(w, 77, 5));
  int strokes = 0;
  bool died = false;
  for (int i = 0; i < 60 * 20 && !died; ++i) {
    w.step();
    strokes += static_cast<int>(w.count(MoverEventKind::crushed));
    for (const MoverEvent& e : w.mechanics.events())
      if (e.kind == MoverEventKind::died) {
        died = true;
        CHECK(e.entity == id);
      }
  }
  REQUIRE(died);
  CHECK(strokes == c.strokes);
  CHECK(w.monsters.id[row] == EntityId{0});
  w.run(3);
  CHECK(w.count(MoverEventKind::crushed) == 0);
}

TEST_CASE("eight bodies under a crusher all die of it and nobody alive is ever in solid", "[world][health]") {
  const auto rate = static_cast<std::uint16_t>(GENERATE(10, 60, 128));
  CAPTURE(rate);
  MovingWorld w(row_of_rooms({{0, 128}, {0, 120, 5}, {0, 128}}, {{}, {}}), rate);
  for (int i = 0; i < 6; ++i) w.add_player(w.at(150 + 28 * (i % 3), 60 + 40 * (i / 3), 0));
  for (int i = 0; i < 2; ++i) w.add_monster(MonsterKind::imp, w.at(180, 180 + 50 * i, 0), Turn16{16384});
  REQUIRE(start(w, 73, 5));
  std::size_t deaths = 0;
  for (int i = 0; i < 20 * rate && deaths < 8; ++i) {
    w.step();
    deaths += w.count(MoverEventKind::died);
    for (std::size_t k = 0; k < 6; ++k)
      if (w.players.alive(k))
        REQUIRE_FALSE(space_overlaps(w.space(), w.rules.player, w.players.body[k].position_m));
    for (std::size_t k = 0; k < 2; ++k)
      if (w.monsters.id[k] != EntityId{0})
        REQUIRE_FALSE(
            space_overlaps(w.space(), traits(w.monsters.kind[k]).shape, w.monsters.body[k].position_m));
  }
  CHECK(deaths == 8);
}

TEST_CASE("crushers ask the game, armour and powers as all that hurts", "[world][health]") {
  Crushed c(60);
  PlayerCommand walk;
  walk.yaw = east, walk.forward = 1;
  const auto under = [&] {
    return c.setup.maps[0]->to_map(xy(c.world->players().body[0].position_m)).x >= 190;
  };
  struct Merciful final : Game {
    std::uint16_t damage(GameApi&, EntityId, EntityId, std::uint16_t asked) override {
      ++asks;
      return spares ? std::uint16_t{0} : asked;
    }
    void tick(GameApi& api) override {
      if (const std::uint16_t thing = std::exchange(gives, std::uint16_t{0}); thing != 0)
        for (const EntityId id : api.players().id)
          if (id != EntityId{0}) api.give(id, thing);
    }
    bool spares = true;
    int asks = 0;
    std::uint16_t gives = 0;
  };
  Merciful* game = nullptr;
  c.setup.game = [&game] {
    auto made = std::make_unique<Merciful>();
    game = made.get();
    return made;
  };
  c.begin();
  for (int i = 0; i < 20 * 60 && game->asks < 3; ++i) c.step(under() ? PlayerCommand{} : walk);
  REQUIRE(game->asks >= 3);
  CHECK(c.world->players().health[0] == c.setup.rules.player_health);
  game->spares = false;
  constexpr std::uint16_t green_armour = 2018, invulnerability = 2022;
  game->gives = green_armour;
  const auto next_hit = [&] {
    for (int i = 0; i < 20 * 60; ++i) {
      c.step({});
      for (const CombatEvent& e : c.world->combat().events())
        if (e.kind == CombatEventKind::hurt && e.how == HurtBy::crusher) return int{e.points};
    }
    return 0;
  };
  // A third of it is the armour's.
  const int asked = c.setup.rules.crush_damage;
  const int before = c.world->players().health[0];
  CHECK(next_hit() == asked - asked / 3);
  CHECK(c.world->players().health[0] == before - (asked - asked / 3));
  CHECK(c.world->players().armour[0] == 100 - asked / 3);
  game->gives = invulnerability;
  c.step({});
  const int left = c.world->players().health[0];
  for (int i = 0; i < 5 * 60; ++i) c.step({});
  CHECK(c.world->players().health[0] == left);
}
