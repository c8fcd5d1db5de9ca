// Projectiles in flight, and what they burst into.

#include <algorithm>
#include <cmath>

#include "world/collide/ray_shapes.h"
#include "world/math/assert.h"
#include "world/sim/combat.h"

namespace ashlar {
namespace {

constexpr double rad_per_deg = 3.14159265358979323846 / 180;
constexpr double off_wall_m = 0.01;  // a burst is seen from a little before what it met

DVec3 unit_or_zero(DVec3 v) {
  const double size = length(v);
  return size > 0 ? v * (1 / size) : DVec3{};
}

/// Squared distance from a point to an upright cylinder.
double distance2(DVec3 p, const Cylinder& shape, DVec3 base) {
  const double beside = std::max(0.0, length(xy(p - base)) - shape.radius_m);
  const double z = std::clamp(p.z, base.z, base.z + shape.height_m) - p.z;
  return beside * beside + z * z;
}

}  // namespace

void Combat::launch(CombatTick& tick, std::uint8_t kind, EntityId owner, DVec3 centre, DVec3 direction,
                    EntityId target, double strength, std::uint16_t life_ticks) {
  const ProjectileTraits& traits = tick.monsters.projectile_traits(kind);
  const DVec3 base = centre - DVec3{0, 0, traits.shape.height_m / 2};
  if (!in_bounds(base)) return;
  // Too near to a wall to have room: it bursts where it is, on its owner's side.
  if (space_overlaps(tick.space, traits.shape, base)) return burst(tick, kind, owner, centre, direction);
  const std::size_t row = projectiles_.take();
  if (row == projectiles_.rows()) {
    ++counters_.no_room;
    return;
  }
  ++counters_.launched;
  ProjectileTable& p = projectiles_;
  p.kind[row] = kind;
  p.position_m[row] = base;
  p.velocity_mps[row] = direction * (traits.speed_mps * strength);
  p.owner[row] = owner;
  p.target[row] = target;
  p.life_ticks[row] = life_ticks > 0 ? life_ticks : tick.rules.ticks_within(traits.life_s, 1);
  p.bounces_left[row] = traits.bounces;
}

EntityId Combat::met(CombatTick& tick, std::size_t row, DVec3 centre, DVec3 way, double& reach_m) const {
  const ProjectileTraits& kind = tick.monsters.projectile_traits(projectiles_.kind[row]);
  const double half = kind.shape.height_m / 2, wide = kind.shape.radius_m;
  const DVec3 end = centre + way * reach_m;
  EntityId who{};
  double best = reach_m;
  grid_.visit_near(
      {std::min(centre.x, end.x) - wide, std::min(centre.y, end.y) - wide},
      {std::max(centre.x, end.x) + wide, std::max(centre.y, end.y) + wide}, [&](const ShotTarget& target) {
        if (target.id == projectiles_.owner[row]) return;
        const StandingCylinder grown{{target.body.radius_m + wide, target.body.height_m + 2 * half},
                                     target.base - DVec3{0, 0, half}};
        const auto hit = ray_cylinder(centre, way, reach_m, grown);
        if (!hit) return;
        const bool tie = who != EntityId{0} && hit->t_m == best;
        if (tie ? !(target.id < who) : hit->t_m > best) return;
        who = target.id;
        best = hit->t_m;
      });
  reach_m = best;
  return who;
}

void Combat::fly(CombatTick& tick, std::size_t row) {
  ProjectileTable& p = projectiles_;
  const std::uint8_t which = p.kind[row];
  const ProjectileTraits& kind = tick.monsters.projectile_traits(which);
  const double dt_s = tick.rules.tick_s();
  const DVec3 half{0, 0, kind.shape.height_m / 2};
  DVec3& velocity = p.velocity_mps[row];
  if (kind.homing_deg_per_s > 0)
    if (const auto at = body_of(tick.rules, tick.players, tick.monsters, p.target[row]))
      velocity = turned_towards(velocity, at->middle() - (p.position_m[row] + half),
                                kind.homing_deg_per_s * rad_per_deg * dt_s);
  velocity.z -= kind.gravity_share * tick.rules.gravity_mps2 * dt_s;
  if (space_unloaded(tick.space, kind.shape, p.position_m[row])) return p.free(row);

  const DVec3 delta = velocity * dt_s;
  const SweepHit wall = space_sweep(tick.space, kind.shape, p.position_m[row], delta);
  const DVec3 way = unit_or_zero(delta);
  const DVec3 centre = p.position_m[row] + half;
  double reach_m = length(delta) * (wall.started_inside ? 0 : wall.t);
  const EntityId who = way == DVec3{} ? EntityId{0} : met(tick, row, centre, way, reach_m);
  const EntityId owner = p.owner[row];
  if (who != EntityId{0}) {
    // P: who is of its thrower's kind takes nothing (PIT_CheckThing), but for players.
    const auto at = body_of(tick.rules, tick.players, tick.monsters, who);
    const auto thrower = body_of(tick.rules, tick.players, tick.monsters, owner);
    const bool kin = at && thrower && !at->player && !thrower->player &&
                     tick.monsters.kind[at->row] == tick.monsters.kind[thrower->row];
    p.free(row);
    if (!kin) hurt(tick, who, {owner, draw(kind.damage_step, kind.damage_sides), HurtBy::missile, way});
    return burst(tick, which, owner, centre + way * reach_m, way);
  }
  p.position_m[row] = p.position_m[row] + way * reach_m;
  ASHLAR_ASSERT(p.life_ticks[row] > 0);
  const bool spent = --p.life_ticks[row] == 0 || !in_bounds(p.position_m[row]);
  if (!wall.hit() && !spent) return;
  if (!spent && p.bounces_left[row] > 0 && !wall.started_inside) {
    --p.bounces_left[row];
    const double into = dot(velocity, wall.normal);
    velocity = (velocity - wall.normal * (2 * into)) * kind.bounce_keep;
    return;
  }
  p.free(row);
  burst(tick, which, owner, centre + way * reach_m + wall.normal * off_wall_m, way);
}

/// Source: P_RadiusAttack, with distance and sight in space instead of the plane.
void Combat::burst(CombatTick& tick, std::uint8_t which, EntityId owner, DVec3 centre, DVec3 way) {
  show({CueKind::burst, which, EntityId{0}, true, centre});
  const ProjectileTraits& kind = tick.monsters.projectile_traits(which);
  if (kind.spray > 0) spray(tick, kind, owner, way);
  if (kind.splash_damage == 0 || !(kind.splash_radius_m > 0)) return;
  if (tick.players.has(owner) && player_bursts_.size() < player_bursts_max)
    player_bursts_.push_back({centre, owner});
  const double radius = kind.splash_radius_m;
  targets_.clear();
  grid_.visit_near({centre.x - radius, centre.y - radius}, {centre.x + radius, centre.y + radius},
                   [&](const ShotTarget& target) {
                     if (distance2(centre, target.body, target.base) < radius * radius)
                       targets_.push_back(target);
                   });
  std::ranges::sort(targets_, {}, &ShotTarget::id);
  for (const ShotTarget& target : targets_) {
    const auto at = body_of(tick.rules, tick.players, tick.monsters, target.id);
    if (!at || (!at->player && tick.monsters.traits_at(at->row).splash_proof != 0)) continue;
    const double share = 1 - std::sqrt(distance2(centre, target.body, target.base)) / radius;
    const auto points = static_cast<std::uint16_t>(std::max(0.0, kind.splash_damage * share));
    if (points == 0 || !space_sees(tick.space, centre, at->middle())) continue;
    hurt(tick, target.id, {owner, points, HurtBy::burst, unit_or_zero(at->middle() - centre)});
  }
}

/// Source: A_BFGSpray, whose rays find whom they meet at any height that P_AimLineAttack reaches.
void Combat::spray(CombatTick& tick, const ProjectileTraits& kind, EntityId owner, DVec3 way) {
  constexpr double slope_max = 100.0 / 160;  // P_AimLineAttack
  const auto from = body_of(tick.rules, tick.players, tick.monsters, owner);
  if (!from || length(xy(way)) == 0) return;
  const double range = kind.spray_range_m;
  const DVec3 eye = from->middle();
  targets_.clear();
  grid_.visit_near({eye.x - range, eye.y - range}, {eye.x + range, eye.y + range},
                   [&](const ShotTarget& target) {
                     const DVec2 to = xy(target.base - eye);
                     if (target.id != owner && dot(to, to) < range * range) targets_.push_back(target);
                   });
  std::ranges::sort(targets_, {}, &ShotTarget::id);
  const auto middle = static_cast<double>(static_cast<std::uint16_t>(turn_towards(xy(way))));
  for (int ray = 0; ray < kind.spray; ++ray) {
    const double share = kind.spray > 1 ? static_cast<double>(ray) / (kind.spray - 1) - 0.5 : 0;
    const auto yaw = static_cast<std::int32_t>(middle + share * kind.spray_deg * (65536 / 360.0));
    const DVec2 along = heading(Turn16{static_cast<std::uint16_t>(yaw)});
    EntityId met{};
    double nearest = range;
    for (const ShotTarget& target : targets_) {
      const auto at = body_of(tick.rules, tick.players, tick.monsters, target.id);  // none: dead by now
      if (!at) continue;
      const DVec2 to = xy(at->base - eye);
      const double ahead = dot(to, along), beside = to.x * along.y - to.y * along.x;
      if (ahead <= 0 || ahead >= nearest || std::fabs(beside) > at->shape.radius_m) continue;
      const double rise = at->middle().z - eye.z;
      if (std::fabs(rise) > slope_max * ahead || !space_sees(tick.space, eye, at->middle())) continue;
      met = target.id;
      nearest = ahead;
    }
    if (met == EntityId{0}) continue;
    std::uint16_t points = 0;
    for (int roll = 0; roll < kind.spray_rolls; ++roll)
      points = static_cast<std::uint16_t>(points + draw(1, kind.spray_sides));
    hurt(tick, met, {owner, points, HurtBy::burst, {along.x, along.y, 0}});
  }
}

}  // namespace ashlar
