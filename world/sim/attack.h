#pragma once
#include <cstdint>
#include <string>

#include "world/math/shapes.h"

namespace ashlar {

/// How an attack reaches whom it is meant for.
enum class AttackForm : std::uint8_t {
  none,
  melee,    ///< touches whom it stands before
  hitscan,  ///< rays from the eye, aside by chance
  missile,  ///< a projectile of a kind
  charge,   ///< flies at its target with its own body
  leap,     ///< a charge of one who walks: a throw that comes down at the target
  flame,    ///< strikes whom it sees, wherever that stands, and bursts there
  summon,   ///< puts a monster before itself
};
inline constexpr std::size_t attack_form_count = 8;

/// One attack of a kind. A hit takes damage_step × (1 to damage_sides) points.
struct MonsterAttack {
  AttackForm form = AttackForm::none;
  std::uint16_t damage_step = 0;
  std::uint8_t damage_sides = 1;
  std::uint8_t count = 1;    ///< rays or projectiles at once
  std::uint8_t burst = 1;    ///< times in a row
  std::uint8_t refires = 0;  ///< 0 or 1: goes on for as long as it sees its target
  std::uint8_t kind = 0;     ///< missile and flame: of projectile; summon: of monster
  double windup_s = 0;       ///< from the decision to the first time
  double burst_s = 0;        ///< between two times
  double recover_s = 0;      ///< behind the last
  double spread_deg = 0;     ///< largest angle aside; small ones are likelier (triangular)
  double range_m = 64;       ///< melee: from the middle to the target's skin
  double speed_mps = 0;      ///< charge and leap
  friend bool operator==(const MonsterAttack&, const MonsterAttack&) = default;
};

/// What a kind of projectile is like.
struct ProjectileTraits {
  std::string name;
  Cylinder shape{0.19, 0.25};
  double speed_mps = 10;
  std::uint16_t damage_step = 0;  ///< of a hit, as of attacks
  std::uint8_t damage_sides = 8;
  std::uint8_t bounces = 0;         ///< off walls and floors, before it bursts
  std::uint16_t splash_damage = 0;  ///< in the middle; falls to nothing at splash_radius_m
  double splash_radius_m = 0;
  double gravity_share = 0;  ///< of the rule set's gravity
  double bounce_keep = 0.5;  ///< of its speed
  double homing_deg_per_s = 0;
  double life_s = 10;  ///< then it bursts
  /// Rays that its burst sends from who launched it, along the way that it flew: fanned over spray_deg, each
  /// to the first in sight within spray_range_m, spray_rolls × (1 to spray_sides) points.
  std::uint8_t spray = 0;
  std::uint8_t spray_rolls = 1;
  std::uint8_t spray_sides = 1;
  double spray_deg = 0;
  double spray_range_m = 0;
  friend bool operator==(const ProjectileTraits& a, const ProjectileTraits& b) {
    return a.name == b.name && a.shape.radius_m == b.shape.radius_m && a.shape.height_m == b.shape.height_m &&
           a.speed_mps == b.speed_mps && a.damage_step == b.damage_step && a.damage_sides == b.damage_sides &&
           a.bounces == b.bounces && a.splash_damage == b.splash_damage &&
           a.splash_radius_m == b.splash_radius_m && a.gravity_share == b.gravity_share &&
           a.bounce_keep == b.bounce_keep && a.homing_deg_per_s == b.homing_deg_per_s &&
           a.life_s == b.life_s && a.spray == b.spray && a.spray_rolls == b.spray_rolls &&
           a.spray_sides == b.spray_sides && a.spray_deg == b.spray_deg && a.spray_range_m == b.spray_range_m;
  }
};

}  // namespace ashlar
