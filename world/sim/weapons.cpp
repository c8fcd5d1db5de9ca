#include "world/sim/weapons.h"

#include "world/bsp/sector_map.h"

namespace ashlar {
namespace {

constexpr double tics(double count) { return count / 35; }
/// (P_Random() - P_Random()) << 18 of a turn of 2^32: up to 255/16384 of it.
constexpr double bullet_spread_deg = 255.0 / 16384 * 360;
constexpr double touch_range_m = 64 * map_unit_m;  // MELEERANGE

WeaponTraits arm(const char* name, std::uint8_t slot, std::uint8_t rank, AmmoKind ammo, double cycle_tics) {
  WeaponTraits w;
  w.name = name;
  w.slot = slot, w.rank = rank;
  w.ammo = ammo;
  w.interval_s = tics(cycle_tics);
  return w;
}

/// A_Punch and A_Saw: 2 × (1 to 10), the fist ten times as much with the power of strength.
WeaponTraits touching(WeaponTraits w, std::uint8_t strength_times) {
  w.form = WeaponForm::melee;
  w.uses = 0;
  w.damage_step = 2, w.damage_sides = 10;
  w.strength_times = strength_times;
  w.range_m = touch_range_m;
  return w;
}

/// P_GunShot: 5 × (1 to 3) each ray.
WeaponTraits shooting(WeaponTraits w, std::uint8_t count, std::uint16_t uses) {
  w.damage_step = 5, w.damage_sides = 3;
  w.count = count, w.uses = uses;
  w.spread_deg = bullet_spread_deg;
  return w;
}

WeaponTraits launching(WeaponTraits w, std::uint8_t projectile, std::uint16_t uses) {
  w.form = WeaponForm::missile;
  w.projectile = projectile;
  w.uses = uses;
  return w;
}

template <typename Of, typename List>
bool all_within(const Of& of, const List& list) {
  bool sane = true;
  list(of, [&sane](const char*, const auto& field, double low, double high) {
    const auto v = static_cast<double>(field);
    sane = sane && v >= low && v <= high;
  });
  return sane;
}

}  // namespace

bool weapon_sane(const WeaponTraits& weapon) {
  return all_within(weapon, [](const auto& w, auto&& visit) { visit_weapon(w, visit); });
}

bool ammo_sane(const AmmoTraits& ammo) {
  return all_within(ammo, [](const auto& a, auto&& visit) { visit_ammo(a, visit); });
}

/// The tics from A_ReFire to A_ReFire of each weapon's states (info.c); ranks are the order of P_CheckAmmo.
/// The press fires at once, but for the big gun's: what Doom waits before the shot it waits after it here.
std::vector<WeaponTraits> default_weapons(std::uint8_t rocket, std::uint8_t plasma, std::uint8_t ball) {
  std::vector<WeaponTraits> all;
  all.push_back(touching(arm("fist", 1, 1, AmmoKind::none, 17), 10));
  all.push_back(shooting(arm("pistol", 2, 5, AmmoKind::bullets, 14), 1, 1));
  all.back().interval_s = 0;  // the rule set's
  all.back().steady = 1;
  all.push_back(shooting(arm("shotgun", 3, 6, AmmoKind::shells, 37), 7, 1));
  all.push_back(shooting(arm("chaingun", 4, 7, AmmoKind::bullets, 4), 1, 1));
  all.back().steady = 1;
  all.push_back(launching(arm("rocket launcher", 5, 3, AmmoKind::rockets, 20), rocket, 1));
  all.push_back(launching(arm("plasma rifle", 6, 9, AmmoKind::cells, 3), plasma, 1));
  all.push_back(launching(arm("big gun", 7, 2, AmmoKind::cells, 40), ball, 40));
  all.back().windup_s = tics(30);
  all.push_back(touching(arm("saw", 1, 4, AmmoKind::none, 4), 1));
  all.push_back(shooting(arm("double shotgun", 3, 8, AmmoKind::shells, 57), 20, 2));
  // A_FireShotgun2: << 19, and the slope by (P_Random() - P_Random()) << 5 of 2^16.
  all.back().spread_deg = 2 * bullet_spread_deg;
  all.back().rise_deg = 7.1;
  for (const std::uint8_t given : {weapon::fist, weapon::pistol}) all[given].start = 1;
  return all;
}

std::array<AmmoTraits, ammo_kind_count> default_ammo() {
  return {{{200, 10, 50}, {50, 4, 0}, {50, 1, 0}, {300, 20, 0}}};
}

}  // namespace ashlar
