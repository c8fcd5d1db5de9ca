#include "world/sim/kinds.h"

#include "world/bsp/sector_map.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

constexpr Cylinder doom(double radius, double height) { return {radius * map_unit_m, height * map_unit_m}; }
/// `distance` units every `tics` of 1/35 s.
constexpr double pace(double distance, double tics) { return distance * map_unit_m * 35 / tics; }
constexpr double tics(double count) { return count / 35; }
constexpr double doom_step_m = 24 * map_unit_m;
constexpr double block_step_m = 1.0;
/// (P_Random() - P_Random()) << 20 of a turn of 2^32: up to 255/4096 of it.
constexpr double bullet_spread_deg = 255.0 / 4096 * 360;
constexpr double melee_range_m = 44 * map_unit_m;  // MELEERANGE - 20, to which the target's radius is added

/// Projectiles by the place that they have in the table below.
enum Missile : std::uint8_t {
  fireball,
  ghostball,
  comet,
  spit,
  tracer,
  fatshot,
  rocket,
  plasma,
  big_ball,
  burning,
  missile
};

ProjectileTraits flying(std::string name, double radius, double height, double speed, std::uint16_t damage) {
  ProjectileTraits p;
  p.name = std::move(name);
  p.shape = doom(radius, height);
  p.speed_mps = pace(speed, 1);
  p.damage_step = damage;
  return p;
}

/// Radius, height, speed and damage of missiles: mobj info.
std::vector<ProjectileTraits> default_projectiles() {
  std::vector<ProjectileTraits> all{flying("fireball", 6, 8, 10, 3),    flying("ghostball", 6, 8, 10, 5),
                                    flying("comet", 6, 8, 15, 8),       flying("spit", 13, 8, 25, 5),
                                    flying("tracer", 11, 8, 10, 10),    flying("fatshot", 6, 8, 20, 8),
                                    flying("rocket", 11, 8, 20, 20),    flying("plasma", 13, 8, 25, 5),
                                    flying("big ball", 13, 8, 25, 100), flying("burning", 6, 8, 0.0625, 0),
                                    flying("missile", 11, 8, 20, 20)};
  // A_Tracer turns by 0xc000000 of 2^32 every fourth tic.
  all[tracer].homing_deg_per_s = 16.875 * 35 / 4;
  // A_Explode: 128 points, one less a unit of distance; A_VileAttack: 70.
  all[rocket].splash_damage = 128, all[rocket].splash_radius_m = 128 * map_unit_m;
  all[missile].splash_damage = 128, all[missile].splash_radius_m = 128 * map_unit_m;
  // Players are thinner here than in Doom: what they fire along a wall has to fit where they stand.
  for (const Missile own : {plasma, big_ball, missile}) all[own].shape = doom(6, 8);
  // A_BFGSpray: 40 rays over a quarter turn, each up to 16 blocks of 64 units, 15 × (1 to 8) points.
  all[big_ball].spray = 40, all[big_ball].spray_deg = 90, all[big_ball].spray_range_m = 1024 * map_unit_m;
  all[big_ball].spray_rolls = 15, all[big_ball].spray_sides = 8;
  all[burning].splash_damage = 70, all[burning].splash_radius_m = 70 * map_unit_m;
  return all;
}

MonsterAttack claw(std::uint16_t step, std::uint8_t sides, double windup_tics, double recover_tics) {
  MonsterAttack a;
  a.form = AttackForm::melee;
  a.damage_step = step, a.damage_sides = sides;
  a.windup_s = tics(windup_tics), a.recover_s = tics(recover_tics);
  a.range_m = melee_range_m;
  return a;
}
/// A bullet takes 3 × (1 to 5).
MonsterAttack bullets(std::uint8_t count, double windup_tics, double recover_tics) {
  MonsterAttack a;
  a.form = AttackForm::hitscan;
  a.damage_step = 3, a.damage_sides = 5, a.count = count;
  a.windup_s = tics(windup_tics), a.recover_s = tics(recover_tics);
  a.spread_deg = bullet_spread_deg;
  return a;
}
MonsterAttack throws(Missile missile, double windup_tics, double recover_tics) {
  MonsterAttack a;
  a.form = AttackForm::missile;
  a.kind = missile;
  a.windup_s = tics(windup_tics), a.recover_s = tics(recover_tics);
  return a;
}
MonsterAttack again(MonsterAttack a, std::uint8_t burst, double burst_tics, bool refires) {
  a.burst = burst, a.burst_s = tics(burst_tics), a.refires = refires ? 1 : 0;
  return a;
}

struct Pain {
  std::uint16_t chance;
  double tics;
};

MonsterTraits base(std::string name, Cylinder shape, double speed_mps, std::uint16_t health, Pain pain,
                   double mass) {
  MonsterTraits t;
  t.name = std::move(name);
  t.shape = shape;
  t.speed_mps = speed_mps;
  t.step_height_m_max = doom_step_m;
  t.health = health;
  t.pain_chance = pain.chance, t.pain_s = tics(pain.tics);
  t.mass = mass;
  return t;
}

void add_soldiers(std::vector<MonsterTraits>& all) {
  all.push_back(base("rifleman", doom(20, 56), pace(8, 4), 20, {200, 6}, 100));
  all.back().ranged = bullets(1, 10, 16);
  all.back().drop = 2007;  // P_KillMobj: a clip, and what the others shot with
  all.push_back(base("shotgunner", doom(20, 56), pace(8, 3), 30, {170, 6}, 100));
  all.back().ranged = bullets(3, 10, 20);
  all.back().drop = 2001;
  all.push_back(base("gunner", doom(20, 56), pace(8, 3), 70, {170, 6}, 100));
  all.back().ranged = again(bullets(1, 10, 1), 2, 4, true);
  all.back().drop = 2002;
}

void add_beasts(std::vector<MonsterTraits>& all) {
  all.push_back(base("imp", doom(20, 56), pace(8, 3), 60, {200, 4}, 100));
  all.back().melee = claw(3, 8, 16, 6), all.back().ranged = throws(fireball, 16, 6);
  for (const char* name : {"brute", "shade"}) {
    all.push_back(base(name, doom(30, 56), pace(10, 2), 150, {180, 4}, 400));
    all.back().sight_m_max = 24;
    all.back().melee = claw(4, 10, 16, 8);
  }
  all.back().body_meets_walls = 0;
  all.push_back(base("wisp", doom(16, 56), pace(8, 6), 100, {256, 6}, 50));
  all.back().flies = 1, all.back().body_meets_walls = 0, all.back().build = HitBuild::round;
  all.back().shy_share = 0.5;
  MonsterAttack& charge = all.back().ranged;
  charge.form = AttackForm::charge;
  charge.damage_step = 3, charge.damage_sides = 8;
  charge.windup_s = tics(14), charge.speed_mps = pace(20, 1);
  all.push_back(base("floater", doom(31, 56), pace(8, 3), 400, {128, 12}, 400));
  all.back().flies = 1, all.back().build = HitBuild::round;
  all.back().melee = claw(10, 6, 10, 5), all.back().ranged = throws(ghostball, 10, 5);
  all.push_back(base("knight", doom(24, 64), pace(8, 3), 500, {50, 4}, 1000));
  all.back().melee = claw(10, 8, 16, 8), all.back().ranged = throws(comet, 16, 8);
  all.push_back(base("baron", doom(24, 64), pace(8, 3), 1000, {50, 4}, 1000));
  all.back().melee = claw(10, 8, 16, 8), all.back().ranged = throws(comet, 16, 8);
}

void add_masters(std::vector<MonsterTraits>& all) {
  all.push_back(base("crawler", doom(64, 64), pace(12, 3), 500, {128, 6}, 600));
  all.back().step_height_m_max = block_step_m, all.back().sight_m_max = 40;
  all.back().build = HitBuild::legged;
  all.back().ranged = again(throws(spit, 20, 1), 1, 9, true);
  all.push_back(base("hive", doom(31, 56), pace(8, 3), 400, {128, 12}, 400));
  all.back().flies = 1, all.back().build = HitBuild::round;
  all.back().ranged.form = AttackForm::summon;
  all.back().ranged.kind = static_cast<std::uint8_t>(MonsterKind::wisp);
  all.back().ranged.windup_s = tics(15);
  all.push_back(base("skeleton", doom(20, 56), pace(10, 2), 300, {100, 10}, 500));
  all.back().melee = claw(6, 10, 12, 6), all.back().ranged = throws(tracer, 10, 20);
  all.back().shy_share = 0.5;
  all.push_back(base("fatso", doom(48, 64), pace(8, 4), 600, {80, 6}, 1000));
  all.back().ranged = again(throws(fatshot, 20, 10), 3, 20, false);
  all.back().ranged.count = 2, all.back().ranged.spread_deg = 11.25;
  all.push_back(base("healer", doom(20, 56), pace(15, 2), 700, {10, 10}, 500));
  all.back().sight_m_max = 40;
  MonsterAttack& flame = all.back().ranged;
  flame.form = AttackForm::flame, flame.kind = burning;
  flame.damage_step = 20, flame.range_m = 14 * 64 * map_unit_m;
  flame.windup_s = tics(66), flame.recover_s = tics(20);
  all.push_back(base("mastermind", doom(128, 100), pace(12, 3), 3000, {40, 6}, 1000));
  all.back().step_height_m_max = block_step_m, all.back().sight_m_max = 48;
  all.back().build = HitBuild::legged, all.back().splash_proof = 1, all.back().shy_share = 0.5;
  all.back().ranged = again(bullets(3, 20, 1), 2, 4, true);
  all.push_back(base("colossus", doom(40, 110), pace(16, 3), 4000, {20, 10}, 1000));
  all.back().step_height_m_max = block_step_m, all.back().sight_m_max = 48;
  all.back().splash_proof = 1, all.back().shy_share = 0.5, all.back().shyness_max = 160;
  all.back().ranged = again(throws(rocket, 6, 12), 3, 24, false);
  all.push_back(base("guard", doom(20, 56), pace(8, 3), 50, {170, 6}, 100));
  all.back().ranged = again(bullets(1, 20, 4), 2, 10, false);
  all.back().drop = 2007;
}

/// Who has hands for it goes up ladders.
void let_climb(std::vector<MonsterTraits>& all) {
  for (const MonsterKind kind :
       {MonsterKind::rifleman, MonsterKind::shotgunner, MonsterKind::gunner, MonsterKind::imp,
        MonsterKind::skeleton, MonsterKind::healer, MonsterKind::guard})
    all[static_cast<std::size_t>(kind)].climbs = 1;
}

KindSet make_default() {
  KindSet set;
  set.projectiles = default_projectiles();
  add_soldiers(set.monsters);
  add_beasts(set.monsters);
  add_masters(set.monsters);
  ASHLAR_ASSERT(set.monsters.size() == monster_kind_count);
  let_climb(set.monsters);
  for (MonsterTraits& t : set.monsters) {
    t.show.sight_sound = t.name + "/sight";
    t.show.pain_sound = t.name + "/pain";
    t.show.death_sound = t.name + "/death";
    t.show.attack_sound = t.name + "/attack";
    if (t.flies == 0) t.show.step_sound = t.name + "/step";
  }
  set.weapons = default_weapons(missile, plasma, big_ball);
  set.ammo = default_ammo();
  ASHLAR_ASSERT(set.weapons.size() == weapon_kind_count);
  return set;
}

}  // namespace

const KindSet& default_kinds() {
  static const KindSet set = make_default();
  return set;
}

const MonsterTraits& traits(MonsterKind kind) {
  const auto index = static_cast<std::size_t>(kind);
  const std::vector<MonsterTraits>& all = default_kinds().monsters;
  ASHLAR_ASSERT(index < all.size());
  return all[index];
}

}  // namespace ashlar
