// Monsters think, move, fight, and come back.
#include "world/sim/world_state.h"

#include <algorithm>
#include <bit>

#include "world/bsp/column.h"
#include "world/math/assert.h"
#include "world/sim/bodies.h"
#include "world/sim/day.h"
#include "world/sim/fetch_ahead.h"
#include "world/sim/monster_move.h"

namespace ashlar {
namespace {

constexpr std::size_t alarms_per_tick_max = 4;
constexpr double light_every_s = 0.5, feet_m = 0.1;
constexpr double burst_hearing_times = 4;  // a burst is heard so many times further than a hit
/// A monster that rests, nobody near it or asleep, is moved once in so many ticks: the ground may have gone.
constexpr std::uint32_t rest_ticks = 16, doze_ticks = 64;
constexpr std::uint32_t stand_ticks = 4;  // of who stands on its feet while it attacks or waits

}  // namespace

void World::Impl::look_at_light() {
  const std::uint32_t every = setup.rules.ticks_within(light_every_s, 1);
  const int sky = sky_light(setup.rules, life_tick());
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (!players.takes_part(i) || (tick + i) % every != 0) continue;
    const DVec3 at = players.body[i].position_m;
    int light = -1;
    for (const MapMechanics& map : mechanics.maps()) {
      if (!in_box(map.plan->map(), at)) continue;
      const std::uint32_t sector = map.plan->sector_at(xy(at));
      if (sector != no_index) light = std::clamp(map.plan->map().source().sectors[sector].light / 17, 0, 15);
    }
    if (light < 0)
      light = GroundSpawner::light_at(volume, *setup.blocks, block_at(at + DVec3{0, 0, feet_m}), sky);
    players.light[i] = static_cast<std::uint8_t>(light);
  }
}

void World::Impl::hear_noises(MechanicsTick& moving) {
  EntityId last{};
  for (const CombatEvent& e : combat.events()) {
    // The pellets of a shot hit one, and are one noise.
    if (e.kind != CombatEventKind::hurt || e.who == last || !players.has(e.by)) continue;
    last = e.who;
    if (const auto body = body_of(setup.rules, players, monsters, e.who))
      mechanics.noise(moving, e.by, body->base, 1);
  }
  for (const PlayerBurst& burst : combat.player_bursts())
    mechanics.noise(moving, burst.by, burst.centre_m, burst_hearing_times);
  for (const MoverEvent& e : mechanics.events())
    if (e.kind == MoverEventKind::switched && players.has(e.entity)) mechanics.line_noise(moving, e);
}

void World::Impl::monsters_think() {
  // All think before any moves: what each sees of the others' rows is nothing, so the order does not matter.
  const Space here = space();
  near.fill(players);
  if (monster_count > 0) look_at_light();
  navigation.advance(here, players, monsters, tick, mechanics.maps());
  fires.clear(), alarms.clear();
  const std::uint32_t look_ticks = monster_look_ticks(setup.rules);
  std::uint32_t turn = tick % look_ticks;  // (tick + row) % look_ticks, without a division a row
  for (std::size_t i = 0; i < monsters.rows(); ++i, turn = turn + 1 == look_ticks ? 0 : turn + 1) {
    if (monsters.id[i] == EntityId{0}) continue;
    idles[i] = turn != 0 && monster_idles(monsters, i) ? 1 : 0;
    if (idles[i] != 0) continue;
    wishes[i] = monster_think(here, setup.rules, players, near, monsters, i, TickId{tick}, &navigation);
    if (wishes[i].fires) fires.push_back(static_cast<std::uint32_t>(i));
    if (wishes[i].alarms) alarms.push_back(static_cast<std::uint32_t>(i));
  }
  // Who is woken wakes nobody in turn, and the rest of a crowd that sees somebody at once has seen him.
  for (std::size_t k = 0; k < std::min(alarms.size(), alarms_per_tick_max); ++k)
    monsters_alarm(here, setup.rules, monsters, alarms[k]);
}

void World::Impl::move_monsters() {
  const Space here = space();
  static_assert(std::has_single_bit(rest_ticks) && std::has_single_bit(doze_ticks));  // no division
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    const std::uint32_t turn = tick + static_cast<std::uint32_t>(i);
    const bool at_rest =
        turn % (monsters.dozes[i] != 0 ? doze_ticks : rest_ticks) != 0 && monster_rests(monsters, i);
    // Who dozes is in no crowd: where it was left, it still is.
    stays[i] = at_rest && monsters.dozes[i] != 0 ? 1 : 0;
    if (at_rest) continue;
    if (idles[i] != 0) wishes[i] = MonsterWish{};
    if (turn % stand_ticks != 0 && monster_stands(monsters, i, wishes[i])) continue;
    fetch_ahead(volume, monsters, i);
    const MoveReport report =
        monster_move(here, setup.rules, monsters.traits_at(i), wishes[i], monsters.body[i],
                     mechanics.floor_velocity(heights, monsters.body[i]));
    note(report, monsters.body[i]);
    ASHLAR_ASSERT(in_bounds(monsters.body[i].position_m));
    ASHLAR_ASSERT(monsters.body[i].noclip == 0);
    if (report.lost) send_back(monsters.body[i], spawns.terrain_monster(here, monsters.rng[i]).at.position_m);
  }
}

void World::Impl::fight() {
  CombatTick fighting = combat_tick();
  combat.fight(fighting, fires, shooting.launches());
  clear_around_bursts();
  fill_summons();
  count_deaths();
}

void World::Impl::count_deaths() {
  const std::uint64_t deaths = combat.counters().monster_deaths;
  ASHLAR_ASSERT(deaths - deaths_counted <= monster_count);
  monster_count -= static_cast<std::uint32_t>(deaths - deaths_counted);
  deaths_counted = deaths;
}

void World::Impl::fill_summons() {
  const Space here = space();
  for (const Summons& s : combat.summons()) {
    const Cylinder& shape = monsters.traits_of(s.kind).shape;
    if (!in_bounds(s.position_m) || space_overlaps(here, shape, s.position_m)) continue;
    const std::size_t row =
        enter_monster(monsters, {s.kind, {s.position_m, s.yaw}}, setup.seed, setup.players_max);
    if (row == monsters.rows()) continue;
    ++monster_count;
    monster_takes_up(setup.rules, monsters, row, s.target, s.position_m);
  }
}

void World::Impl::return_monsters() {
  if (setup.rules.monster_respawn_s == 0) return;
  const Space here = space();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] != EntityId{0} || monsters.respawn_ticks[i] == 0) continue;
    // Nor do those come back who were summoned, or put there by a game, in whose row ever: whom a game took
    // away leaves one of the first to others.
    const bool first = i < first_monsters.size() && monsters.of_game[i] == 0 &&
                       monsters.kind[i] == first_monsters[i].kind &&
                       monsters.home_m[i] == first_monsters[i].at.position_m;
    if (ground_spawner.owns(monsters, i) || !first) {
      monsters.respawn_ticks[i] = 0;
      continue;
    }
    if (--monsters.respawn_ticks[i] > 0) continue;
    const MonsterSpawn spawn{
        monsters.kind[i], {monsters.home_m[i], monsters.home_yaw[i]}, monsters.deaf[i] != 0};
    const Cylinder& shape = monsters.traits_of(spawn.kind).shape;
    if (space_overlaps(here, shape, spawn.at.position_m) ||
        spawns.taken(shape, spawn.at.position_m, setup.rules, players, monsters)) {
      monsters.respawn_ticks[i] = setup.rules.tick_rate_hz;  // again in a second
      continue;
    }
    enter_monster_at(monsters, i, spawn, setup.seed, setup.players_max);
    ++monster_count;
  }
}

}  // namespace ashlar
