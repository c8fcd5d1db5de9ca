#include "world/sim/projectiles.h"

#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/sim/arena.h"

using namespace ashlar;
using namespace ashlar::test;
using namespace ashlar::testing;

TEST_CASE("rows of projectiles are given out lowest first and their ids differ",
          "[world][sim][projectiles]") {
  ProjectileTable table;
  table.resize(3, 100);
  const std::size_t a = table.take(), b = table.take(), c = table.take();
  CHECK((a == 0 && b == 1 && c == 2));
  CHECK(table.take() == table.rows());
  CHECK(table.count == 3);
  const EntityId before = table.id[1];
  table.free(1);
  CHECK(table.take() == 1);
  CHECK(table.id[1] != before);
  CHECK(slot_of(table.id[1]) == 101);
}

TEST_CASE("what homes turns towards its target by no more than its rate", "[world][sim][projectiles]") {
  Rng rng{9};
  for (int i = 0; i < cases(2000); ++i) {
    const auto draw = [&] {
      DVec3 v;
      v.x = rng.between(-5, 5);
      v.y = rng.between(-5, 5);
      v.z = rng.between(-5, 5);
      return v;
    };
    const DVec3 velocity = draw(), wanted = draw();
    const double turn = rng.between(0.001, 0.3);
    const DVec3 on = turned_towards(velocity, wanted, turn);
    const auto angle = [](DVec3 a, DVec3 b) {
      return std::acos(std::clamp(dot(a, b) / (length(a) * length(b)), -1.0, 1.0));
    };
    CHECK(length(on) == Approx(length(velocity)));
    CHECK(angle(velocity, on) <= turn * 1.05 + 1e-6);
    CHECK(angle(on, wanted) <= angle(velocity, wanted) + 1e-6);
  }
  CHECK(turned_towards({0, 0, 0}, {1, 0, 0}, 1) == DVec3{});
  CHECK(turned_towards({1, 0, 0}, {0, 0, 0}, 1) == DVec3{1, 0, 0});
}

TEST_CASE("no attack passes a wall", "[world][sim][combat][property]") {
  // Monsters of every kind that fights and a player, at random on two sides of a wall of one block, and in
  // random blocks: whoever is hurt can be seen by straight lines from where the hit came from.
  Rng rng{21};
  const auto wall = [](IVec3 b) {
    if (b.z < 0 || b.x == 0) return true;
    return random_block(5, b, 0.02);
  };
  Arena arena(1, 1, wall);
  arena.rules.infighting = Switch::off;
  arena.moves = false;
  unsigned attacks = 0, tried = 0;
  while (attacks < static_cast<unsigned>(cases(3000)) && ++tried < 200000) {
    const auto kind = static_cast<MonsterKind>(rng.below(monster_kind_count));
    const MonsterTraits& t = traits(kind);
    DVec3 at, to;
    at.x = rng.between(-8, -0.01 - t.shape.radius_m);
    at.y = rng.between(-8, 8);
    to.x = rng.between(1.31, 6);
    to.y = rng.between(-8, 8);
    if (space_overlaps(arena.space(), t.shape, at)) continue;
    if (space_overlaps(arena.space(), arena.rules.player, to)) continue;
    arena.players.id[0] = EntityId{0};
    const EntityId id = arena.add_player(to);
    arena.monsters.id[0] = EntityId{0};
    arena.add_monster(kind, at);
    monster_takes_up(arena.rules, arena.monsters, 0, id, to);
    const bool ranged = t.melee.form == AttackForm::none || rng.below(2) == 0;
    arena.monsters.ranged[0] = ranged ? 1 : 0;
    const std::uint32_t row = 0;
    for (int tick = 0; tick < 40; ++tick) {
      CombatTick all = arena.fighting();
      arena.combat.begin_tick();
      // Once, then what it threw flies on.
      arena.combat.fight(all, tick == 0 ? std::span(&row, 1) : std::span<const std::uint32_t>{});
      if (arena.monsters.id[0] != EntityId{0}) arena.monsters.body[0].position_m = at;
      REQUIRE(arena.players.health[0] == 100);
    }
    ++attacks;
  }
  CHECK(attacks >= static_cast<unsigned>(cases(3000)));
  CHECK(arena.combat.counters().launched > 100);
}

TEST_CASE("a burst takes less the further, and nothing behind a wall", "[world][sim][combat]") {
  // A colossus' rocket: 128 points in the middle, nothing from 128 units on.
  Arena arena(3, 1, [](IVec3 b) { return b.z < 0 || b.x == 12; });
  const EntityId target = arena.add_player({8, 0, 0});
  arena.add_player({10, 0, 0});
  arena.add_player({13.4, 0, 0});
  arena.moves = false;
  const std::size_t m = arena.add_monster(MonsterKind::colossus, {0, 0, 0});
  monster_takes_up(arena.rules, arena.monsters, m, target, {8, 0, 0});
  arena.monsters.ranged[m] = 1;
  for (std::size_t i = 0; i < 3; ++i) arena.players.health[i] = 1000;
  for (int t = 0; t < 120; ++t) {
    CombatTick all = arena.fighting();
    arena.combat.begin_tick();
    const std::uint32_t row = static_cast<std::uint32_t>(m);
    arena.combat.fight(all, t == 0 ? std::span(&row, 1) : std::span<const std::uint32_t>{});
  }
  CHECK(arena.players.health[0] <= 1000 - 20 - 100);  // hit by it and in the middle
  const int beside = 1000 - arena.players.health[1];
  CHECK(beside > 30);
  CHECK(beside < 100);
  CHECK(arena.players.health[2] == 1000);
  CHECK(arena.monsters.health[m] == traits(MonsterKind::colossus).health);
}
