#include "world/sim/combat.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/sector_map.h"
#include "world/math/assert.h"
#include "world/sim/health.h"
#include "world/sim/monster_rows.h"
#include "world/sim/monster_think.h"

namespace ashlar {
namespace {

constexpr std::uint64_t combat_draws = 5;  // purpose of rng_for
constexpr double grudge_s = 100.0 / 35;    // BASETHRESHOLD
/// P_DamageMobj: damage * (FRACUNIT >> 3) * 100 / mass units a tic.
constexpr double push_mps_per_point = 0.125 * 35 * map_unit_m;
constexpr double player_mass = 100;
constexpr double push_mps_max = 30;

/// P_DamageMobj: green armour takes a third of a hit, blue half, until it is used up.
/// @return health that the rest costs
std::uint16_t past_armour(PlayerTable& p, std::size_t row, std::uint16_t points) {
  const auto saved = std::min<std::uint16_t>(
      p.armour[row], static_cast<std::uint16_t>(p.armour_half[row] != 0 ? points / 2 : points / 3));
  p.armour[row] = static_cast<std::uint16_t>(p.armour[row] - saved);
  return std::min<std::uint16_t>(p.health[row], static_cast<std::uint16_t>(points - saved));
}

}  // namespace

Combat::Combat(std::uint64_t seed, std::size_t players_max, std::size_t monsters_max, std::size_t projectiles)
    : rng_(rng_for(seed, combat_draws)), grid_(players_max + monsters_max) {
  projectiles_.resize(projectiles, static_cast<std::uint32_t>(players_max + monsters_max));
  targets_.reserve(players_max + monsters_max);
  events_.reserve(events_max);
  summons_.reserve(summons_max);
  cues_.reserve(cues_max);
  queued_.reserve(queued_max);
  player_bursts_.reserve(player_bursts_max);
  fallen_.reserve(fallen_max);
}

void Combat::begin_tick() {
  events_.clear();
  summons_.clear();
  cues_.clear();
  player_bursts_.clear();
  fallen_.clear();
}

/// @param at  the middle of whom it happened to
void Combat::note(const CombatEvent& event, DVec3 at) {
  const bool died = event.kind == CombatEventKind::died;
  // A hit that kills shows as the death.
  if (died && !cues_.empty() && cues_.back().kind == CueKind::hurt && cues_.back().who == event.who)
    cues_.pop_back();
  const auto how = static_cast<std::uint8_t>(event.how);
  const WorldCue cue{died ? CueKind::died : CueKind::hurt, how, event.who, died, at};
  const bool again = std::ranges::any_of(cues_, [&](const WorldCue& before) {
    return before.kind == cue.kind && before.who == cue.who && before.detail == cue.detail;
  });
  if (!again) show(cue);
  if (events_.size() == events_max) {
    ++counters_.events_lost;
    return;
  }
  events_.push_back(event);
}

bool Combat::queue(const LaunchEvent& launch) {
  if (queued_.size() == queued_max) return false;
  queued_.push_back(launch);
  return true;
}

void Combat::forget_flying() {
  for (std::size_t row = 0; projectiles_.count > 0 && row < projectiles_.rows(); ++row)
    if (projectiles_.id[row] != EntityId{0}) projectiles_.free(row);
  queued_.clear();
}

void Combat::note_fallen(const MonsterTable& monsters, std::size_t row) {
  const std::uint16_t drop = monsters.traits_at(row).drop;
  if (drop != 0 && fallen_.size() < fallen_max) fallen_.push_back({drop, monsters.body[row].position_m});
}

void Combat::hurt(CombatTick& tick, EntityId who, const Harm& harm) {
  const auto body = body_of(tick.rules, tick.players, tick.monsters, who);
  if (!body) return;
  ASHLAR_ASSERT_SLOW(is_finite(harm.push));
  if (body->player)
    hurt_player(tick, body->row, harm);
  else
    hurt_monster(tick, body->row, harm);
}

std::uint16_t Combat::judged(const CombatTick& tick, EntityId who, const Harm& harm) {
  if (harm.how == HurtBy::game) return harm.points;
  if (tick.rule != nullptr) return tick.rule->points(who, harm.by, harm.points);
  const bool friends = tick.players.has(harm.by) && tick.players.has(who) && harm.by != who;
  return friends && tick.rules.friendly_fire == Switch::off ? std::uint16_t{0} : harm.points;
}

std::uint16_t Combat::points_on(const CombatTick& tick, std::size_t row, const Harm& harm) {
  const PlayerTable& p = tick.players;
  if (p.arsenal[row].powered(Power::invulnerability)) return 0;
  const std::uint16_t points = judged(tick, p.id[row], harm);
  return tick.rules.skill == 1 ? static_cast<std::uint16_t>(points / 2) : points;
}

std::uint16_t Combat::crush(CombatTick& tick, EntityId who) {
  const auto body = body_of(tick.rules, tick.players, tick.monsters, who);
  if (!body) return 0;
  const Harm harm{EntityId{0}, tick.rules.crush_damage, HurtBy::crusher, {}};
  std::uint16_t lost = 0;
  if (body->player)
    lost = past_armour(tick.players, body->row, points_on(tick, body->row, harm));
  else
    lost = judged(tick, who, harm);
  // The game, which was asked, may have taken it away, and put another one into its row.
  if (!body->player && tick.monsters.id[body->row] != who) return 0;
  if (!body->player) lost = std::min(tick.monsters.health[body->row], lost);
  if (lost > 0) note({CombatEventKind::hurt, harm.how, lost, who, harm.by}, body->middle());
  return lost;
}

void Combat::note_crushed(CombatTick& tick, EntityId who) {
  const BodyView body = body_of_row(tick.rules, tick.players, tick.monsters, who);
  if (!body.player) note_fallen(tick.monsters, body.row);
  note({CombatEventKind::died, HurtBy::crusher, 0, who, EntityId{0}}, body.middle());
}

void Combat::hurt_player(CombatTick& tick, std::size_t row, const Harm& harm) {
  PlayerTable& p = tick.players;
  const EntityId who = p.id[row];
  const std::uint16_t points = points_on(tick, row, harm);
  if (points == 0 || p.health[row] == 0) return;  // the game, which was asked, may have killed it
  Body& body = p.body[row];
  const double push = std::min(push_mps_max, points * push_mps_per_point * 100 / player_mass);
  body.velocity_mps = body.velocity_mps + harm.push * push;
  const std::uint16_t lost = past_armour(p, row, points);
  ++counters_.hits;
  const bool killed = ashlar::hurt(p.health[row], lost);
  const DVec3 at = body.position_m + DVec3{0, 0, tick.rules.player.height_m / 2};
  note({CombatEventKind::hurt, harm.how, lost, who, harm.by}, at);
  if (!killed) return;
  ++counters_.player_deaths;
  body.velocity_mps = {};
  note({CombatEventKind::died, harm.how, 0, who, harm.by}, at);
}

void Combat::hurt_monster(CombatTick& tick, std::size_t row, const Harm& harm) {
  MonsterTable& m = tick.monsters;
  const EntityId who = m.id[row];
  const std::size_t by_slot = slot_of(harm.by), first = tick.players.rows();
  const bool by_other = by_slot >= first && by_slot < first + m.rows() && harm.by != who;
  if (by_other && harm.how != HurtBy::game && tick.rules.infighting == Switch::off) return;
  const MonsterTraits& kind = m.traits_at(row);
  const std::uint16_t points = judged(tick, who, harm);
  if (points == 0 || m.id[row] != who) return;  // likewise
  const double push = std::min(push_mps_max, points * push_mps_per_point * 100 / kind.mass);
  m.body[row].velocity_mps = m.body[row].velocity_mps + harm.push * push;
  const auto lost = std::min(m.health[row], points);
  ++counters_.hits;
  const bool killed = ashlar::hurt(m.health[row], lost);
  const DVec3 at = m.body[row].position_m + DVec3{0, 0, kind.shape.height_m / 2};
  note({CombatEventKind::hurt, harm.how, lost, who, harm.by}, at);
  if (killed) {
    ++counters_.monster_deaths;
    note_fallen(m, row);
    end_monster(m, row, tick.rules);
    note({CombatEventKind::died, harm.how, 0, who, harm.by}, at);
    return;
  }
  m.dozes[row] = 0;
  if (m.rng[row].below(256) < kind.pain_chance) {
    m.action[row] = MonsterAction::pain;
    m.action_ticks[row] = tick.rules.ticks_within(kind.pain_s, 1);
  }
  if (harm.by != who) turn_on(tick, row, harm.by);
}

/// Source: P_DamageMobj. It turns on who hurt it, unless it is still after the one before.
void Combat::turn_on(CombatTick& tick, std::size_t row, EntityId who) {
  MonsterTable& m = tick.monsters;
  const auto body = body_of(tick.rules, tick.players, m, who);
  if (!body) return;
  const bool held = m.mood[row] == MonsterMood::chase && m.target[row] != EntityId{0};
  if (held && (m.target[row] == who || m.grudge_ticks[row] > 0)) return;
  monster_takes_up(tick.rules, m, row, who, body->base);
  m.grudge_ticks[row] = tick.rules.ticks_within(grudge_s);
  m.check_ticks[row] = 0;  // reactiontime = 0: awake now
}

void Combat::shots(CombatTick& tick, std::span<const ShotEvent> shots) {
  for (const ShotEvent& shot : shots) {
    if (shot.hit.target == EntityId{0}) continue;
    const WeaponTraits& weapon = tick.monsters.kind_set().weapons[shot.weapon];
    const std::uint32_t points = draw(weapon.damage_step, weapon.damage_sides) * std::uint32_t{shot.times};
    hurt(tick, shot.hit.target,
         {shot.shooter, static_cast<std::uint16_t>(std::min(points, 65535u)),
          weapon.form == WeaponForm::melee ? HurtBy::claw : HurtBy::shot, shot.direction});
  }
}

void Combat::fight(CombatTick& tick, std::span<const std::uint32_t> fires,
                   std::span<const LaunchEvent> launches) {
  MonsterTable& m = tick.monsters;
  const bool charging = std::ranges::find(m.action, MonsterAction::charging) != m.action.end();
  if (fires.empty() && launches.empty() && queued_.empty() && !charging && projectiles_.count == 0) return;
  grid_.fill(tick.rules, tick.players, m);
  for (const LaunchEvent& l : queued_) launch(tick, l);
  queued_.clear();
  for (const LaunchEvent& l : launches) launch(tick, l);
  for (const std::uint32_t row : fires)
    if (m.id[row] != EntityId{0} && m.action[row] != MonsterAction::pain) attack(tick, row);
  const std::size_t flying = projectiles_.count == 0 ? 0 : projectiles_.rows();
  for (std::size_t row = 0; row < flying; ++row)
    if (projectiles_.id[row] != EntityId{0}) fly(tick, row);
  for (std::size_t row = 0; charging && row < m.rows(); ++row)
    if (m.id[row] != EntityId{0} && m.action[row] == MonsterAction::charging) touch(tick, row);
}

void Combat::add_to_hash(StripeHasher& hash) const {
  hash.add(rng_.state);
  projectiles_.add_to_hash(hash);
  for (const LaunchEvent& l : queued_) {
    hash.add(static_cast<std::uint64_t>(l.shooter) << 32 | l.projectile);
    hash.add(static_cast<std::uint64_t>(l.life_ticks) << 8 | l.weapon);
    hash.add(l.origin), hash.add(l.direction), hash.add(l.strength);
  }
}

}  // namespace ashlar
