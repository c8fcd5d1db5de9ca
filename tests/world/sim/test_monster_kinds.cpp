// What each kind is and does, beside Doom's own: mobj info and states of its published source (info.c), the
// attacks in p_enemy.c.

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/catch.h"
#include "tests/world/sim/arena.h"
#include "world/sim/world.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

struct KindFact {
  MonsterKind kind;
  double radius, height;  // units
  std::uint16_t health;
  double step;  // units that A_Chase goes
  double tics;  // of the state that calls it
  std::uint16_t pain_chance;
  double mass;
};

constexpr KindFact kind_facts[] = {
    {MonsterKind::rifleman, 20, 56, 20, 8, 4, 200, 100},         // MT_POSSESSED
    {MonsterKind::shotgunner, 20, 56, 30, 8, 3, 170, 100},       // MT_SHOTGUY
    {MonsterKind::gunner, 20, 56, 70, 8, 3, 170, 100},           // MT_CHAINGUY
    {MonsterKind::imp, 20, 56, 60, 8, 3, 200, 100},              // MT_TROOP
    {MonsterKind::brute, 30, 56, 150, 10, 2, 180, 400},          // MT_SERGEANT
    {MonsterKind::shade, 30, 56, 150, 10, 2, 180, 400},          // MT_SHADOWS
    {MonsterKind::wisp, 16, 56, 100, 8, 6, 256, 50},             // MT_SKULL
    {MonsterKind::floater, 31, 56, 400, 8, 3, 128, 400},         // MT_HEAD
    {MonsterKind::knight, 24, 64, 500, 8, 3, 50, 1000},          // MT_KNIGHT
    {MonsterKind::baron, 24, 64, 1000, 8, 3, 50, 1000},          // MT_BRUISER
    {MonsterKind::crawler, 64, 64, 500, 12, 3, 128, 600},        // MT_BABY
    {MonsterKind::hive, 31, 56, 400, 8, 3, 128, 400},            // MT_PAIN
    {MonsterKind::skeleton, 20, 56, 300, 10, 2, 100, 500},       // MT_UNDEAD
    {MonsterKind::fatso, 48, 64, 600, 8, 4, 80, 1000},           // MT_FATSO
    {MonsterKind::healer, 20, 56, 700, 15, 2, 10, 500},          // MT_VILE
    {MonsterKind::mastermind, 128, 100, 3000, 12, 3, 40, 1000},  // MT_SPIDER
    {MonsterKind::colossus, 40, 110, 4000, 16, 3, 20, 1000},     // MT_CYBORG
    {MonsterKind::guard, 20, 56, 50, 8, 3, 170, 100},            // MT_WOLFSS
};
static_assert(std::size(kind_facts) == monster_kind_count);

/// Ours with one kind changed.
std::shared_ptr<const KindSet> with(MonsterKind kind, void (*change)(MonsterTraits&)) {
  KindSet set = default_kinds();
  change(set.monsters[static_cast<std::size_t>(kind)]);
  return std::make_shared<const KindSet>(set);
}

}  // namespace

TEST_CASE("each kind has Doom's size, health, pace, pain and mass, and walks at that pace",
          "[world][sim][monsters]") {
  for (const KindFact& fact : kind_facts) {
    const MonsterTraits& t = traits(fact.kind);
    CAPTURE(t.name);
    CHECK(t.shape.radius_m == Approx(fact.radius / 32));
    CHECK(t.shape.height_m == Approx(fact.height / 32));
    CHECK(t.health == fact.health);
    CHECK(t.pain_chance == fact.pain_chance);
    CHECK(t.mass == fact.mass);
    const double pace_mps = fact.step / 32 * 35 / fact.tics;
    CHECK(t.speed_mps == Approx(pace_mps));
    Arena arena(1, 1);
    const std::size_t row = arena.add_monster(fact.kind, {-16, 0, 0});
    Body& body = arena.monsters.body[row];
    for (int t60 = 0; t60 < 60; ++t60) monster_move(arena.space(), arena.rules, t, {{1, 0}}, body);
    const double from_m = body.position_m.x;
    for (int t60 = 0; t60 < 60; ++t60) monster_move(arena.space(), arena.rules, t, {{1, 0}}, body);
    CHECK(body.position_m.x - from_m == Approx(pace_mps).margin(0.01));
  }
}

TEST_CASE("who is hurt below its kind's share runs from who did it", "[world][sim][monsters]") {
  Arena arena(1, 1);
  arena.monsters.use_kinds(
      with(MonsterKind::imp, [](MonsterTraits& t) { t.flee_share = 0.5, t.pain_chance = 0; }));
  const EntityId player = arena.add_player({6, 0, 0});
  const std::size_t imp = arena.add_monster(MonsterKind::imp, {0, 0, 0});
  const auto hit = [&](std::uint16_t points) {
    CombatTick all = arena.fighting();
    arena.combat.hurt(all, arena.monsters.id[imp], {player, points, HurtBy::shot, {}});
  };
  // Those who think look around six times a second.
  hit(29);
  for (int t = 0; t < 12; ++t) arena.step();
  CHECK(arena.monsters.mood[imp] == MonsterMood::chase);
  arena.rules.monsters_fight = Switch::off;
  hit(2);
  for (int t = 0; t < 12; ++t) arena.step();
  CHECK(arena.monsters.mood[imp] == MonsterMood::flee);
  for (int t = 0; t < 3 * 60; ++t) arena.step();
  CHECK(arena.monsters.body[imp].position_m.x < -5);
}

TEST_CASE("who leaps comes down at its target and takes what a touch takes", "[world][sim][monsters]") {
  Arena arena(1, 1);
  arena.monsters.use_kinds(with(MonsterKind::brute, [](MonsterTraits& t) {
    t.melee.form = AttackForm::none;
    t.ranged.form = AttackForm::leap;
    t.ranged.damage_step = 7, t.ranged.damage_sides = 1;
    t.ranged.windup_s = 0.1, t.ranged.speed_mps = 10;
    t.decision_s = 0.1, t.shyness_max = 0;
  }));
  arena.add_player({6, 0, 0});
  const std::size_t brute = arena.add_monster(MonsterKind::brute, {0, 0, 0});
  double highest_m = 0;
  for (int t = 0; t < 120; ++t) {
    arena.step();
    highest_m = std::max(highest_m, arena.monsters.body[brute].position_m.z);
    const auto events = arena.combat.events();
    const auto hit = std::ranges::find(events, CombatEventKind::hurt, &CombatEvent::kind);
    if (hit == events.end()) continue;
    CHECK(hit->how == HurtBy::charge);
    CHECK(hit->points == 7);
    CHECK(highest_m > 0.3);
    return;
  }
  FAIL("it never came there");
}

TEST_CASE("who leaps slowly at somebody far away goes up no faster than anybody goes",
          "[world][sim][monsters]") {
  Arena arena(1, 1);
  arena.rules.gravity_mps2 = 200;
  arena.monsters.use_kinds(with(MonsterKind::brute, [](MonsterTraits& t) {
    t.melee.form = AttackForm::none;
    t.ranged.form = AttackForm::leap;
    t.ranged.windup_s = 0.1, t.ranged.speed_mps = 0, t.ranged.range_m = 256;
    t.decision_s = 0.1, t.shyness_max = 0, t.sight_m_max = 128;
  }));
  arena.add_player({20, 0, 0});
  const std::size_t brute = arena.add_monster(MonsterKind::brute, {-20, 0, 0});
  double fastest_mps = 0;
  for (int t = 0; t < 240; ++t) {
    arena.step();
    fastest_mps = std::max(fastest_mps, arena.monsters.body[brute].velocity_mps.z);
  }
  CHECK(fastest_mps > 50);
  CHECK(fastest_mps <= 60);
}

TEST_CASE("a hit takes as many points as it draws, 65535 at most", "[world][sim][monsters]") {
  // 10000 × 7 is 4464 in 16 bits.
  Arena arena(1, 1);
  arena.monsters.use_kinds(with(MonsterKind::brute, [](MonsterTraits& t) {
    t.melee.damage_step = 10000, t.melee.damage_sides = 100;
    t.melee.windup_s = t.melee.recover_s = 0.02;
  }));
  arena.add_player({1.2, 0, 0});
  arena.add_monster(MonsterKind::brute, {0, 0, 0});
  arena.moves = false;
  int hits = 0;
  for (int t = 0; t < 60 * 60; ++t) {
    arena.players.health[0] = 65535;
    arena.step();
    for (const CombatEvent& e : arena.combat.events()) {
      if (e.kind != CombatEventKind::hurt) continue;
      ++hits;
      CHECK((e.points % 10000 == 0 || e.points == 65535));
    }
  }
  CHECK(hits > 20);
}

TEST_CASE("a flame takes 20 points and a burst of 70 if its target stays in sight, and throws it up",
          "[world][sim][monsters]") {
  // A_VileAttack; its attack takes 66 tics before that.
  const bool hides = GENERATE(false, true);
  Arena arena(1, 1, [](IVec3 b) { return b.z < 0 || (b.x == 5 && b.y > 2); });
  arena.add_player({10, 0, 0});
  const std::size_t healer = arena.add_monster(MonsterKind::healer, {0, 0, 0});
  arena.moves = false;
  arena.players.health[0] = 1000;
  for (int t = 0; t < 60 * 60 && arena.monsters.action[healer] != MonsterAction::windup; ++t) arena.step();
  REQUIRE(arena.monsters.action[healer] == MonsterAction::windup);
  if (hides) arena.players.body[0].position_m = {10, 8, 0};
  int ticks = 0;
  for (; ticks < 180 && arena.monsters.action[healer] == MonsterAction::windup; ++ticks) arena.step();
  CHECK(ticks / 60.0 == Approx(66 / 35.0).margin(0.05));
  std::vector<std::uint16_t> taken;
  for (const CombatEvent& e : arena.combat.events()) taken.push_back(e.points);
  if (hides) {
    CHECK(taken.empty());
    return;
  }
  REQUIRE(taken.size() == 2);
  CHECK(taken[0] == 20);
  CHECK(taken[1] > 60);
  CHECK(taken[1] <= 70);
  CHECK(arena.players.body[0].velocity_mps.z > 5);
}

TEST_CASE("a hive puts wisps before it that are after its target", "[world][sim][monsters]") {
  Arena arena(1, 1);
  const EntityId player = arena.add_player({14, 0, 0});
  arena.add_monster(MonsterKind::hive, {0, 0, 0.5});
  arena.moves = false;
  std::size_t summoned = 0;
  for (int t = 0; t < 30 * 60; ++t) {
    arena.step();
    for (const Summons& s : arena.combat.summons()) {
      ++summoned;
      CHECK(s.kind == MonsterKind::wisp);
      CHECK(s.target == player);
      CHECK(s.position_m.x >
            traits(MonsterKind::hive).shape.radius_m + traits(MonsterKind::wisp).shape.radius_m);
      CHECK(s.position_m.x < 3);
    }
  }
  CHECK(summoned > 2);
}

TEST_CASE("a dead monster is back after the rule's seconds, and never without", "[world][sim][monsters]") {
  const std::uint16_t respawn_s = GENERATE(std::uint16_t{0}, std::uint16_t{3});
  WorldSetup setup;
  setup.monsters = setup.monsters_max = 20;
  setup.players_max = 1;
  setup.rules.monster_respawn_s = respawn_s;
  setup.rules.player_health = 10000;
  World world(setup);
  const std::uint32_t token = 1;
  const auto step = [&](std::span<const std::uint32_t> joins, std::span<const PlayerInput> commands,
                        std::span<const AdminCommand> admin) {
    world.step({.joins = joins,
                .leaves = {},
                .commands = commands,
                .admin = admin,
                .edits = {},
                .chunks_ready = {},
                .chunks_dropped = {}});
  };
  step(std::span(&token, 1), {}, {});
  const EntityId player = world.joined()[0].id;
  // Beside a monster, and shoots at it until one is dead.
  const std::uint32_t all = world.monster_count();
  REQUIRE(all > 0);
  for (int t = 0; t < 120 * 60 && world.monster_count() == all; ++t) {
    const MonsterTable& m = world.monsters();
    std::size_t row = 0;
    while (m.id[row] == EntityId{0}) ++row;
    const DVec3 to = m.body[row].position_m;
    const AdminCommand there{AdminAction::teleport, player, to + DVec3{-2.5, 0, 0.2}};
    PlayerCommand command;
    command.yaw = turn_towards({1, 0});
    command.buttons = button::attack;
    const PlayerInput input{player, command};
    step({}, std::span(&input, 1), t % 60 == 0 ? std::span(&there, 1) : std::span<const AdminCommand>{});
  }
  REQUIRE(world.monster_count() == all - 1);
  int ticks = 0;
  for (; ticks < 10 * 60 && world.monster_count() < all; ++ticks) step({}, {}, {});
  if (respawn_s == 0)
    CHECK(world.monster_count() == all - 1);
  else
    CHECK(ticks / 60.0 == Approx(3).margin(0.2));
}
