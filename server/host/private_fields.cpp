#include "server/host/private_fields.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "world/math/assert.h"
#include "world/sim/game_replication.h"
#include "world/sim/match.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

auto group_place(FieldAudience to, std::uint32_t source, std::uint16_t number) {
  return std::tuple(to, source, number);
}
auto group_place(const FieldGroup& group) { return group_place(group.to, group.source, group.number); }

}  // namespace

void PrivateFields::add(FieldAudience to, std::uint32_t source, std::size_t number,
                        const PrivateEntity& entity) {
  ASHLAR_ASSERT(number < 0x8000);
  const ReplicatedKind& kind = *registry_->find(entity.kind);
  Entry entry{to, source, static_cast<std::uint16_t>(number), {entity.id, entity.kind, {}}};
  for (std::size_t f = 0; f < kind.fields.size(); ++f)
    if (kind.fields[f].to == to) entry.entity.values[f] = entity.values[f];
  entries_.push_back(entry);
}

void PrivateFields::gather(const World& world) {
  const GameReplication& told = world.replication();
  registry_ = told.registry();
  if (!registry_->has_private_fields()) return;
  entries_.clear();
  // Groups by rows: who comes or goes changes one of them.
  const PlayerTable& players = world.players();
  const ReplicatedKind* const kind = registry_->find(EntityKind::player);
  const bool owners = kind != nullptr && kind->has(FieldAudience::owner);
  const bool teams = kind != nullptr && kind->has(FieldAudience::team);
  for (std::size_t row = 0; row < players.rows(); ++row) {
    const EntityId id = players.id[row];
    if (id == EntityId{0}) continue;
    const PrivateEntity entity{id, EntityKind::player, told.values(id)};
    const std::uint8_t team = world.match().players[row].team;
    if (owners) add(FieldAudience::owner, static_cast<std::uint32_t>(id), 0, entity);
    if (teams && team != 0) add(FieldAudience::team, team, row / private_entities_max, entity);
  }
  const std::size_t player_groups = (players.rows() + private_entities_max - 1) / private_entities_max;
  const auto things = told.things();
  for (std::size_t row = 0; row < things.size(); ++row) {
    const OwnThing& thing = things[row];
    if (thing.id == EntityId{0}) continue;
    const ReplicatedKind& own = *registry_->find(thing.kind);
    const PrivateEntity entity{thing.id, thing.kind, told.values(thing.id)};
    const std::size_t number = row / private_entities_max;
    if (thing.owner != EntityId{0} && own.has(FieldAudience::owner))
      add(FieldAudience::owner, static_cast<std::uint32_t>(thing.owner), 1 + number, entity);
    if (thing.team != 0 && own.has(FieldAudience::team))
      add(FieldAudience::team, thing.team, player_groups + number, entity);
  }
  std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
    return std::tuple(group_place(a.to, a.source, a.number), a.entity.id) <
           std::tuple(group_place(b.to, b.source, b.number), b.entity.id);
  });
  form_groups(number(world.tick()));
}

void PrivateFields::form_groups(std::uint32_t tick) {
  std::swap(groups_, groups_before_);
  std::swap(entities_, entities_before_);
  groups_.clear();
  entities_.clear();
  auto before = groups_before_.begin();
  for (std::size_t i = 0; i < entries_.size();) {
    FieldGroup group{entries_[i].to,
                     entries_[i].source,
                     entries_[i].number,
                     tick,
                     static_cast<std::uint32_t>(entities_.size()),
                     0};
    for (; i < entries_.size() &&
           group_place(entries_[i].to, entries_[i].source, entries_[i].number) == group_place(group);
         ++i, ++group.count)
      entities_.push_back(entries_[i].entity);
    while (before != groups_before_.end() && group_place(*before) < group_place(group)) ++before;
    if (before != groups_before_.end() && group_place(*before) == group_place(group) &&
        std::ranges::equal(std::span(entities_before_).subspan(before->first, before->count),
                           entities(group)))
      group.changed = before->changed;
    groups_.push_back(group);
  }
}

void PrivateFields::find(FieldAudience to, std::uint32_t source, std::vector<FieldGroup>& out) const {
  const auto from = std::ranges::lower_bound(groups_, group_place(to, source, 0), {},
                                             [](const FieldGroup& group) { return group_place(group); });
  for (auto it = from; it != groups_.end() && it->to == to && it->source == source; ++it) out.push_back(*it);
}

void PrivateFields::find(EntityId player, std::uint8_t team, std::vector<FieldGroup>& out) const {
  if (!registry_->has_private_fields()) return;
  find(FieldAudience::owner, static_cast<std::uint32_t>(player), out);
  if (team != 0) find(FieldAudience::team, team, out);
}

}  // namespace ashlar::server
