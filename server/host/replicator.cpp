#include "server/host/replicator.h"

#include "world/sim/dropped_items.h"
#include "world/sim/game_replication.h"
#include "world/sim/health.h"
#include "world/sim/pickups.h"
#include "world/sim/projectiles.h"

namespace ashlar::server {
namespace {

EntityRecord record_of(EntityId id, EntityKind kind, Turn16 yaw, Turn16 pitch, const Body& body,
                       std::uint8_t health) {
  EntityRecord r;
  r.id = id;
  r.kind = kind;
  r.yaw = quantise_turn(yaw);
  r.pitch = quantise_pitch(pitch);
  r.health = health;
  r.flags = static_cast<std::uint8_t>((body.grounded != 0 ? entity_flag::grounded : 0) |
                                      (health == 0 ? entity_flag::dead : 0) |
                                      (body.stuck_ticks != 0 ? entity_flag::recovering : 0));
  return r;
}

/// It looks where it flies.
EntityRecord record_of(const ProjectileTable& flying, std::size_t row) {
  EntityRecord r;
  r.id = flying.id[row];
  r.kind = projectile_entity_kind(flying.kind[row]);
  r.yaw = quantise_turn(turn_towards(xy(flying.velocity_mps[row])));
  r.health = 255;
  return r;
}

EntityRecord record_of(const ItemTable& items, std::size_t row) {
  static_assert(stack_items_max <= UINT8_MAX && block_kinds_max <= UINT8_MAX + 1);
  EntityRecord r;
  r.id = items.id[row];
  r.kind = EntityKind::item;
  r.state = static_cast<std::uint8_t>(items.stack[row].kind);
  r.health = static_cast<std::uint8_t>(items.stack[row].count);
  r.flags = items.rests[row] != 0 ? entity_flag::grounded : std::uint8_t{0};
  return r;
}

}  // namespace

void Replicator::add(DVec3 position, DVec3 velocity, const Cylinder& shape, EntityRecord record) {
  const QuantisedPosition q = quantise(position);
  record.x = q.x, record.y = q.y, record.z = q.z;
  placed_.push_back({q.cell, record, position, velocity, shape});
}

void Replicator::gather(const World& world) {
  placed_.clear();
  const PlayerTable& players = world.players();
  for (std::size_t i = 0; i < players.rows(); ++i) {
    if (players.id[i] == EntityId{0} || players.spectates(i)) continue;
    add(players.body[i].position_m, players.body[i].velocity_mps, world.setup().rules.player,
        record_of(players.id[i], EntityKind::player, players.yaw[i], players.pitch[i], players.body[i],
                  health_share(players.health[i], world.setup().rules.player_health)));
  }
  const MonsterTable& monsters = world.monsters();
  for (std::size_t i = 0; i < monsters.rows(); ++i) {
    if (monsters.id[i] == EntityId{0}) continue;
    EntityRecord r =
        record_of(monsters.id[i], entity_kind(monsters.kind[i]), monsters.yaw[i], Turn16{0}, monsters.body[i],
                  health_share(monsters.health[i], monsters.traits_at(i).health));
    r.state = static_cast<std::uint8_t>(monsters.mood[i]);
    const Body& body = monsters.body[i];
    add(body.position_m, body.velocity_mps, monsters.traits_at(i).shape, r);
  }
  const ProjectileTable& flying = world.projectiles();
  for (std::size_t i = 0; flying.count > 0 && i < flying.rows(); ++i) {
    if (flying.id[i] == EntityId{0}) continue;
    add(flying.position_m[i], flying.velocity_mps[i], monsters.projectile_traits(flying.kind[i]).shape,
        record_of(flying, i));
  }
  const ItemTable& items = world.items().table();
  for (std::size_t i = 0; items.count > 0 && i < items.rows(); ++i)
    if (items.id[i] != EntityId{0})
      add(items.position_m[i], items.velocity_mps[i], DroppedItems::shape, record_of(items, i));
  const PickupTable& pickups = world.pickups().table();
  for (std::size_t i = 0; world.pickups().lying() > 0 && i < pickups.rows(); ++i) {
    if (pickups.id[i] == EntityId{0}) continue;
    EntityRecord r;
    r.id = pickups.id[i];
    r.kind = item_entity_kind(pickups.item[i]);
    r.health = 255;
    add(pickups.position_m[i], {}, item_shape, r);
  }

  for (const OwnThing& thing : world.replication().things()) {
    if (thing.id == EntityId{0}) continue;
    EntityRecord r;
    r.id = thing.id;
    r.kind = thing.kind;
    r.yaw = quantise_turn(thing.yaw);
    r.state = thing.state;
    r.health = 255;
    add(thing.position_m, thing.velocity_mps, own_thing_shape, r);
  }

  const std::span<const MapInSpace> maps = world.maps();
  rooms_.resize(maps.size());
  for (std::size_t i = 0; i < maps.size(); ++i) rooms_[i].update(*maps[i].map, maps[i].heights);
  motions_ = mover_replication_.gather(world);
}

}  // namespace ashlar::server
