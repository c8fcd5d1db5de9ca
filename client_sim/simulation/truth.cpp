#include "client_sim/simulation/truth.h"

#include <algorithm>
#include <tuple>

#include "world/bsp/placed_map.h"
#include "world/sim/health.h"
#include "world/sim/world.h"

namespace ashlar::simulation {
namespace {

TrueEntity true_entity(EntityId id, EntityKind kind, Turn16 yaw, DVec3 position) {
  const QuantisedPosition at = quantise(position);
  TrueEntity out;
  out.cell = at.cell;
  out.record.id = id;
  out.record.x = at.x, out.record.y = at.y, out.record.z = at.z;
  out.record.kind = kind;
  out.record.yaw = quantise_turn(yaw);
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

const TruePlayer* TrueFrame::player(EntityId id) const {
  const auto it = std::ranges::find(players, id, &TruePlayer::id);
  return it == players.end() ? nullptr : &*it;
}

bool TrueFrame::sees(EntityId viewer, EntityId seen) const {
  return std::ranges::any_of(sights,
                             [&](const TrueSight& s) { return s.viewer == viewer && s.seen == seen; });
}

void Truth::look_around(const World& world, TrueFrame& frame) {
  frame.sights.clear();
  if (world.maps().empty()) return;
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
        frame.sights.push_back({players.id[viewer], id});
    };
    for (std::size_t i = 0; i < players.rows(); ++i)
      look(players.id[i], players.body[i].position_m, rules.player.height_m);
    for (std::size_t i = 0; i < monsters.rows(); ++i)
      look(monsters.id[i], monsters.body[i].position_m, traits(monsters.kind[i]).shape.height_m);
  }
}

void Truth::take(const World& world) {
  TrueFrame& frame = ring_[number(world.tick()) % ticks_kept];
  frame.tick = number(world.tick());
  frame.hash = world.hash();
  frame.entities.clear();
  frame.players.clear();
  const PlayerTable& players = world.players();
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0}) continue;
    frame.players.push_back({players.id[i], players.body[i], players.command[i],
                             health_share(players.health[i], world.setup().rules.player_health)});
    frame.entities.push_back(
        true_entity(players.id[i], EntityKind::player, players.command[i].yaw, players.body[i].position_m));
  }
  const MonsterTable& monsters = world.monsters();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    frame.entities.push_back(true_entity(monsters.id[i], entity_kind(monsters.kind[i]), monsters.yaw[i],
                                         monsters.body[i].position_m));
  }
  std::ranges::sort(frame.entities, [](const TrueEntity& a, const TrueEntity& b) {
    return std::tie(a.cell, a.record.id) < std::tie(b.cell, b.record.id);
  });
  look_around(world, frame);
}

void Truth::note_command(std::uint32_t tick, EntityId id, const PlayerCommand& command) {
  TrueFrame& frame = ring_[tick % ticks_kept];
  const auto it = std::ranges::find(frame.players, id, &TruePlayer::id);
  if (it != frame.players.end()) it->command = command;
}

const TrueFrame* Truth::at(std::uint32_t tick) const {
  const TrueFrame& frame = ring_[tick % ticks_kept];
  return tick != 0 && frame.tick == tick ? &frame : nullptr;
}

void Truth::clear() {
  for (TrueFrame& frame : ring_) frame.tick = 0;
}

}  // namespace ashlar::simulation
