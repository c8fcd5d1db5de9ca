#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "world/nav/block_ground.h"
#include "world/nav/map_rock.h"
#include "world/sim/tables.h"

namespace ashlar {

/// A placed map as ways over the ground see it.
struct MapGround {
  MapRock rock;
  DVec3 stairs_top_m{};  ///< where stairs lead up to the roof
};

/// In place of a player: the stairs of a map, by its number. No entity has such an id.
constexpr EntityId stairs_of(std::size_t map) {
  return make_entity_id((1u << entity_slot_bits) - 1, static_cast<std::uint32_t>(map) + 1);
}
constexpr bool is_stairs(EntityId id) { return slot_of(id) == (1u << entity_slot_bits) - 1; }

/// By what ways to somebody for a kind of walker are found, and hashed.
constexpr std::uint64_t hunt_key(EntityId to, BlockWalker walker) {
  return static_cast<std::uint64_t>(to) << 32 | walker.bits();
}

/// Where ways over the ground lead to: players, and stairs of maps.
class HuntEnds {
 public:
  explicit HuntEnds(std::vector<MapGround> maps = {}) : maps_(std::move(maps)) {}
  bool there(const PlayerTable& players, EntityId who) const {
    return is_stairs(who) ? generation_of(who) <= maps_.size() : players.has(who);
  }
  /// Precondition: there().
  DVec3 place_m(const PlayerTable& players, EntityId who) const {
    return is_stairs(who) ? maps_[generation_of(who) - 1].stairs_top_m
                          : players.body[slot_of(who)].position_m;
  }
  /// What maps fill.
  std::vector<MapRock> rock() const {
    std::vector<MapRock> out;
    out.reserve(maps_.size());
    for (const MapGround& map : maps_) out.push_back(map.rock);
    return out;
  }

 private:
  std::vector<MapGround> maps_;
};

}  // namespace ashlar
