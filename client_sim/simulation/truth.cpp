#include "client_sim/simulation/truth.h"

#include <algorithm>
#include <tuple>

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

}  // namespace

std::span<const TrueEntity> TrueFrame::cell(CellCoord at) const {
  const auto range = std::ranges::equal_range(entities, at, {}, &TrueEntity::cell);
  return {range.begin(), range.end()};
}

const TruePlayer* TrueFrame::player(EntityId id) const {
  const auto it = std::ranges::find(players, id, &TruePlayer::id);
  return it == players.end() ? nullptr : &*it;
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
