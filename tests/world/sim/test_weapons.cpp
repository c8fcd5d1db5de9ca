// What players fight with: Doom's weapons by default, whose facts are those of its published source
// (p_pspr.c, info.c, d_items.c, p_inter.c) and of doomwiki.org, Rate of fire.
#include "world/sim/weapons.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "tests/catch.h"
#include "tests/world/compass.h"
#include "tests/world/sim/arena.h"
#include "world/sim/arsenal.h"
#include "world/sim/shooting.h"

using namespace ashlar;
using namespace ashlar::testing;

namespace {

const KindSet& kinds() { return default_kinds(); }

Arsenal with(std::uint8_t weapon, std::uint16_t ammo = 200) {
  Arsenal a = fresh_arsenal(kinds());
  a.weapons |= 1u << weapon;
  a.held = a.wanted = weapon;
  a.ammo.fill(ammo);
  return a;
}

PlayerCommand pulling(std::uint16_t buttons = 0) {
  PlayerCommand c;
  c.buttons = static_cast<std::uint16_t>(button::attack | buttons);
  return c;
}

/// An arena whose first player fights, in World's order.
struct ShootingRange : Arena {
  ShootingRange() : Arena(4, 16), shooting(4, 16) {
    rules.friendly_fire = Switch::on;
    moves = false;
    me = add_player({0, 0, 0});
  }
  Arsenal& arsenal() { return players.arsenal[0]; }
  void shoot(std::uint16_t buttons = button::attack, Turn16 yaw = east, Turn16 pitch = Turn16{0}) {
    players.take(0, {0, 0, yaw, pitch, buttons, TickId{0}});
    shooting.shoot(space(), volume, rules, players, monsters, {}, TickId{tick});
    combat.begin_tick();
    CombatTick all = fighting();
    combat.shots(all, shooting.events());
    for (const CombatEvent& e : combat.events()) note(e);
    combat.begin_tick();
    combat.fight(all, {}, shooting.launches());
    for (const CombatEvent& e : combat.events()) note(e);
    ++tick;
  }
  void note(const CombatEvent& e) {
    if (e.kind == CombatEventKind::hurt) hits.push_back(e);
  }
  Shooting shooting;
  EntityId me{};
  std::vector<CombatEvent> hits;
};

}  // namespace

TEST_CASE("a held trigger fires as often as Doom's weapons do", "[world][sim][weapons]") {
  struct Fact {
    std::uint8_t weapon;
    int tics;  // between two shots
  };
  const Fact fact =
      GENERATE(Fact{weapon::fist, 17}, Fact{weapon::pistol, 14}, Fact{weapon::shotgun, 37},
               Fact{weapon::chaingun, 4}, Fact{weapon::rocket_launcher, 20}, Fact{weapon::plasma_rifle, 3},
               Fact{weapon::big_gun, 40}, Fact{weapon::saw, 4}, Fact{weapon::double_shotgun, 57});
  CAPTURE(kinds().weapons[fact.weapon].name);
  Rules rules;
  rules.tick_rate_hz = 35;
  Arsenal a = with(fact.weapon);
  int last = -1, shots = 0;
  for (int tic = 0; tic < 2100; ++tic) {
    if (!wield(kinds(), rules, true, pulling(), true, a).fires) continue;
    if (last >= 0) REQUIRE(tic - last == fact.tics);
    last = tic;
    ++shots;
  }
  CHECK(std::abs(shots - 2100 / fact.tics) <= 1);
}

TEST_CASE("a shot takes what Doom's take, and so much ammunition", "[world][sim][weapons]") {
  const auto& w = kinds().weapons;
  CHECK((w[weapon::pistol].damage_step == 5 && w[weapon::pistol].damage_sides == 3));     // P_GunShot
  CHECK((w[weapon::shotgun].count == 7 && w[weapon::shotgun].uses == 1));                 // A_FireShotgun
  CHECK((w[weapon::double_shotgun].count == 20 && w[weapon::double_shotgun].uses == 2));  // A_FireShotgun2
  CHECK((w[weapon::fist].damage_step == 2 && w[weapon::fist].damage_sides == 10));        // A_Punch
  CHECK(w[weapon::fist].strength_times == 10);
  CHECK(w[weapon::big_gun].uses == 40);  // BFGCELLS
  const auto& missiles = kinds().projectiles;
  const ProjectileTraits& rocket = missiles[w[weapon::rocket_launcher].projectile];
  CHECK((rocket.damage_step == 20 && rocket.splash_damage == 128));
  CHECK(rocket.speed_mps == Approx(20 * 35 / 32.0));
  const ProjectileTraits& plasma = missiles[w[weapon::plasma_rifle].projectile];
  CHECK((plasma.damage_step == 5 && plasma.speed_mps == Approx(25 * 35 / 32.0)));
  const ProjectileTraits& ball = missiles[w[weapon::big_gun].projectile];
  CHECK((ball.damage_step == 100 && ball.spray == 40 && ball.spray_rolls == 15 && ball.spray_sides == 8));
  const auto& ammo = kinds().ammo;  // maxammo, clipammo; G_PlayerReborn
  CHECK((ammo[0] == AmmoTraits{200, 10, 50} && ammo[1] == AmmoTraits{50, 4, 0}));
  CHECK((ammo[2] == AmmoTraits{50, 1, 0} && ammo[3] == AmmoTraits{300, 20, 0}));
}

TEST_CASE("another weapon comes up after one is down, and fires then", "[world][sim][weapons]") {
  Rules rules;
  rules.tick_rate_hz = 35;
  Arsenal a = with(weapon::shotgun);
  a.held = a.wanted = weapon::pistol;
  CHECK(wield(kinds(), rules, false, pulling(), true, a).fires);
  int tics = 0;
  Trigger trigger;
  while (!trigger.fires && tics < 200) {
    trigger = wield(kinds(), rules, false, pulling(tics == 0 ? weapon_button(weapon::shotgun) : 0), true, a);
    ++tics;
  }
  // The pistol's 14 tics first, 16 to lower it and 16 to raise the other (LOWERSPEED, RAISESPEED 6 of 96).
  CHECK(std::abs(tics - (14 + 16 + 16)) <= 2);
  CHECK(a.held == weapon::shotgun);
  CHECK(a.ammo[1] == 199);
  // What it has not does not come up.
  static_cast<void>(wield(kinds(), rules, false, pulling(weapon_button(weapon::big_gun)), true, a));
  CHECK(a.wanted == weapon::shotgun);
}

TEST_CASE("who runs out has the best that has ammunition in hand", "[world][sim][weapons]") {
  Rules rules;
  Arsenal a = fresh_arsenal(kinds());
  CHECK(a.held == weapon::pistol);
  CHECK(a.ammo[0] == 50);
  int shots = 0;
  for (int i = 0; i < 60 * 60; ++i)
    if (wield(kinds(), rules, false, pulling(), true, a).fires && a.held == weapon::pistol) ++shots;
  CHECK(shots == 50);
  CHECK(a.held == weapon::fist);
  // Where it is free nobody runs out.
  Arsenal rich = fresh_arsenal(kinds());
  for (int i = 0; i < 60 * 60; ++i) static_cast<void>(wield(kinds(), rules, true, pulling(), true, rich));
  CHECK(rich.held == weapon::pistol);
  CHECK(rich.ammo[0] == 50);
}

TEST_CASE("powers run out, but for those that have no end, and the dead let go of the trigger",
          "[world][sim][weapons]") {
  Rules rules;
  Arsenal a = fresh_arsenal(kinds());
  a.power_ticks[static_cast<std::size_t>(Power::suit)] = 3;
  a.power_ticks[static_cast<std::size_t>(Power::strength)] = power_endless;
  for (int i = 0; i < 3; ++i) {
    CHECK(a.powered(Power::suit));
    CHECK_FALSE(wield(kinds(), rules, false, pulling(), false, a).fires);
  }
  CHECK_FALSE(a.powered(Power::suit));
  CHECK(a.powered(Power::strength));
  Arsenal ball = with(weapon::big_gun);
  CHECK_FALSE(wield(kinds(), rules, false, pulling(), true, ball).fires);
  CHECK(ball.windup_ticks > 0);
  CHECK_FALSE(wield(kinds(), rules, false, pulling(), false, ball).fires);
  CHECK(ball.windup_ticks == 0);
  CHECK(ball.ammo[3] == 200);
}

TEST_CASE("the first shot of a trigger goes straight, those after it aside as far as the weapon scatters",
          "[world][sim][weapons]") {
  ShootingRange range;
  range.shoot();
  REQUIRE(range.shooting.events().size() == 1);
  CHECK(range.shooting.events()[0].direction.y == 0);
  double widest_deg = 0, sum = 0;
  int shots = 0;
  for (int i = 0; i < 24 * 400; ++i) {
    range.shoot();
    for (const ShotEvent& shot : range.shooting.events()) {
      const double deg = std::atan2(shot.direction.y, shot.direction.x) * 180 / 3.14159265358979;
      widest_deg = std::max(widest_deg, std::fabs(deg));
      sum += deg;
      CHECK(shot.direction.z == 0);
      ++shots;
    }
    range.arsenal().ammo[0] = 50;
  }
  CHECK(shots == 400);
  CHECK(widest_deg < 5.61);
  CHECK(widest_deg > 4.5);
  CHECK(std::fabs(sum / shots) < 0.4);  // 2.3 degrees wide each: three of its sigmas
}

TEST_CASE("seven rays of a shotgun each take their own, and a monster at arm's length takes them all",
          "[world][sim][weapons]") {
  ShootingRange range;
  range.arsenal() = with(weapon::shotgun);
  const std::size_t m = range.add_monster(MonsterKind::baron, {1.2, 0, 0});
  range.shoot();
  CHECK(range.shooting.events().size() == 7);
  REQUIRE(range.hits.size() == 7);
  for (const CombatEvent& hit : range.hits) {
    CHECK(hit.who == range.monsters.id[m]);
    CHECK((hit.points == 5 || hit.points == 10 || hit.points == 15));
  }
  CHECK(range.shooting.shots() == 1);
}

TEST_CASE("a fist reaches two metres, and ten times as hard with strength", "[world][sim][weapons]") {
  ShootingRange range;
  range.arsenal() = with(weapon::fist);
  const std::size_t m = range.add_monster(MonsterKind::baron, {4, 0, 0});
  range.shoot();
  CHECK(range.hits.empty());
  range.monsters.body[m].position_m.x = 1.5;
  range.arsenal().wait_ticks = 0;
  range.shoot();
  REQUIRE(range.hits.size() == 1);
  CHECK(range.hits[0].how == HurtBy::claw);
  CHECK(range.hits[0].points <= 20);
  range.arsenal().power_ticks[static_cast<std::size_t>(Power::strength)] = power_endless;
  range.arsenal().wait_ticks = 0;
  range.hits.clear();
  range.shoot();
  REQUIRE(range.hits.size() == 1);
  CHECK(range.hits[0].points >= 20);
  CHECK(range.hits[0].points % 20 == 0);
}

TEST_CASE("a rocket flies as fast as Doom's, hurts who fired it too near, and throws him up",
          "[world][sim][weapons]") {
  ShootingRange range;
  range.arsenal() = with(weapon::rocket_launcher);
  range.shoot();
  const ProjectileTable& flying = range.combat.projectiles();
  REQUIRE(flying.count == 1);
  CHECK(flying.position_m[0].x == Approx(21.875 / 60));
  CHECK(flying.owner[0] == range.me);
  for (int i = 0; i < 30; ++i) range.shoot(0);
  CHECK(flying.position_m[0].x == Approx(31 * 21.875 / 60));
  range.hits.clear();
  range.arsenal().wait_ticks = 0;
  // At its own feet.
  range.shoot(button::attack, east, Turn16{static_cast<std::uint16_t>(65536 - 16384)});
  for (int i = 0; i < 20 && range.hits.empty(); ++i) range.shoot(0);
  REQUIRE(range.hits.size() == 1);
  CHECK(range.hits[0].who == range.me);
  CHECK(range.hits[0].how == HurtBy::burst);
  CHECK(range.hits[0].points > 80);
}

TEST_CASE("the big gun's ball is followed by rays from its owner to all in sight before it",
          "[world][sim][weapons]") {
  ShootingRange range;
  range.arsenal() = with(weapon::big_gun);
  for (int k = -1; k <= 1; ++k) static_cast<void>(range.add_monster(MonsterKind::baron, {10.0, 4.0 * k, 0}));
  const std::size_t behind = range.add_monster(MonsterKind::baron, {-5, 0, 0});
  int shots = 0;
  for (int i = 0; i < 120; ++i) {
    range.shoot(i < 5 ? button::attack : std::uint16_t{0});
    shots += static_cast<int>(range.shooting.launches().size());
  }
  CHECK(shots == 1);
  CHECK(range.arsenal().ammo[3] == 160);
  std::map<EntityId, int> points;
  for (const CombatEvent& hit : range.hits) points[hit.who] += hit.points;
  CHECK(points.size() == 3);
  CHECK(points.count(range.monsters.id[behind]) == 0);
  // 15 rolls of 1 to 8 a ray; one of 2.3 degrees each meets a body of 1.5 m at 10 m three or four times.
  for (const auto& [who, sum] : points) CHECK(sum >= 3 * 15);
}

TEST_CASE("nothing hurts who is invulnerable", "[world][sim][weapons]") {
  ShootingRange range;
  const EntityId other = range.add_player({3, 0, 0});
  range.players.arsenal[1].power_ticks[static_cast<std::size_t>(Power::invulnerability)] = 60;
  range.shoot();
  REQUIRE(range.shooting.events()[0].hit.target == other);
  CHECK(range.hits.empty());
  CHECK(range.players.health[1] == range.rules.player_health);
}

TEST_CASE("two worlds of the same shots scatter them alike", "[world][sim][weapons]") {
  ShootingRange a, b;
  a.arsenal() = b.arsenal() = with(weapon::double_shotgun);
  for (int i = 0; i < 300; ++i) {
    const Turn16 yaw{static_cast<std::uint16_t>(i * 97)};
    a.shoot(button::attack, yaw), b.shoot(button::attack, yaw);
    REQUIRE(a.shooting.events().size() == b.shooting.events().size());
    for (std::size_t k = 0; k < a.shooting.events().size(); ++k)
      REQUIRE(a.shooting.events()[k].direction == b.shooting.events()[k].direction);
  }
  CHECK(a.shooting.shots() == 4);  // 57 tics are 98 ticks
}
