#include "client_sim/simulation/truth.h"

#include <algorithm>
#include <tuple>

#include "protocol/snapshot/height_delta.h"
#include "world/bsp/placed_map.h"
#include "world/sim/dropped_items.h"
#include "world/sim/game_replication.h"
#include "world/sim/health.h"
#include "world/sim/pickups.h"
#include "world/sim/projectiles.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

/// What both tables know of everyone alive or dead.
TrueEntity true_entity(EntityId id, EntityKind kind, Turn16 yaw, const Body& body, std::uint8_t health) {
  const QuantisedPosition at = quantise(body.position_m);
  TrueEntity out;
  out.cell = at.cell;
  EntityRecord& r = out.record;
  r.id = id;
  r.x = at.x, r.y = at.y, r.z = at.z;
  r.kind = kind;
  r.yaw = quantise_turn(yaw);
  r.health = health;
  if (body.grounded != 0) r.flags |= entity_flag::grounded;
  if (body.stuck_ticks != 0) r.flags |= entity_flag::recovering;
  if (health == 0) r.flags |= entity_flag::dead;
  return out;
}

/// By rays through the maps' rock, whatever their visibility sets say; blocks hide nobody from interest.
bool rock_between(std::span<const MapInSpace> maps, DVec3 from, DVec3 to) {
  const DVec3 way = to - from;
  const double distance = length(way);
  if (distance == 0) return false;
  return std::ranges::any_of(maps, [&](const MapInSpace& m) {
    return map_ray(*m.map, m.heights, from, way * (1 / distance), distance).hit();
  });
}

}  // namespace

std::span<const TrueEntity> TrueFrame::cell(CellCoord at) const {
  const auto range = std::ranges::equal_range(entities, at, {}, &TrueEntity::cell);
  return {range.begin(), range.end()};
}

std::span<const TrueEntity> TrueFrame::cell(CellCoord at, EntityId first, EntityId last) const {
  const auto id = [](const TrueEntity& e) { return e.record.id; };
  const std::span<const TrueEntity> all = cell(at);
  return {std::ranges::lower_bound(all, first, {}, id), std::ranges::upper_bound(all, last, {}, id)};
}

const TruePlayer* TrueFrame::player(EntityId id) const {
  const auto it = std::ranges::find(players, id, &TruePlayer::id);
  return it == players.end() ? nullptr : &*it;
}

bool TrueFrame::sees(EntityId viewer, EntityId seen) const {
  return std::ranges::any_of(sights,
                             [&](const TrueSight& s) { return s.viewer == viewer && s.seen == seen; });
}

std::size_t TrueFrame::bytes() const {
  std::size_t sum = entities.capacity() * sizeof(TrueEntity) + players.capacity() * sizeof(TruePlayer) +
                    sights.capacity() * sizeof(TrueSight);
  for (const std::vector<WireHeights>& of_map : heights)
    sum += sizeof(std::vector<WireHeights>) + of_map.capacity() * sizeof(WireHeights);
  return sum;
}

void Truth::look_around(const World& world, TrueFrame& frame) {
  frame.sights.clear();
  const PlayerTable& players = world.players();
  const MonsterTable& monsters = world.monsters();
  const Rules& rules = world.setup().rules;
  std::uint32_t pair = frame.tick * 2654435761u;  // other pairs in every tick
  for (std::size_t viewer = 0; viewer < players.rows(); ++viewer) {
    if (players.id[viewer] == EntityId{0}) continue;
    const DVec3 eye = players.body[viewer].position_m + DVec3{0, 0, rules.player_eye_m};
    const auto look = [&](EntityId id, DVec3 base, double height_m) {
      if (id == EntityId{0} || id == players.id[viewer] || pair++ % pairs_per_look != 0) return;
      if (!rock_between(world.maps(), eye, base + DVec3{0, 0, 0.5 * height_m}))
        frame.sights.push_back({players.id[viewer], id, quantise(base).cell, length(base - eye)});
    };
    for (std::size_t i = 0; i < players.rows(); ++i)
      if (!players.spectates(i)) look(players.id[i], players.body[i].position_m, rules.player.height_m);
    for (std::size_t i = 0; i < monsters.rows(); ++i)
      look(monsters.id[i], monsters.body[i].position_m, monsters.traits_at(i).shape.height_m);
  }
}

void Truth::take(const World& world) {
  TrueFrame& frame = frame_of(number(world.tick()));
  frame.tick = number(world.tick());
  frame.hash = world.hash();
  frame.entities.clear();
  frame.players.clear();
  const PlayerTable& players = world.players();
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    const std::uint8_t health = health_share(players.health[i], world.setup().rules.player_health);
    frame.players.push_back({players.id[i], players.body[i], players.command[i], health});
    if (players.spectates(i)) continue;  // nobody is told of him
    frame.entities.push_back(
        true_entity(players.id[i], EntityKind::player, players.yaw[i], players.body[i], health));
    frame.entities.back().record.pitch = quantise_pitch(players.pitch[i]);
  }
  const MonsterTable& monsters = world.monsters();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    const std::uint8_t health = health_share(monsters.health[i], monsters.traits_at(i).health);
    frame.entities.push_back(true_entity(monsters.id[i], entity_kind(monsters.kind[i]), monsters.yaw[i],
                                         monsters.body[i], health));
    frame.entities.back().record.state = static_cast<std::uint8_t>(monsters.mood[i]);
  }
  const ProjectileTable& flying = world.projectiles();
  for (std::size_t i = 0; i < flying.rows(); ++i) {
    if (flying.id[i] == EntityId{0}) continue;
    Body body;
    body.position_m = flying.position_m[i];
    frame.entities.push_back(true_entity(flying.id[i], projectile_entity_kind(flying.kind[i]),
                                         turn_towards(xy(flying.velocity_mps[i])), body, 255));
  }
  const ItemTable& items = world.items().table();
  for (std::size_t i = 0; i < items.rows(); ++i) {
    if (items.id[i] == EntityId{0}) continue;
    Body body;
    body.position_m = items.position_m[i];
    body.grounded = items.rests[i];
    frame.entities.push_back(true_entity(items.id[i], EntityKind::item, Turn16{0}, body,
                                         static_cast<std::uint8_t>(items.stack[i].count)));
    frame.entities.back().record.state = static_cast<std::uint8_t>(items.stack[i].kind);
  }
  const PickupTable& pickups = world.pickups().table();
  for (std::size_t i = 0; i < pickups.rows(); ++i) {
    if (pickups.id[i] == EntityId{0}) continue;
    Body body;
    body.position_m = pickups.position_m[i];
    frame.entities.push_back(
        true_entity(pickups.id[i], item_entity_kind(pickups.item[i]), Turn16{0}, body, 255));
  }
  for (const OwnThing& thing : world.replication().things()) {
    if (thing.id == EntityId{0}) continue;
    Body body;
    body.position_m = thing.position_m;
    frame.entities.push_back(true_entity(thing.id, thing.kind, thing.yaw, body, 255));
    frame.entities.back().record.state = thing.state;
  }
  std::ranges::sort(frame.entities, [](const TrueEntity& a, const TrueEntity& b) {
    return std::tie(a.cell, a.record.id) < std::tie(b.cell, b.record.id);
  });
  frame.heights.resize(world.maps().size());
  for (std::size_t map = 0; map < frame.heights.size(); ++map) {
    frame.heights[map].clear();
    for (const SectorHeights& h : world.maps()[map].heights)
      frame.heights[map].push_back(quantise_heights(h));
  }
  look_around(world, frame);
}

void Truth::note_command(std::uint32_t tick, EntityId id, const PlayerCommand& command) {
  TrueFrame& frame = frame_of(tick);
  const auto it = std::ranges::find(frame.players, id, &TruePlayer::id);
  if (it != frame.players.end()) it->command = command;
}

const TrueFrame* Truth::at(std::uint32_t tick) const {
  const TrueFrame& frame = ring_[tick % ring_.size()];
  return tick != 0 && frame.tick == tick ? &frame : nullptr;
}

void Truth::clear() {
  for (TrueFrame& frame : ring_) frame.tick = 0;
}

std::size_t Truth::bytes() const {
  std::size_t sum = ring_.capacity() * sizeof(TrueFrame);
  for (const TrueFrame& frame : ring_) sum += frame.bytes();
  return sum;
}

}  // namespace ashlar::simulation
