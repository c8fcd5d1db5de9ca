#include <algorithm>
#include <map>

#include "tests/catch.h"
#include "tests/world/cases.h"
#include "tests/world/sim/arena.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

constexpr double unit_m = 1.0 / 32;

/// Hits on a player who stands so far from a monster that stands, too, in that time.
std::vector<CombatEvent> hits_of(MonsterKind kind, double distance_m, double seconds) {
  Arena arena(1, 1);
  arena.moves = false;
  arena.add_player({distance_m, 0, 0});
  arena.add_monster(kind, {0, 0, 0});
  std::vector<CombatEvent> hits;
  for (int t = 0; t < seconds * arena.rules.tick_rate_hz; ++t) {
    arena.players.health[0] = 10000;
    arena.players.body[0].position_m = {distance_m, 0, 0};
    arena.step();
    for (const CombatEvent& e : arena.combat.events())
      if (e.kind == CombatEventKind::hurt) hits.push_back(e);
  }
  return hits;
}

struct Fact {
  MonsterKind kind;
  double distance_m;
  HurtBy how;
  std::uint16_t step, low, high;
};

}  // namespace

TEST_CASE("each kind's hits take what Doom's do", "[world][sim][combat]") {
  // Source: A_PosAttack, A_SPosAttack, A_CPosAttack, A_TroopAttack, A_SargAttack, A_HeadAttack,
  // A_BruisAttack, A_SkelFist in p_enemy.c; damage of missiles × (1 to 8), of charges likewise:
  // PIT_CheckThing. The healer's flame and the hive's wisps: test_monster_kinds.cpp.
  const Fact fact = GENERATE(Fact{MonsterKind::rifleman, 6, HurtBy::shot, 3, 3, 15},
                             Fact{MonsterKind::shotgunner, 6, HurtBy::shot, 3, 3, 15},
                             Fact{MonsterKind::imp, 1.2, HurtBy::claw, 3, 3, 24},
                             Fact{MonsterKind::imp, 6, HurtBy::missile, 3, 3, 24},
                             Fact{MonsterKind::brute, 1.5, HurtBy::claw, 4, 4, 40},
                             Fact{MonsterKind::floater, 6, HurtBy::missile, 5, 5, 40},
                             Fact{MonsterKind::knight, 1.5, HurtBy::claw, 10, 10, 80},
                             Fact{MonsterKind::baron, 6, HurtBy::missile, 8, 8, 64},
                             Fact{MonsterKind::skeleton, 6, HurtBy::missile, 10, 10, 80},
                             Fact{MonsterKind::crawler, 8, HurtBy::missile, 5, 5, 40},
                             Fact{MonsterKind::gunner, 6, HurtBy::shot, 3, 3, 15},
                             Fact{MonsterKind::guard, 6, HurtBy::shot, 3, 3, 15},
                             Fact{MonsterKind::shade, 1.5, HurtBy::claw, 4, 4, 40},
                             Fact{MonsterKind::floater, 1.5, HurtBy::claw, 10, 10, 60},
                             Fact{MonsterKind::knight, 6, HurtBy::missile, 8, 8, 64},
                             Fact{MonsterKind::baron, 1.5, HurtBy::claw, 10, 10, 80},
                             Fact{MonsterKind::skeleton, 1.3, HurtBy::claw, 6, 6, 60},
                             Fact{MonsterKind::fatso, 6, HurtBy::missile, 8, 8, 64},
                             Fact{MonsterKind::mastermind, 12, HurtBy::shot, 3, 3, 15});
  CAPTURE(traits(fact.kind).name);
  const std::vector<CombatEvent> hits = hits_of(fact.kind, fact.distance_m, 120);
  CHECK(hits.size() >= 10);
  std::uint16_t low = 0xffff, high = 0;
  for (const CombatEvent& e : hits) {
    CHECK(e.how == fact.how);
    CHECK(e.points % fact.step == 0);
    low = std::min(low, e.points), high = std::max(high, e.points);
  }
  CHECK(low >= fact.low);
  CHECK(high <= fact.high);
  CHECK(low <= fact.low + fact.step);    // of so many hits there is one of the least
  CHECK(high >= fact.high - fact.step);  // and one of the most
}

TEST_CASE("a colossus' rocket takes 20 times 1 to 8 and its burst up to 128", "[world][sim][combat]") {
  // A_CyberAttack: MT_ROCKET, damage 20; A_Explode.
  std::uint16_t low = 0xffff, high = 0;
  for (const CombatEvent& e : hits_of(MonsterKind::colossus, 10, 120)) {
    if (e.how == HurtBy::burst) CHECK((e.points > 100 && e.points <= 128));
    if (e.how != HurtBy::missile) continue;
    CHECK(e.points % 20 == 0);
    low = std::min(low, e.points), high = std::max(high, e.points);
  }
  CHECK((low >= 20 && low <= 40));
  CHECK((high <= 160 && high >= 140));
}

TEST_CASE("a demon beside its target bites every 24 tics", "[world][sim][combat]") {
  // SARG_ATK1 to 3 are 8 tics each, the bite is in the third (info.c).
  const std::vector<CombatEvent> hits = hits_of(MonsterKind::brute, 1.4, 24.0 / 35 * 50);
  CHECK(hits.size() >= 42);
  CHECK(hits.size() <= 51);
}

TEST_CASE("nobody claws from further than Doom's reach", "[world][sim][combat]") {
  const double reach_m = 44 * unit_m + Rules{}.player.radius_m;
  CHECK(hits_of(MonsterKind::brute, reach_m + 0.05, 20).empty());
  CHECK_FALSE(hits_of(MonsterKind::brute, reach_m - 0.05, 20).empty());
}

TEST_CASE("a missile takes the time that its speed says", "[world][sim][combat]") {
  Arena arena(1, 1);
  arena.moves = false;
  arena.add_player({16, 0, 0});
  arena.add_monster(MonsterKind::imp, {0, 0, 0});
  std::uint32_t launched = 0;
  for (int t = 0; t < 60 * 60; ++t) {
    arena.step();
    if (launched == 0 && arena.combat.counters().launched == 1) launched = arena.tick;
    const auto events = arena.combat.events();
    if (events.empty()) continue;
    // From the imp's axis to the player's skin: 350 units a second.
    const double flown_s = (arena.tick - launched) / 60.0;
    CHECK(flown_s == Approx((16 - 0.3 - 6 * unit_m) / (350 * unit_m)).margin(0.05));
    return;
  }
  FAIL("it never hit");
}

TEST_CASE("monsters that sleep see what is before them, and wake by a hit", "[world][sim][combat]") {
  Arena arena(1, 3);
  const EntityId player = arena.add_player({10, 0, 0});
  const std::size_t facing = arena.add_monster(MonsterKind::imp, {0, 0, 0}, true, Turn16{0});
  const std::size_t away = arena.add_monster(MonsterKind::brute, {0, 6, 0}, true, Turn16{32768});
  const std::size_t hit = arena.add_monster(MonsterKind::baron, {0, -6, 0}, true, Turn16{32768});
  arena.rules.monsters_fight = Switch::off;
  arena.moves = false;
  for (int t = 0; t < 20; ++t) arena.step();
  CHECK(arena.monsters.mood[facing] == MonsterMood::chase);
  CHECK(arena.monsters.mood[away] == MonsterMood::asleep);
  CHECK(arena.monsters.mood[hit] == MonsterMood::asleep);
  CombatTick all = arena.fighting();
  arena.combat.hurt(all, arena.monsters.id[hit], {player, 5, HurtBy::shot, {}});
  CHECK(arena.monsters.mood[hit] == MonsterMood::chase);
  CHECK(arena.monsters.target[hit] == player);
  // Who comes close is noticed from behind as well: 64 units.
  arena.players.body[0].position_m = {1.5, 6, 0};
  for (int t = 0; t < 20; ++t) arena.step();
  CHECK(arena.monsters.mood[away] == MonsterMood::chase);
}

TEST_CASE("kin in sight wake with one of theirs", "[world][sim][combat]") {
  Arena arena(1, 4, [](IVec3 b) {
    return b.z < 0 || (b.x == 3 && b.y < 20);  // a wall to the north of x = 3
  });
  const EntityId player = arena.add_player({-10, 0, 0});
  const std::size_t first = arena.add_monster(MonsterKind::imp, {0, 0, 0}, true);
  const std::size_t kin = arena.add_monster(MonsterKind::imp, {0, 5, 0}, true);
  const std::size_t other = arena.add_monster(MonsterKind::brute, {0, -5, 0}, true);
  const std::size_t hidden = arena.add_monster(MonsterKind::imp, {6, 0, 0}, true);
  monster_takes_up(arena.rules, arena.monsters, first, player, {-10, 0, 0});
  monsters_alarm(arena.space(), arena.rules, arena.monsters, first);
  CHECK(arena.monsters.mood[kin] == MonsterMood::chase);
  CHECK(arena.monsters.target[kin] == player);
  CHECK(arena.monsters.mood[other] == MonsterMood::asleep);
  CHECK(arena.monsters.mood[hidden] == MonsterMood::asleep);
}

TEST_CASE("pain comes as often as its chance says, and stops an attack", "[world][sim][combat]") {
  const MonsterKind kind = GENERATE(MonsterKind::imp, MonsterKind::baron, MonsterKind::wisp);
  Arena arena(1, 1);
  const EntityId player = arena.add_player({10, 0, 0});
  const std::size_t m = arena.add_monster(kind, {0, 0, 0});
  int pains = 0;
  constexpr int hits = 2000;
  for (int i = 0; i < hits; ++i) {
    arena.monsters.health[m] = 1000;
    arena.monsters.action[m] = MonsterAction::windup;
    CombatTick all = arena.fighting();
    arena.combat.begin_tick();
    arena.combat.hurt(all, arena.monsters.id[m], {player, 1, HurtBy::shot, {}});
    pains += arena.monsters.action[m] == MonsterAction::pain;
  }
  CHECK(pains / static_cast<double>(hits) == Approx(traits(kind).pain_chance / 256.0).margin(0.04));
}

TEST_CASE("armour takes a third or half of a hit until it is used up", "[world][sim][combat]") {
  Arena arena(1, 0);
  const EntityId id = arena.add_player({0, 0, 0});
  CombatTick all = arena.fighting();
  arena.players.armour[0] = 100;
  arena.combat.hurt(all, id, {{}, 30, HurtBy::burst, {}});
  CHECK(arena.players.armour[0] == 90);
  CHECK(arena.players.health[0] == 80);
  arena.players.armour_half[0] = 1;
  arena.combat.hurt(all, id, {{}, 30, HurtBy::burst, {}});
  CHECK(arena.players.armour[0] == 75);
  CHECK(arena.players.health[0] == 65);
  arena.players.armour[0] = 5;
  arena.combat.hurt(all, id, {{}, 30, HurtBy::burst, {}});
  CHECK(arena.players.armour[0] == 0);
  CHECK(arena.players.health[0] == 40);
  arena.combat.hurt(all, id, {{}, 400, HurtBy::burst, {}});
  CHECK(arena.players.health[0] == 0);
  const auto events = arena.combat.events();
  REQUIRE(events.size() == 5);
  CHECK(events[3].points == 40);  // no more than it had
  CHECK(events[4].kind == CombatEventKind::died);
  arena.combat.hurt(all, id, {{}, 400, HurtBy::burst, {}});
  CHECK(arena.combat.events().size() == 5);  // once
}

TEST_CASE("who may hurt whom is the rules'", "[world][sim][combat]") {
  Arena arena(2, 2);
  const EntityId a = arena.add_player({0, 0, 0}), b = arena.add_player({4, 0, 0});
  const std::size_t imp = arena.add_monster(MonsterKind::imp, {8, 0, 0});
  const std::size_t baron = arena.add_monster(MonsterKind::baron, {12, 0, 0});
  CombatTick all = arena.fighting();
  arena.combat.hurt(all, b, {a, 10, HurtBy::shot, {}});
  CHECK(arena.players.health[1] == 100);
  arena.rules.friendly_fire = Switch::on;
  arena.combat.hurt(all, b, {a, 10, HurtBy::shot, {}});
  CHECK(arena.players.health[1] == 90);
  arena.rules.infighting = Switch::off;
  arena.combat.hurt(all, arena.monsters.id[imp], {arena.monsters.id[baron], 10, HurtBy::missile, {}});
  CHECK(arena.monsters.health[imp] == 60);
  arena.rules.infighting = Switch::on;
  arena.combat.hurt(all, arena.monsters.id[imp], {arena.monsters.id[baron], 10, HurtBy::missile, {}});
  CHECK(arena.monsters.health[imp] == 50);
  CHECK(arena.monsters.target[imp] == arena.monsters.id[baron]);  // and it turns on who did it
  arena.rules.skill = 1;
  arena.combat.hurt(all, a, {arena.monsters.id[imp], 10, HurtBy::claw, {}});
  CHECK(arena.players.health[0] == 95);
}

TEST_CASE("rivals fight it out", "[world][sim][combat]") {
  Arena arena(1, 2);
  arena.add_player({30, 30, 0});
  const std::size_t imp = arena.add_monster(MonsterKind::imp, {0, 0, 0});
  const std::size_t brute = arena.add_monster(MonsterKind::brute, {5, 0, 0});
  CombatTick all = arena.fighting();
  arena.combat.hurt(all, arena.monsters.id[imp], {arena.monsters.id[brute], 5, HurtBy::claw, {}});
  int dead = 0;
  for (int t = 0; t < 60 * 60 && dead == 0; ++t) {
    arena.step();
    dead = static_cast<int>(arena.combat.counters().monster_deaths);
  }
  CHECK(dead == 1);
  CHECK((arena.monsters.id[imp] == EntityId{0}) != (arena.monsters.id[brute] == EntityId{0}));
}

TEST_CASE("a wisp flies at its target and is stopped by it", "[world][sim][combat]") {
  Arena arena(1, 1);
  arena.add_player({12, 0, 0});
  const std::size_t wisp = arena.add_monster(MonsterKind::wisp, {0, 0, 0.5});
  bool charged = false, hit = false;
  double fastest = 0;
  for (int t = 0; t < 20 * 60 && !hit; ++t) {
    arena.step();
    charged = charged || arena.monsters.action[wisp] == MonsterAction::charging;
    fastest = std::max(fastest, length(arena.monsters.body[wisp].velocity_mps));
    for (const CombatEvent& e : arena.combat.events()) hit = hit || e.how == HurtBy::charge;
  }
  CHECK(charged);
  CHECK(hit);
  CHECK(fastest == Approx(20 * unit_m * 35).margin(0.5));
  CHECK(arena.monsters.action[wisp] != MonsterAction::charging);
}

TEST_CASE("a monster that cannot see a player does not hurt him", "[world][sim][combat]") {
  Arena arena(1, 18, [](IVec3 b) { return b.z < 0 || b.x == 4; });
  const EntityId id = arena.add_player({4.8, 0, 0});
  arena.players.body[0].position_m = {5.31, 0.5, 0};
  for (std::size_t k = 0; k < monster_kind_count; ++k) {
    const auto kind = static_cast<MonsterKind>(k);
    const std::size_t m =
        arena.add_monster(kind, {3.9 - traits(kind).shape.radius_m, 3.0 * static_cast<double>(k) - 25, 0});
    monster_takes_up(arena.rules, arena.monsters, m, id, arena.players.body[0].position_m);
    arena.monsters.sees[m] = 1;  // as if it had just gone
  }
  for (int t = 0; t < 60 * 20; ++t) {
    arena.step();
    for (const CombatEvent& e : arena.combat.events()) CHECK(e.who != id);
  }
  CHECK(arena.players.health[0] == 100);
}
