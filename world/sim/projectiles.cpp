#include "world/sim/projectiles.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"

namespace ashlar {

void ProjectileTable::resize(std::size_t rows, std::uint32_t slot) {
  ASHLAR_ASSERT(id.empty());
  ASHLAR_ASSERT(slot + rows < (1u << entity_slot_bits));
  first_slot = slot;
  id.resize(rows), generation.resize(rows), kind.resize(rows), position_m.resize(rows);
  velocity_mps.resize(rows), owner.resize(rows), target.resize(rows), life_ticks.resize(rows);
  bounces_left.resize(rows);
}

std::size_t ProjectileTable::take() {
  while (next_ < rows() && id[next_] != EntityId{0}) ++next_;
  if (next_ == rows()) return rows();
  const std::size_t row = next_++;
  generation[row] = next_generation(generation[row]);
  id[row] = make_entity_id(first_slot + static_cast<std::uint32_t>(row), generation[row]);
  ++count;
  return row;
}

void ProjectileTable::free(std::size_t row) {
  ASHLAR_ASSERT(id[row] != EntityId{0} && count > 0);
  id[row] = EntityId{0};
  next_ = std::min(next_, row);
  --count;
}

void ProjectileTable::add_to_hash(StripeHasher& hash) const {
  hash.add(static_cast<std::uint64_t>(count));
  hash.add_list(generation);
  if (count == 0) return;
  for (std::size_t i = 0; i < rows(); ++i) {
    if (id[i] == EntityId{0}) continue;
    hash.add(static_cast<std::uint64_t>(id[i]) << 32 | static_cast<std::uint64_t>(owner[i]));
    hash.add(position_m[i]), hash.add(velocity_mps[i]);
    hash.add(static_cast<std::uint64_t>(target[i]) << 32 | static_cast<std::uint64_t>(life_ticks[i]) << 16 |
             static_cast<std::uint64_t>(kind[i]) << 8 | static_cast<std::uint64_t>(bounces_left[i]));
  }
}

DVec3 turned_towards(DVec3 velocity, DVec3 wanted, double turn_rad) {
  const double speed = length(velocity), far = length(wanted);
  if (!(speed > 0) || !(far > 0)) return velocity;
  // Towards the wanted way by a chord of at most turn_rad on the unit ball, then out to its surface.
  const DVec3 from = velocity * (1 / speed), to = wanted * (1 / far);
  const DVec3 chord = to - from;
  const double gap = length(chord);
  const DVec3 on = gap <= turn_rad ? to : from + chord * (turn_rad / gap);
  const double size = length(on);
  return size > 0 ? on * (speed / size) : velocity;
}

}  // namespace ashlar
