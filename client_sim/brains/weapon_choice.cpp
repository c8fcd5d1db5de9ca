#include "client_sim/brains/weapon_choice.h"

#include <algorithm>

namespace ashlar::client_sim {
namespace {

constexpr double body_radius_m = 0.5, body_half_height_m = 0.9;  // of whom shots are meant for
constexpr double melee_reach_m = 1.2;  // beyond a weapon's own range: two bodies' radii, less a step
constexpr double splash_room_m = 1.5;  // beyond a burst's reach, before it is safe
constexpr double sidestep_s = 1.0;     // what flies for longer may be stepped aside of
constexpr double change_worth = 1.3;   // times as much, or the hands stay as they are
constexpr double radians_per_deg = 3.14159265358979323846 / 180;

double mean_points(std::uint16_t step, std::uint8_t sides) { return step * (1 + sides) / 2.0; }

/// Of shots that go so far aside at most, the share that meets a body that reaches so far. Small angles are
/// likelier, so a third counts.
double share_that_meets(double spread_deg, double away_m, double body_m) {
  const double off_m = away_m * spread_deg / 3 * radians_per_deg;
  return off_m <= body_m ? 1 : body_m / off_m;
}

double share_of_rays(const WeaponTraits& w, double away_m) {
  return share_that_meets(w.spread_deg, away_m, body_radius_m) *
         share_that_meets(w.rise_deg, away_m, body_half_height_m);
}

double points_per_s(const KindSet& kinds, const Rules& rules, const WeaponTraits& w, double away_m) {
  const double loading_s = w.clip > 0 ? w.reload_s / w.clip : 0;
  const double every_s = std::max(w.interval_s > 0 ? w.interval_s : rules.shot_interval_s, 0.02) +
                         w.windup_s + w.charge_s + loading_s;
  if (launches(w.form)) {
    if (w.projectile >= kinds.projectiles.size()) return 0;
    const ProjectileTraits& p = kinds.projectiles[w.projectile];
    if (p.splash_damage > 0 && away_m < p.splash_radius_m + splash_room_m) return 0;
    const double flight_s = away_m / std::max(p.speed_mps, 1.0);
    const double meets = flight_s <= sidestep_s ? 1 : sidestep_s / flight_s;
    return meets * w.count * (mean_points(p.damage_step, p.damage_sides) + p.splash_damage / 4.0) / every_s;
  }
  const double range_m = w.range_m > 0 ? w.range_m : rules.shot_range_m;
  if (away_m > range_m + (w.form == WeaponForm::melee ? melee_reach_m : 0)) return 0;
  const double meets = w.form == WeaponForm::melee ? 1 : share_of_rays(w, away_m);
  return meets * w.count * mean_points(w.damage_step, w.damage_sides) / every_s;
}

}  // namespace

std::uint8_t best_weapon(const KindSet& kinds, const Rules& rules, const Arsenal& arsenal, double away_m) {
  std::uint8_t best = weapon_none;
  double most = -1;
  const auto count = static_cast<std::uint8_t>(std::min(kinds.weapons.size(), weapons_max));
  for (std::uint8_t i = 0; i < count; ++i) {
    const WeaponTraits& w = kinds.weapons[i];
    if (!arsenal.has(i)) continue;
    if (w.ammo != AmmoKind::none && arsenal.ammo[static_cast<std::size_t>(w.ammo)] < w.uses) continue;
    const double worth = points_per_s(kinds, rules, w, away_m) * (i == arsenal.held ? change_worth : 1.0);
    if (worth > most) most = worth, best = i;
  }
  return best;
}

}  // namespace ashlar::client_sim
