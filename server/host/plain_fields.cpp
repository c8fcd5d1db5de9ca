#include "server/host/plain_fields.h"

#include <algorithm>

#include "protocol/connection/connection.h"
#include "world/sim/game_replication.h"
#include "world/sim/match.h"
#include "world/sim/world.h"

namespace ashlar::server {

void PlainFields::add(const PrivateEntity& entity, FieldAudience to, const ReplicationRegistry& registry) {
  const ReplicatedKind* const kind = registry.find(entity.kind);
  if (kind == nullptr || !kind->has(to)) return;
  Entity known{entity.id, entity.kind, 0, 0, {}};
  for (std::size_t f = 0; f < kind->fields.size(); ++f) {
    if (kind->fields[f].to != to) continue;
    known.known = static_cast<std::uint8_t>(known.known | 1u << f);
    known.values[f] = entity.values[f];
  }
  if (to != FieldAudience::all) known.some = known.known;
  entities_.push_back(known);
}

/// Zeros are named only of what only some are told: so a client knows that it is one of them. Who would be
/// named nowhere is mentioned once.
void PlainFields::append(const Entity& entity) {
  const std::size_t before = list_.values.size();
  for (std::uint8_t f = 0; f < own_fields_max; ++f)
    if ((entity.some >> f & 1) != 0 || ((entity.known >> f & 1) != 0 && entity.values[f] != 0))
      list_.values.push_back({entity.id, entity.values[f], entity.kind, f});
  if (list_.values.size() == before) list_.values.push_back({entity.id, 0, entity.kind, 0});
}

void PlainFields::tell(const World& world, const PrivateFields& privates, std::span<const CellBlock> blocks,
                       Session& session, Micros now, DatagramBatch& out) {
  const GameReplication& told = world.replication();
  const ReplicationRegistry& registry = *told.registry();
  entities_.clear();
  if (registry.shares_fields())
    for (const CellBlock& block : blocks)
      for (const EntityRecord& e : block.entities)
        add({e.id, e.kind, told.values(e.id)}, FieldAudience::all, registry);
  groups_.clear();
  privates.find(session.player, world.match().players[slot_of(session.player)].team, groups_);
  for (const FieldGroup& group : groups_)
    for (const PrivateEntity& entity : privates.entities(group)) add(entity, group.to, registry);
  if (entities_.empty()) return;
  // What is told of one entity is one: its fields for all, its owner and its team.
  std::ranges::sort(entities_, {}, &Entity::id);  // those of one id in any order: they add up
  std::size_t kept = 0;
  for (std::size_t i = 1; i < entities_.size(); ++i) {
    if (entities_[i].id != entities_[kept].id) {
      entities_[++kept] = entities_[i];
      continue;
    }
    Entity& one = entities_[kept];
    one.known = static_cast<std::uint8_t>(one.known | entities_[i].known);
    one.some = static_cast<std::uint8_t>(one.some | entities_[i].some);
    for (std::size_t f = 0; f < own_fields_max; ++f) one.values[f] |= entities_[i].values[f];
  }
  entities_.resize(kept + 1);

  list_.tick = number(world.tick());
  list_.world = session.world;
  list_.values.clear();
  std::size_t sent = 0;
  const auto flush = [&] {
    if (!list_.values.empty() && sent < messages_max) {
      if (!session.connection->send_unreliable(now, writer_.write(list_), out)) sent = messages_max;
      ++sent;
    }
    list_.values.clear();
  };
  const std::size_t first = list_.tick % entities_.size();
  for (std::size_t n = 0; n < entities_.size() && sent < messages_max; ++n) {
    if (list_.values.size() + own_fields_max > field_list_max) flush();
    append(entities_[(first + n) % entities_.size()]);
  }
  flush();
}

}  // namespace ashlar::server
