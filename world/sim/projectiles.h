#pragma once
#include <cstdint>
#include <vector>

#include "world/math/hash.h"
#include "world/math/vec.h"
#include "world/sim/kinds.h"

namespace ashlar {

/// Room for projectiles in a world; what is launched beyond does not fly.
inline constexpr std::uint32_t projectiles_max = 1024;

/// Projectiles in flight, in rows as players are; row i has the slot players_max + monsters_max + i in its
/// id. Free rows have id 0. Nothing allocates after construction.
struct ProjectileTable {
  std::vector<EntityId> id;
  std::vector<std::uint32_t> generation;
  std::vector<std::uint8_t> kind;  ///< index into KindSet::projectiles
  std::vector<DVec3> position_m;   ///< centre of the base
  std::vector<DVec3> velocity_mps;
  std::vector<EntityId> owner;   ///< who launched it, whom it passes
  std::vector<EntityId> target;  ///< after whom it turns, if its kind does
  std::vector<std::uint16_t> life_ticks;
  std::vector<std::uint8_t> bounces_left;
  std::uint32_t first_slot = 0;
  std::uint32_t count = 0;  ///< in flight

  std::size_t rows() const { return id.size(); }
  void resize(std::size_t rows, std::uint32_t slot);
  /// Takes a free row and gives it an id; rows(): none is free.
  std::size_t take();
  void free(std::size_t row);
  void add_to_hash(StripeHasher& hash) const;

 private:
  std::size_t next_ = 0;  // where the search for a free row begins: below it none is
};

/// The way onward of what was going along `velocity` and turns towards `wanted`, by at most `turn_rad`, at
/// the same speed. Both may be zero: then nothing turns.
DVec3 turned_towards(DVec3 velocity, DVec3 wanted, double turn_rad);

}  // namespace ashlar
