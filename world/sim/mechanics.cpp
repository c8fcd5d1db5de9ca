#include "world/sim/mechanics.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/column.h"
#include "world/math/assert.h"
#include "world/sim/health.h"
#include "world/sim/monster_move.h"
#include "world/sim/monster_rows.h"
#include "world/sim/monster_think.h"
#include "world/sim/mover_start.h"
#include "world/sim/spawn.h"
#include "world/sim/teleport.h"
#include "world/sim/triggers.h"

namespace ashlar {
namespace {

constexpr double monster_push_every_s = 8.0 / 60;
constexpr double monster_push_reach_m = 0.5;  // before its skin
constexpr double walked_m_max = 8;            // further in one tick is no walk: a body was put elsewhere

}  // namespace

/// Who sets something off.
struct Mechanics::Actor {
  Body& body;
  Cylinder shape;
  EntityId id{};
  bool player = false;
  Turn16& yaw;
  std::uint8_t keys = 0;
};

Mechanics::Mechanics(std::span<const std::shared_ptr<const PlacedMap>> maps,
                     std::span<const std::vector<SectorHeights>> heights, std::size_t players_max,
                     std::size_t monsters_max)
    : keys_(players_max, 0), held_buttons_(players_max, 0), before_(players_max + monsters_max) {
  ASHLAR_ASSERT(maps.size() == heights.size());
  bodies_.reserve(players_max + monsters_max);
  maps_.reserve(maps.size());
  for (std::size_t i = 0; i < maps.size(); ++i) {
    auto plan = std::make_shared<const MapPlan>(maps[i]);
    const std::uint32_t sectors = plan->sector_count();
    const std::size_t lines = maps[i]->source().lines.size();
    maps_.push_back({plan, SectorMovers(sectors), std::vector<std::uint8_t>(lines, 0),
                     BodiesBySector(sectors, players_max + monsters_max), NoiseFlood(sectors)});
    start_timed_sectors({*plan, maps_.back().movers, heights[i]});
  }
}

void Mechanics::player_joined(std::size_t row) {
  ASHLAR_ASSERT(row < keys_.size());
  keys_[row] = 0;
  held_buttons_[row] = 0;
}

void Mechanics::restart(std::span<std::vector<SectorHeights>> heights) {
  ASHLAR_ASSERT(heights.size() == maps_.size());
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    MapMechanics& map = maps_[i];
    std::ranges::copy(map.plan->map().initial_heights(), heights[i].begin());
    [[maybe_unused]] const bool rests = map.movers.assign({});
    ASHLAR_ASSERT(rests);
    std::ranges::fill(map.spent, std::uint8_t{0});
    start_timed_sectors({*map.plan, map.movers, heights[i]});
  }
  std::ranges::fill(keys_, std::uint8_t{0});
}

std::span<const MoverBody> Mechanics::bodies(MechanicsTick& tick) {
  if (listed_) return bodies_;
  listed_ = true;
  bodies_.clear();
  PlayerTable& p = tick.players;
  for (std::size_t i = 0; i < p.rows(); ++i) {
    if (!p.alive(i) || p.body[i].noclip != 0) continue;
    bodies_.push_back({&p.body[i], tick.rules.player, p.id[i]});
  }
  MonsterTable& m = tick.monsters;
  for (std::size_t i = 0; i < m.rows(); ++i)
    if (m.id[i] != EntityId{0})
      bodies_.push_back({&m.body[i], wall_shape(tick.rules, m.traits_at(i)), m.id[i]});
  return bodies_;
}

bool Mechanics::in_motion() const {
  return std::ranges::any_of(maps_, [](const MapMechanics& m) { return !m.movers.movers().empty(); });
}

void Mechanics::move(MechanicsTick& tick) {
  ASHLAR_ASSERT(tick.heights.size() == maps_.size());
  ASHLAR_ASSERT(before_.size() == tick.players.rows() + tick.monsters.rows());
  events_.clear();
  listed_ = false;
  if (maps_.empty()) return;
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    MapMechanics& m = maps_[i];
    if (m.movers.movers().empty()) continue;
    MoverTick step{*m.plan,
                   tick.space,
                   tick.heights[i],
                   bodies(tick),
                   m.touching,
                   events_,
                   static_cast<std::uint8_t>(i)};
    m.movers.advance(step, tick.rules.tick_s());
  }
  hurt_crushed(tick);
  if (!tick.awake) return;

  const std::size_t players = tick.players.rows();
  for (std::size_t i = 0; i < players; ++i) before_[i] = tick.players.body[i].position_m;
  for (std::size_t i = 0; i < tick.monsters.rows(); ++i)
    before_[players + i] = tick.monsters.body[i].position_m;
}

DVec2 Mechanics::floor_velocity(std::span<const std::vector<SectorHeights>> heights, const Body& body) const {
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    const DVec2 v = ashlar::floor_velocity(*maps_[i].plan, heights[i], body);
    if (v != DVec2{}) return v;
  }
  return {};
}

void Mechanics::hurt_crushed(MechanicsTick& tick) {
  PlayerTable& p = tick.players;
  MonsterTable& m = tick.monsters;
  const std::size_t count = events_.list().size();  // deaths are added behind
  for (std::size_t i = 0; i < count; ++i) {
    const MoverEvent e = events_.list()[i];
    if (e.kind != MoverEventKind::crushed) continue;
    ++counters_.crushed;
    const std::size_t slot = slot_of(e.entity);
    const bool player = slot < p.rows();
    const std::size_t row = player ? slot : slot - p.rows();
    ASHLAR_ASSERT(row < (player ? p.rows() : m.rows()));
    // Two planes may hold one body in one tick, and the first may have been the end of it.
    if ((player ? p.id[row] : m.id[row]) != e.entity) continue;
    const std::uint16_t points =
        tick.crush == nullptr ? tick.rules.crush_damage : tick.crush->crushes(e.entity);
    if (!hurt(player ? p.health[row] : m.health[row], points)) continue;
    if (tick.crush != nullptr) tick.crush->crushed(e.entity);
    if (player) {
      ++counters_.player_deaths;
      p.body[row].velocity_mps = {};
    } else {
      ++counters_.monster_deaths;
      end_monster(m, row, tick.rules);
    }
    events_.add({MoverEventKind::died, e.map, e.plane, e.where, e.entity});
  }
}

void Mechanics::act(MechanicsTick& tick) {
  noises_now_ = 0;
  PlayerTable& p = tick.players;
  for (std::size_t row = 0; row < p.rows(); ++row) {
    if (p.id[row] == EntityId{0}) continue;
    const std::uint16_t buttons = p.command[row].buttons;
    const auto pressed = static_cast<std::uint16_t>(buttons & ~held_buttons_[row]);
    held_buttons_[row] = buttons;
    if ((pressed & button::use) == 0 || p.health[row] == 0) continue;
    const Actor who{p.body[row], tick.rules.player, p.id[row], true, p.yaw[row], keys_[row]};
    for (std::size_t i = 0; i < maps_.size(); ++i) {
      const MapPlan& plan = *maps_[i].plan;
      const DVec3 base = who.body.position_m;
      if (!in_box(plan.map(), base)) continue;
      const std::uint32_t line =
          line_used(plan, tick.space, tick.heights[i], base, who.shape, who.yaw, use_reach_m);
      if (line != no_index) set_off(tick, i, line, true, who);
    }
  }
}

void Mechanics::shot(MechanicsTick& tick, const ShotEvent& event) {
  const std::size_t row = slot_of(event.shooter);
  ASHLAR_ASSERT(tick.players.id[row] == event.shooter);
  if (event.ray == 0) make_noise(tick, row);
  const Actor who{tick.players.body[row], tick.rules.player, event.shooter, true,
                  tick.players.yaw[row],  keys_[row]};
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    const CrossedLines met = lines_shot(*maps_[i].plan, event.origin, event.direction, event.reach_m());
    for (std::size_t k = 0; k < met.count; ++k)
      set_off(tick, i, met.list[k].line, met.list[k].from_front, who);
  }
}

void Mechanics::launched(MechanicsTick& tick, const LaunchEvent& event) {
  const std::size_t row = slot_of(event.shooter);
  ASHLAR_ASSERT(tick.players.id[row] == event.shooter);
  make_noise(tick, row);
}

void Mechanics::walk(MechanicsTick& tick) {
  if (maps_.empty()) return;
  listed_ = false;  // crushers may have killed somebody
  PlayerTable& p = tick.players;
  for (std::size_t row = 0; row < p.rows(); ++row) {
    if (!p.alive(row) || p.body[row].noclip != 0) continue;
    take_keys(tick, row);
    walk_body(tick, before_[row], {p.body[row], tick.rules.player, p.id[row], true, p.yaw[row], keys_[row]});
  }
  MonsterTable& m = tick.monsters;
  const std::uint16_t push_every_ticks = tick.rules.ticks_within(monster_push_every_s, 1);
  for (std::size_t row = 0; row < m.rows(); ++row) {
    if (m.id[row] == EntityId{0} || (!tick.stays.empty() && tick.stays[row] != 0)) continue;
    walk_body(tick, before_[p.rows() + row],
              {m.body[row], m.traits_at(row).shape, m.id[row], false, m.yaw[row], 0});
    const bool goes = m.dozes[row] == 0 && m.mood[row] != MonsterMood::asleep;
    if (goes && (number(tick.tick) + row) % push_every_ticks == 0) monster_pushes(tick, row);
  }
}

void Mechanics::walk_body(MechanicsTick& tick, DVec3 from, const Actor& who) {
  const DVec3 to = who.body.position_m;
  const DVec2 way = xy(to - from);
  if (dot(way, way) == 0 || dot(way, way) > walked_m_max * walked_m_max) return;
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    const MapPlan& plan = *maps_[i].plan;
    if (!in_box(plan.map(), to)) continue;
    const CrossedLines crossed = lines_walked_over(plan, xy(from), xy(to));
    for (std::size_t k = 0; k < crossed.count; ++k) {
      set_off(tick, i, crossed.list[k].line, crossed.list[k].from_front, who);
      if (who.body.position_m != to) return;  // it is elsewhere now
    }
  }
}

void Mechanics::take_keys(MechanicsTick& tick, std::size_t row) {
  if (keys_[row] == key::all) return;
  const DVec3 at = tick.players.body[row].position_m;
  const Cylinder& shape = tick.rules.player;
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    if (!in_box(maps_[i].plan->map(), at)) continue;
    for (const MapKey& k : maps_[i].plan->keys()) {
      if ((keys_[row] & k.key) != 0 || !thing_in_game(k.flags, tick.rules)) continue;
      if (!key_in_reach(k, xy(at))) continue;
      // A key lies on its sector's floor, wherever that has gone.
      const auto ground = map_floor_ceiling(maps_[i].plan->map(), tick.heights[i], xy(k.position_m), 0.01);
      const double z = ground ? ground->floor_m : k.position_m.z;
      if (!key_beside(z, at.z, shape.height_m)) continue;
      keys_[row] = static_cast<std::uint8_t>(keys_[row] | k.key);
      events_.add({MoverEventKind::key_taken, static_cast<std::uint8_t>(i), Plane::floor, k.key,
                   tick.players.id[row]});
    }
  }
}

void Mechanics::monster_pushes(MechanicsTick& tick, std::size_t row) {
  MonsterTable& m = tick.monsters;
  // Only one that is held up pushes: it moved less than a tenth of what it could have.
  const MonsterTraits& kind = m.traits_at(row);
  if (kind.opens_doors == 0) return;
  const DVec2 v = xy(m.body[row].velocity_mps);
  const double slow = 0.1 * kind.speed_mps;
  if (dot(v, v) > slow * slow) return;
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    const MapPlan& plan = *maps_[i].plan;
    if (!in_box(plan.map(), m.body[row].position_m)) continue;
    const std::uint32_t line = line_used(plan, tick.space, tick.heights[i], m.body[row].position_m,
                                         kind.shape, m.yaw[row], kind.shape.radius_m + monster_push_reach_m);
    if (line != no_index)
      set_off(tick, i, line, true, {m.body[row], kind.shape, m.id[row], false, m.yaw[row], 0});
  }
}

bool Mechanics::set_off(MechanicsTick& tick, std::size_t map, std::uint32_t line, bool from_front,
                        const Actor& who) {
  MapMechanics& m = maps_[map];
  ASHLAR_ASSERT(line < m.spent.size() && m.plan->action(line) != nullptr);
  const LineAction& action = *m.plan->action(line);
  if (m.spent[line] != 0 || !(who.player ? action.players : action.monsters)) return false;
  const auto index = static_cast<std::uint8_t>(map);
  // Doom's monsters never open what leads to a secret.
  const MapLine& source = m.plan->map().source().lines[line];
  if (!who.player && action.trigger == LineTrigger::use && (source.flags & line_flag::secret) != 0)
    return false;
  if (action.keys != 0 && tick.rules.keys_needed()) {
    const auto held = static_cast<std::uint8_t>(who.keys & action.keys);
    if (action.any_key ? held == 0 : held != action.keys) {
      ++counters_.locked;
      events_.add({MoverEventKind::locked, index, Plane::floor, line, who.id});
      return false;
    }
  }
  bool done = false;
  switch (action.effect) {
    case LineEffect::teleport:
    case LineEffect::teleport_line:
      // Out of a teleporter one walks over its line from behind: only the front sends.
      done = from_front && teleport(tick, map, line, who);
      break;
    case LineEffect::exit:
      leave(tick, map, line, who);
      done = false;  // every player may leave, so an exit is never spent
      break;
    default: done = start_effect({*m.plan, m.movers, tick.heights[map]}, action, line, who.player); break;
  }
  if (!done) return false;
  ++counters_.lines;
  events_.add({MoverEventKind::switched, index, Plane::floor, line, who.id});
  if (!action.repeats) m.spent[line] = 1;
  return true;
}

void Mechanics::send(const Actor& who, DVec3 place, Turn16 yaw) {
  put_down(who.body, place);
  who.yaw = yaw;
  note_put(who.id, place);
}

void Mechanics::note_put(EntityId who, DVec3 place) {
  ASHLAR_ASSERT(slot_of(who) < before_.size());
  before_[slot_of(who)] = place;
}

bool Mechanics::teleport(MechanicsTick& tick, std::size_t map, std::uint32_t line, const Actor& who) {
  const auto landing = teleport_landing(*maps_[map].plan, tick.heights[map], line);
  if (!landing) return false;
  DVec3 wanted = landing->position_m;
  const auto ground =
      map_floor_ceiling(maps_[map].plan->map(), tick.heights[map], xy(wanted), who.shape.radius_m);
  if (ground) wanted.z = ground->floor_m;
  const auto place = free_place_near(tick.space, who.shape, wanted, bodies(tick), who.id);
  if (!place) {
    ++counters_.no_landing;
    return false;
  }
  send(who, *place, landing->yaw);
  ++counters_.teleports;
  events_.add({MoverEventKind::teleported, static_cast<std::uint8_t>(map), Plane::floor, line, who.id});
  return true;
}

void Mechanics::leave(MechanicsTick& tick, std::size_t map, std::uint32_t line, const Actor& who) {
  const Landing& surface = maps_[map].plan->surface();
  DVec3 wanted = surface.position_m;
  // Blocks may have been dug or placed there since the map was: the ground as it is now, if any is near.
  const auto ground = space_ground_below(tick.space, xy(wanted), who.shape.radius_m, wanted.z + 8, 16);
  if (ground) wanted.z = *ground;
  const auto place = free_place_near(tick.space, who.shape, wanted, bodies(tick), who.id);
  if (!place) {
    ++counters_.no_landing;
    return;
  }
  send(who, *place, surface.yaw);
  ++counters_.exits;
  events_.add({MoverEventKind::exited, static_cast<std::uint8_t>(map), Plane::floor, line, who.id});
}

void Mechanics::save_sectors(MechanicsState& out) const {
  out.maps.resize(maps_.size());
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    out.maps[i].movers = maps_[i].movers;
    out.maps[i].spent = maps_[i].spent;
  }
}

void Mechanics::restore_sectors(const MechanicsState& state) {
  ASHLAR_ASSERT(state.maps.size() == maps_.size());
  for (std::size_t i = 0; i < maps_.size(); ++i) {
    maps_[i].movers = state.maps[i].movers;
    maps_[i].spent = state.maps[i].spent;
  }
}

void Mechanics::restore_player(std::size_t row, const PlayerMechanics& state) {
  keys_[row] = state.keys;
  held_buttons_[row] = state.held_buttons;
}

void Mechanics::add_to_hash(StripeHasher& hash) const {
  for (const MapMechanics& m : maps_) {
    m.movers.add_to_hash(hash);
    hash.add_list(m.spent);
  }
  hash.add_list(keys_);
  hash.add_list(held_buttons_);
}

}  // namespace ashlar
