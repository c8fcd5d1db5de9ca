// What a game tells clients of beside what every world tells.

#include "world/sim/game.h"
#include "world/sim/game_replication.h"

namespace ashlar {

std::optional<EntityKind> GameApi::kind_of(EntityId who) const {
  if (p_.players.has(who)) return EntityKind::player;
  if (const OwnThing* thing = p_.replication.find(who)) return thing->kind;
  const auto row = monster_row(who);
  return row ? std::optional(entity_kind(p_.monsters.kind[*row])) : std::nullopt;
}

EntityId GameApi::add_thing(EntityKind kind, DVec3 position_m, EntityId owner, std::uint8_t team) {
  if (!in_bounds(position_m) || team > teams_max) return EntityId{0};
  OwnThing thing;
  thing.kind = kind;
  thing.position_m = position_m;
  thing.owner = owner;
  thing.team = team;
  return p_.replication.add(thing);
}

const OwnThing* GameApi::thing(EntityId id) const { return p_.replication.find(id); }

bool GameApi::move_thing(EntityId id, DVec3 position_m, DVec3 velocity_mps, Turn16 yaw) {
  OwnThing* const thing = p_.replication.find(id);
  if (thing == nullptr || !in_bounds(position_m) || !is_finite(velocity_mps)) return false;
  thing->position_m = position_m;
  thing->velocity_mps = velocity_mps;
  thing->yaw = yaw;
  return true;
}

bool GameApi::give_thing(EntityId id, EntityId owner, std::uint8_t team) {
  OwnThing* const thing = p_.replication.find(id);
  if (thing == nullptr || team > teams_max) return false;
  thing->owner = owner;
  thing->team = team;
  return true;
}

bool GameApi::remove_thing(EntityId id) { return p_.replication.remove(id); }

bool GameApi::set_field(EntityId who, std::size_t field, double value) {
  const auto kind = kind_of(who);
  const ReplicatedKind* const declared = kind ? p_.replication.registry()->find(*kind) : nullptr;
  if (declared == nullptr || field >= declared->fields.size()) return false;
  return p_.replication.set(who, *kind, field, declared->fields[field].steps_of(value));
}

std::optional<double> GameApi::field(EntityId who, std::size_t field) const {
  const auto kind = kind_of(who);
  const ReplicatedKind* const declared = kind ? p_.replication.registry()->find(*kind) : nullptr;
  if (declared == nullptr || field >= declared->fields.size()) return std::nullopt;
  return declared->fields[field].value_of(p_.replication.values(who)[field]);
}

bool GameApi::send_to_all(std::size_t message, std::span<const std::uint8_t> bytes) {
  return message < game_messages_max &&
         p_.replication.send({.number = static_cast<std::uint8_t>(message), .to = MessageTo::all}, bytes);
}

bool GameApi::send_to_team(std::uint8_t team, std::size_t message, std::span<const std::uint8_t> bytes) {
  if (message >= game_messages_max || team < 1 || team > teams_max) return false;
  return p_.replication.send(
      {.number = static_cast<std::uint8_t>(message), .to = MessageTo::team, .target = team}, bytes);
}

bool GameApi::send_to(EntityId player, std::size_t message, std::span<const std::uint8_t> bytes) {
  if (message >= game_messages_max || !p_.players.has(player)) return false;
  return p_.replication.send({.number = static_cast<std::uint8_t>(message),
                              .to = MessageTo::one,
                              .target = static_cast<std::uint32_t>(player)},
                             bytes);
}

bool GameApi::tell(EntityId player, std::string_view line) {
  if (!p_.players.has(player)) return false;
  return p_.replication.tell({.to = MessageTo::one, .target = static_cast<std::uint32_t>(player)}, line);
}

bool GameApi::tell_all(std::string_view line) { return p_.replication.tell({}, line); }

}  // namespace ashlar
