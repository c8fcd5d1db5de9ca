#include "world/sim/projectiles.h"

#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/cases.h"
#include "tests/world/sim/arena.h"
#include "tests/world/sim/moving_rooms.h"
#include "world/sim/shooting.h"

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

namespace {

/// One who attacks and two whom it must not hurt, with a wall between.
struct WallDuel {
  WallDuel(const Space& where, VoxelVolume& its_blocks)
      : space(where), blocks(its_blocks), combat(7, 2, 1, 64), shooting(2, 1, where.maps.size(), true) {
    players.resize(2), monsters.resize(1);
    rules.infighting = Switch::off, rules.friendly_fire = Switch::on;
  }
  bool free(const Cylinder& shape, DVec3 at) const { return !space_overlaps(space, shape, at); }

  void monster_attacks(MonsterKind kind, DVec3 at, DVec3 to, bool ranged) {
    enter_player(0, to);
    players.id[1] = EntityId{0};
    enter(kind, at);
    monster_takes_up(rules, monsters, 0, players.id[0], to);
    monsters.ranged[0] = ranged || traits(kind).melee.form == AttackForm::none ? 1 : 0;
    const std::uint32_t row = 0;
    for (int tick = 0; tick == 0 || (tick < 40 && combat.projectiles().count > 0); ++tick) {
      combat.begin_tick();
      // Once, then what it threw flies on.
      CombatTick all{space, rules, players, monsters};
      combat.fight(all, tick == 0 ? std::span(&row, 1) : std::span<const std::uint32_t>{});
      if (monsters.id[0] != EntityId{0}) monsters.body[0].position_m = at;
      REQUIRE(players.health[0] == 100);
    }
  }
  /// @param aim  where it looks: at the one or the other, or past them
  void player_attacks(std::uint8_t weapon, DVec3 at, DVec3 to, DVec3 aim, MonsterKind other) {
    enter_player(0, at), enter_player(1, to);
    enter(other, to);
    Arsenal& arsenal = players.arsenal[0];
    arsenal = fresh_arsenal(default_kinds());
    arsenal.weapons |= 1u << weapon;
    arsenal.held = arsenal.wanted = weapon;
    arsenal.ammo.fill(200);
    const DVec3 way = aim - (at + DVec3{0, 0, rules.player_eye_m});
    PlayerCommand command;
    command.yaw = turn_towards(xy(way));
    command.pitch = turn_towards({length(xy(way)), way.z});
    command.buttons = button::attack;
    bool fired = false;
    for (int tick = 0; tick < 90 && (!fired || combat.projectiles().count > 0); ++tick) {
      players.take(0, command);
      shooting.shoot({space, blocks, rules, players, monsters, {}, TickId{++now}});
      fired = fired || !shooting.events().empty() || !shooting.launches().empty();
      if (fired) command.buttons = 0;
      combat.begin_tick();
      CombatTick all{space, rules, players, monsters};
      combat.shots(all, shooting.events());
      combat.fight(all, {}, shooting.launches());
      REQUIRE(players.health[1] == 100);
      REQUIRE(monsters.health[0] == traits(other).health);
      players.health[0] = 100;  // its own bursts may hurt it
    }
    fires += fired ? 1 : 0;
  }
  void enter_player(std::size_t row, DVec3 at) {
    players.id[row] = make_entity_id(static_cast<std::uint32_t>(row), 1);
    players.body[row] = Body{};
    players.body[row].position_m = players.body[row].last_free_m = at;
    players.body[row].grounded = 1;
    players.health[row] = 100;
  }
  void enter(MonsterKind kind, DVec3 at) {
    monsters.id[0] = EntityId{0};
    enter_monster(monsters, {kind, {at, Turn16{0}}}, 3, 2);
  }

  Space space;
  VoxelVolume& blocks;
  Rules rules;
  PlayerTable players;
  MonsterTable monsters;
  Combat combat;
  Shooting shooting;
  std::uint32_t now = 0;
  std::uint64_t fires = 0;
};

/// Attacks of every kind and weapon at random; the places are west and east of the wall.
template <typename West, typename East>
void attack_through(WallDuel& duel, Rng& rng, int attacks, West&& west, East&& east) {
  int done = 0;
  for (int tried = 0; done < attacks && tried < 100 * attacks; ++tried) {
    const bool monster = rng.below(2) == 0;
    const auto kind = static_cast<MonsterKind>(rng.below(monster_kind_count));
    const DVec3 at = west(monster ? traits(kind).shape.radius_m : duel.rules.player.radius_m);
    const DVec3 to = east(duel.rules.player.radius_m);
    if (!duel.free(monster ? traits(kind).shape : duel.rules.player, at)) continue;
    if (!duel.free(duel.rules.player, to)) continue;
    ++done;
    if (monster) {
      duel.monster_attacks(kind, at, to, rng.below(2) == 0);
      continue;
    }
    DVec3 aim = to;
    aim.x += rng.between(-1, 1);
    aim.y += rng.between(-1, 1);
    aim.z += rng.between(-0.5, 2);
    const std::uint32_t weapon = rng.below(weapon_kind_count);
    duel.player_attacks(static_cast<std::uint8_t>(weapon), at, to, aim, MonsterKind::imp);
  }
  CHECK(done == attacks);
  CHECK(duel.fires > static_cast<std::uint64_t>(attacks) / 4);
  CHECK(duel.combat.counters().launched > static_cast<std::uint64_t>(attacks) / 10);
}

/// Two rooms of 8 m by 8 m with void between them.
SectorMap two_rooms() {
  MapWriter m;
  m.map.name = "WALL";
  const auto west = m.sector(0, 128), east = m.sector(0, 128);
  m.line({0, 0}, {0, 256}, west), m.line({0, 256}, {256, 256}, west), m.line({256, 0}, {0, 0}, west);
  m.line({264, 0}, {264, 256}, east), m.line({264, 256}, {520, 256}, east);
  m.line({520, 256}, {520, 0}, east), m.line({520, 0}, {264, 0}, east);
  m.line({256, 256}, {256, 0}, west);
  return m.map;
}

}  // namespace

TEST_CASE("no attack passes a wall of blocks", "[world][sim][combat][property]") {
  // Of one block, and random blocks about it.
  Rng rng{21};
  VoxelVolume volume = make_volume({-2, -2, -1}, {4, 4, 2},
                                   [](IVec3 b) { return b.z < 0 || b.x == 0 || random_block(5, b, 0.02); });
  WallDuel duel({&volume, {}}, volume);
  attack_through(
      duel, rng, cases(2000),
      [&](double radius_m) {
        DVec3 at;
        at.x = rng.between(-8, -0.01 - radius_m);
        at.y = rng.between(-8, 8);
        return at;
      },
      [&](double radius_m) {
        DVec3 to;
        to.x = rng.between(1.01 + radius_m, 6);
        to.y = rng.between(-8, 8);
        return to;
      });
}

TEST_CASE("no attack passes a map's wall or a shut door", "[world][sim][combat][property]") {
  Rng rng{22};
  const bool door = GENERATE(false, true);
  // Between the rooms: a quarter of a metre of void, or a door of four metres.
  const SectorMap map = door ? row_of_rooms({{0, 128}, {0, 0}, {0, 128}}, {{1}, {1, 0, true}}) : two_rooms();
  MovingWorld w(map);
  WallDuel duel(w.space(), w.volume);
  const double wide = door ? room_units : 256, gap = door ? room_units : 8, deep = room_depth_units;
  const auto place = [&](double from, double radius_m) {
    const double in = radius_m * map_units_per_m + 0.5;
    const double x = rng.between(from + in, std::max(from + in, from + wide - in) + 0.1);
    const double y = rng.between(in, std::max(in, deep - in) + 0.1);
    return w.at(x, y, 0);
  };
  attack_through(
      duel, rng, cases(1000), [&](double radius_m) { return place(0, radius_m); },
      [&](double radius_m) { return place(wide + gap, radius_m); });
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
