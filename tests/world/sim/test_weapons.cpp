// What players fight with: Doom's weapons by default, whose facts are those of its published source
// (p_pspr.c, info.c, d_items.c, p_inter.c) and of doomwiki.org, Rate of fire.
#include "world/sim/weapons.h"

#include <algorithm>
#include <cmath>
#include <functional>
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
    shooting.shoot({space(), volume, rules, players, monsters, {}, TickId{tick}});
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

namespace {

/// Ours, with one of them changed.
KindSet changed(std::uint8_t index, const std::function<void(WeaponTraits&)>& change) {
  KindSet set = default_kinds();
  change(set.weapons[index]);
  return set;
}

/// Ticks, from 1, in which it fires.
std::vector<int> fired(const KindSet& set, Arsenal& a, int ticks,
                       const std::function<std::uint16_t(int)>& buttons, bool free_ammo = false) {
  const Rules rules;
  std::vector<int> out;
  for (int tick = 1; tick <= ticks; ++tick) {
    PlayerCommand c;
    c.buttons = buttons(tick);
    if (wield(set, rules, free_ammo, c, true, a).fires) out.push_back(tick);
  }
  return out;
}

}  // namespace

TEST_CASE("a clip is empty after so many shots, and is loaded by itself or by the button",
          "[world][sim][weapons]") {
  const KindSet set =
      changed(weapon::pistol, [](WeaponTraits& w) { w.interval_s = 0.1, w.clip = 3, w.reload_s = 1; });
  Arsenal a = with(weapon::pistol);
  const auto held = [](int) { return button::attack; };
  // Three shots six ticks apart, then sixty of loading that begin as the fourth could be.
  CHECK(fired(set, a, 110, held) == std::vector{1, 7, 13, 79, 85, 91});
  CHECK(a.ammo[0] == 194);

  SECTION("the button loads before it is empty, and what is carried stays") {
    Arsenal b = with(weapon::pistol);
    const auto presses = [](int tick) {
      return tick == 20 ? button::reload : tick == 1 || tick > 21 ? button::attack : std::uint16_t{0};
    };
    const auto shots = fired(set, b, 100, presses);
    CHECK(shots == std::vector{1, 80, 86, 92});
    CHECK(b.ammo[0] == 196);
  }
  SECTION("a full one is not loaded, nor one for which nothing is left") {
    Arsenal b = with(weapon::pistol);
    const auto only_loads = [](int) { return button::reload; };
    CHECK(fired(set, b, 10, only_loads).empty());
    CHECK(b.reload_ticks == 0);
    Arsenal c = with(weapon::pistol, 3);
    CHECK(fired(set, c, 60, held).size() >= 3);  // then what has no need of it comes up
    CHECK(c.reload_ticks == 0);
    CHECK(c.wanted == weapon::fist);
  }
  SECTION("another weapon breaks loading off") {
    Arsenal b = with(weapon::pistol);
    static_cast<void>(fired(set, b, 25, held));
    REQUIRE(b.reload_ticks > 0);
    const auto chooses = [](int) { return weapon_button(weapon::fist); };
    static_cast<void>(fired(set, b, 60, chooses));
    CHECK(b.held == weapon::fist);
    CHECK(b.reload_ticks == 0);
    CHECK(b.spent[weapon::pistol] == 3);
  }
}

TEST_CASE("what is thrown leaves the hand as the trigger is let go, stronger the longer it was held",
          "[world][sim][weapons]") {
  const KindSet set = changed(weapon::rocket_launcher, [](WeaponTraits& w) {
    w.form = WeaponForm::thrown;
    w.charge_s = 1, w.throw_least = 0.25, w.fuse_s = 3;
  });
  const Rules rules;
  const auto thrown_after = [&](int held_ticks) {
    Arsenal a = with(weapon::rocket_launcher);
    for (int tick = 1; tick <= 400; ++tick) {
      PlayerCommand c;
      if (tick <= held_ticks) c.buttons = button::attack;
      const Trigger trigger = wield(set, rules, false, c, true, a);
      if (trigger.fires) {
        CHECK(a.ammo[2] == 199);
        return std::pair(tick, trigger);
      }
    }
    FAIL("it was never thrown");
    return std::pair(0, Trigger{});
  };
  const auto [at_once, weak] = thrown_after(1);
  CHECK(at_once == 2);
  CHECK(weak.strength == Approx(0.25 + 0.75 / 60));
  CHECK(weak.fuse_ticks == 179);
  const auto [late, strong] = thrown_after(90);
  CHECK(late == 91);
  CHECK(strong.strength == 1);
  CHECK(strong.fuse_ticks == 90);
  // Who does not let go has it in the hand as the fuse is down.
  const auto [burnt, last] = thrown_after(400);
  CHECK(burnt == 180);
  CHECK(last.fuse_ticks == 1);

  SECTION("the dead throw nothing") {
    Arsenal a = with(weapon::rocket_launcher);
    static_cast<void>(wield(set, rules, false, pulling(), true, a));
    REQUIRE(a.charge_ticks == 1);
    CHECK_FALSE(wield(set, rules, false, {}, false, a).fires);
    CHECK(a.charge_ticks == 0);
    CHECK_FALSE(wield(set, rules, false, {}, true, a).fires);
  }
}

TEST_CASE("a beam hits all on its way up to the wall, a ray the first alone", "[world][sim][weapons]") {
  for (const WeaponForm form : {WeaponForm::hitscan, WeaponForm::beam}) {
    ShootingRange range;
    range.monsters.use_kinds(std::make_shared<KindSet>(
        changed(weapon::pistol, [&](WeaponTraits& w) { w.form = form, w.spread_deg = 0; })));
    range.arsenal() = with(weapon::pistol);
    std::vector<EntityId> there;
    for (const double x : {6.0, 3.0, 9.0})
      there.push_back(range.monsters.id[range.add_monster(MonsterKind::imp, {x, 0, 0})]);
    const EntityId behind = range.monsters.id[range.add_monster(MonsterKind::imp, {-4, 0, 0})];
    range.shoot();
    std::vector<EntityId> hit;
    for (const CombatEvent& e : range.hits) hit.push_back(e.who);
    if (form == WeaponForm::hitscan) {
      CHECK(hit == std::vector{there[1]});
      continue;
    }
    CHECK(hit == std::vector{there[1], there[0], there[2]});  // the nearest first
    CHECK(std::ranges::find(hit, behind) == hit.end());
    const auto events = range.shooting.events();
    REQUIRE(events.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(events[i].goes_on == (i < 3));
    CHECK(events[3].hit.target == EntityId{0});
  }
}

TEST_CASE("a weak throw falls short of a strong one, and bursts as its fuse is down",
          "[world][sim][weapons]") {
  const auto lands = [](int held_ticks) {
    ShootingRange range;
    auto set = changed(weapon::rocket_launcher, [](WeaponTraits& w) {
      w.form = WeaponForm::thrown;
      w.charge_s = 0.5, w.throw_least = 0.3, w.fuse_s = 1;
    });
    ProjectileTraits& p = set.projectiles[set.weapons[weapon::rocket_launcher].projectile];
    p.speed_mps = 10, p.gravity_share = 0, p.life_s = 30;
    range.monsters.use_kinds(std::make_shared<KindSet>(std::move(set)));
    range.arsenal() = with(weapon::rocket_launcher);
    DVec3 last{};
    int flown = 0;
    for (int tick = 0; tick < 200; ++tick) {
      range.shoot(tick < held_ticks ? button::attack : std::uint16_t{0});
      const ProjectileTable& p2 = range.combat.projectiles();
      for (std::size_t i = 0; i < p2.rows(); ++i)
        if (p2.id[i] != EntityId{0}) last = p2.position_m[i], ++flown;
    }
    return std::pair(last.x, flown);
  };
  const auto [near_m, long_ticks] = lands(1);
  const auto [far_m, short_ticks] = lands(30);
  CHECK(long_ticks == Approx(59).margin(2));
  CHECK(short_ticks == Approx(30).margin(2));
  // Metres a tick: 3 and a little, and 10, each second.
  CHECK(near_m / long_ticks == Approx(3.233 / 60).margin(0.005));
  CHECK(far_m / short_ticks == Approx(10.0 / 60).margin(0.01));
}
