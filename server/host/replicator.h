#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "server/host/mover_replication.h"
#include "server/host/placed_entity.h"
#include "world/collide/visibility_query.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// Everybody and everything of a tick that clients may be told of, quantised once for all.
/// The Host's thread. No allocation once the tables have their size.
class Replicator {
 public:
  /// Quantises the world's entities. Call once per published tick, after the step.
  void gather(const World& world);

  /// Everybody, as of the last gather(), in the order of the world's tables.
  std::span<const PlacedEntity> placed() const { return placed_; }
  /// What may be seen through of the world's maps, as of then.
  std::span<const OpenRooms> rooms() const { return rooms_; }

  /// The sectors' motions as of then.
  std::span<const MovingPlane> motions() const { return motions_; }

 private:
  void add(DVec3 position, DVec3 velocity, const Cylinder& shape, EntityRecord record);

  std::vector<PlacedEntity> placed_;
  std::vector<OpenRooms> rooms_;  // by map
  MoverReplication mover_replication_;
  std::span<const MovingPlane> motions_;
};

}  // namespace ashlar::server
