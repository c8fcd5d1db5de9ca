// Attacks of monsters: what Combat::fight() does for a row that fires, and whom chargers touch.

#include <algorithm>
#include <cmath>

#include "world/bsp/sector_map.h"
#include "world/math/assert.h"
#include "world/sim/combat.h"
#include "world/sim/monster_think.h"

namespace ashlar {
namespace {

constexpr double muzzle_m = 32 * map_unit_m;  // P_SpawnMissile: over the base
constexpr double charge_s_max = 3;
constexpr double leap_up_mps_max = 60;  // as fast as anybody goes; under most gravity up for its 3 s
constexpr double touch_gap_m = 0.25;
constexpr double melee_slack_m = 0.35;                             // it may have stepped back meanwhile
constexpr double flame_lift_mps = 1000.0 / 100 * 35 * map_unit_m;  // A_VileAttack: 1000 / mass units a tic
constexpr double summon_gap_m = 4 * map_unit_m;

DVec3 unit_or(DVec3 v, DVec3 otherwise) {
  const double size = length(v);
  return size > 0 ? v * (1 / size) : otherwise;
}

/// A way turned about the upright axis.
DVec3 turned(DVec3 way, double deg) {
  const auto turn = Turn16{static_cast<std::uint16_t>(static_cast<std::int32_t>(deg * (65536 / 360.0)))};
  const SinCos s = sin_cos(turn);
  return {way.x * s.cos - way.y * s.sin, way.x * s.sin + way.y * s.cos, way.z};
}

/// Of several missiles at once. Pairs three times in a row go as A_FatAttack1 to 3 have them: straight and to
/// the left, straight and twice as far to the right, half as far to both sides.
double aside_deg(const MonsterAttack& how, int times_left, int missile) {
  constexpr double pairs[3][2] = {{0, 1}, {0, -2}, {-0.5, 0.5}};
  if (how.count == 2 && how.burst == 3)
    return pairs[std::clamp(2 - times_left, 0, 2)][missile] * how.spread_deg;
  return how.count > 1 ? (2.0 * missile / (how.count - 1) - 1) * how.spread_deg : 0;
}

}  // namespace

void Combat::attack(CombatTick& tick, std::size_t row) {
  MonsterTable& m = tick.monsters;
  const MonsterTraits& kind = m.traits_at(row);
  const MonsterAttack& how = m.ranged[row] != 0 ? kind.ranged : kind.melee;
  const auto at = body_of(tick.rules, tick.players, m, m.target[row]);
  if (!at) return;
  ++counters_.attacks;
  const DVec3 base = m.body[row].position_m;
  const DVec3 ahead{heading(m.yaw[row]).x, heading(m.yaw[row]).y, 0};
  if (how.form != AttackForm::none && how.form != AttackForm::hitscan)  // whose rays are shown each
    show({CueKind::attack, static_cast<std::uint8_t>(how.form), m.id[row]});
  switch (how.form) {
    case AttackForm::none: break;
    case AttackForm::melee: claw(tick, row, how, *at); break;
    case AttackForm::hitscan: shoot(tick, row, how, *at); break;
    case AttackForm::flame: flame(tick, row, how, *at); break;
    case AttackForm::missile: {
      // From its own axis, around which it is free of walls: what it throws starts on its side of them.
      const DVec3 from = base + DVec3{0, 0, std::min(muzzle_m, kind.shape.height_m * 0.9)};
      const DVec3 way = unit_or(at->middle() - from, ahead);
      for (int i = 0; i < how.count; ++i)
        launch(tick, how.kind, m.id[row], from, turned(way, aside_deg(how, m.burst_left[row], i)),
               m.target[row]);
      break;
    }
    case AttackForm::charge:
    case AttackForm::leap: {
      const DVec3 to = at->middle() - (base + DVec3{0, 0, kind.shape.height_m / 2});
      Body& body = m.body[row];
      if (how.form == AttackForm::leap) {
        const double over = length(xy(to));
        body.velocity_mps = unit_or({to.x, to.y, 0}, ahead) * how.speed_mps;
        const double up_mps = tick.rules.gravity_mps2 * (over / std::max(how.speed_mps, 0.1)) / 2;
        body.velocity_mps.z = std::min(up_mps, leap_up_mps_max);
        body.grounded = 0;
      } else {
        body.velocity_mps = unit_or(to, ahead) * how.speed_mps;
      }
      m.action[row] = MonsterAction::charging;
      m.action_ticks[row] = tick.rules.ticks_within(charge_s_max, 1);
      break;
    }
    case AttackForm::summon: {
      if (summons_.size() == summons_max) break;
      const auto which = static_cast<MonsterKind>(how.kind);
      const double gap = kind.shape.radius_m + m.traits_of(which).shape.radius_m + summon_gap_m;
      summons_.push_back({which, base + ahead * gap, m.yaw[row], m.target[row]});
      break;
    }
  }
}

void Combat::claw(CombatTick& tick, std::size_t row, const MonsterAttack& how, const BodyView& at) {
  const MonsterTable& m = tick.monsters;
  const MonsterTraits& kind = m.traits_at(row);
  const DVec3 base = m.body[row].position_m;
  const DVec3 to = at.base - base;
  if (length(xy(to)) > how.range_m + at.shape.radius_m + melee_slack_m) return;
  if (to.z > kind.shape.height_m || -to.z > at.shape.height_m) return;
  const DVec3 eye = base + DVec3{0, 0, kind.shape.height_m / 2};
  if (!space_sees(tick.space, eye, at.middle())) return;
  hurt(tick, m.target[row],
       {m.id[row], draw(how.damage_step, how.damage_sides), HurtBy::claw, unit_or({to.x, to.y, 0}, {})});
}

void Combat::shoot(CombatTick& tick, std::size_t row, const MonsterAttack& how, const BodyView& at) {
  MonsterTable& m = tick.monsters;
  // P_LineAttack: from half of its height and eight units more.
  const double up = m.traits_at(row).shape.height_m / 2 + 8 * map_unit_m;
  const DVec3 eye = m.body[row].position_m + DVec3{0, 0, up};
  const DVec3 straight = unit_or(at.middle() - eye, {1, 0, 0});
  const EntityId by = m.id[row];
  for (int i = 0; i < how.count; ++i) {
    const double left = rng_.unit();
    const DVec3 way = turned(straight, (left - rng_.unit()) * how.spread_deg);
    targets_.clear();
    const DVec3 end = eye + way * how.range_m;
    grid_.visit_near({std::min(eye.x, end.x), std::min(eye.y, end.y)},
                     {std::max(eye.x, end.x), std::max(eye.y, end.y)},
                     [&](const ShotTarget& target) { targets_.push_back(target); });
    const ShotHit hit = resolve_shot(tick.space, targets_, by, eye, way, how.range_m);
    const double reach_m = hit.hit() ? hit.t_m : how.range_m;
    show({CueKind::attack, static_cast<std::uint8_t>(how.form), by, true, eye + way * reach_m});
    if (hit.target != EntityId{0})
      hurt(tick, hit.target, {by, draw(how.damage_step, how.damage_sides), HurtBy::shot, way});
  }
}

void Combat::flame(CombatTick& tick, std::size_t row, const MonsterAttack& how, const BodyView& at) {
  const MonsterTable& m = tick.monsters;
  const EntityId by = m.id[row], who = m.target[row];
  const DVec3 eye = m.body[row].position_m + DVec3{0, 0, m.traits_at(row).shape.height_m * 0.85};
  const DVec3 to = at.middle() - eye;
  if (dot(to, to) > how.range_m * how.range_m || !space_sees(tick.space, eye, at.middle())) return;
  hurt(tick, who, {by, draw(how.damage_step, how.damage_sides), HurtBy::flame, {}});
  // Its game may have put another monster into the row meanwhile.
  const EntityId there = at.player ? who : m.id[at.row];
  if (there == who || there == EntityId{0}) {
    Body& body = at.player ? tick.players.body[at.row] : tick.monsters.body[at.row];
    body.velocity_mps.z = std::max(body.velocity_mps.z, flame_lift_mps);
    body.grounded = 0;
  }
  burst(tick, how.kind, by, at.middle(), {});
}

void Combat::touch(CombatTick& tick, std::size_t row) {
  MonsterTable& m = tick.monsters;
  const MonsterTraits& kind = m.traits_at(row);
  const DVec3 base = m.body[row].position_m;
  const EntityId by = m.id[row];
  EntityId met{};
  double nearest2 = 0;
  const double reach = kind.shape.radius_m + touch_gap_m;
  grid_.visit_near({base.x - reach, base.y - reach}, {base.x + reach, base.y + reach},
                   [&](const ShotTarget& target) {
                     if (target.id == by) return;
                     const DVec3 d = target.base - base;
                     const double near = reach + target.body.radius_m;
                     const double d2 = dot(xy(d), xy(d));
                     if (d2 > near * near || d.z > kind.shape.height_m || -d.z > target.body.height_m) return;
                     if (met != EntityId{0} && (d2 > nearest2 || (d2 == nearest2 && !(target.id < met))))
                       return;
                     met = target.id;
                     nearest2 = d2;
                   });
  if (met == EntityId{0}) return;
  const auto at = body_of(tick.rules, tick.players, m, met);
  if (!at) return;
  const DVec3 middle = base + DVec3{0, 0, kind.shape.height_m / 2};
  if (!space_sees(tick.space, middle, at->middle())) return;
  const MonsterAttack& how = kind.ranged;
  const DVec3 way = unit_or(m.body[row].velocity_mps, {});
  hurt(tick, met, {by, draw(how.damage_step, how.damage_sides), HurtBy::charge, way});
  if (m.id[row] != by) return;
  m.action[row] = MonsterAction::none;
  m.body[row].velocity_mps = {};
}

}  // namespace ashlar
