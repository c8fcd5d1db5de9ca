#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "protocol/snapshot/block_delta.h"
#include "protocol/snapshot/heading.h"
#include "world/math/random.h"

namespace ashlar::test {

/// As players move: on a course off where it looks, on the ground or since some ticks of a jump.
inline void run(Rng& rng, MovingRecord& e) {
  const LevelVelocity on = on_course(usual_pace_steps, e.record.yaw, rng.below(8));
  const bool jumps = rng.below(3) == 0;
  const auto up = static_cast<std::int16_t>(112 - static_cast<int>(rng.below(40)) * 16 / 3);
  e.velocity = {on[0], on[1], jumps ? up : std::int16_t{0}};
  e.record.flags = jumps ? std::uint8_t{0} : entity_flag::grounded;
}

inline MovingRecord some_moving(Rng& rng, std::uint32_t slot) {
  MovingRecord e;
  EntityRecord& r = e.record;
  r.id = make_entity_id(slot, 1 + rng.below(4095));
  r.x = static_cast<std::uint16_t>(rng.below(cell_steps));
  r.y = static_cast<std::uint16_t>(rng.below(cell_steps));
  r.z = static_cast<std::uint16_t>(rng.below(cell_steps));
  r.kind = static_cast<EntityKind>(rng.below(256));
  r.yaw = static_cast<std::uint8_t>(rng.next_u32());
  r.pitch = static_cast<std::int8_t>(static_cast<int>(rng.below(129)) - 64);
  r.health = static_cast<std::uint8_t>(rng.next_u32());
  r.state = static_cast<std::uint8_t>(rng.next_u32());
  r.flags = static_cast<std::uint8_t>(rng.next_u32());
  for (std::int16_t& v : e.velocity) v = static_cast<std::int16_t>(rng.next_u32());
  if (rng.below(3) == 0) run(rng, e);
  return e;
}

/// As a tick or many might leave it, from hardly to wholly changed.
inline MovingRecord changed(Rng& rng, MovingRecord e, std::uint32_t age, std::uint32_t rate_hz) {
  EntityRecord& r = e.record;
  if (rng.below(4) == 0) return e;
  const auto moved = [&](std::uint16_t place, std::int16_t velocity) {
    const int spread = 1 << rng.below(14);
    const int to = foretold_place(place, velocity, age, rate_hz) - spread / 2 +
                   static_cast<int>(rng.below(static_cast<std::uint32_t>(spread)));
    return static_cast<std::uint16_t>(std::clamp(to, 0, cell_steps - 1));
  };
  r.x = moved(r.x, e.velocity[0]), r.y = moved(r.y, e.velocity[1]), r.z = moved(r.z, e.velocity[2]);
  if (rng.below(3) == 0) r.yaw = static_cast<std::uint8_t>(r.yaw + rng.below(1u << rng.below(9)));
  if (rng.below(8) == 0) r.health = static_cast<std::uint8_t>(rng.next_u32());
  if (rng.below(8) == 0) r.pitch = static_cast<std::int8_t>(static_cast<int>(rng.below(129)) - 64);
  if (rng.below(8) == 0) r.flags = static_cast<std::uint8_t>(rng.next_u32());
  if (rng.below(9) == 0) r.state = static_cast<std::uint8_t>(rng.next_u32());
  if (rng.below(20) == 0) r.kind = static_cast<EntityKind>(rng.below(256));
  if (rng.below(3) == 0)
    for (std::int16_t& v : e.velocity)
      v = static_cast<std::int16_t>(v + static_cast<int>(rng.below(1u << rng.below(16))));
  if (rng.below(3) == 0) run(rng, e);
  return e;
}

inline void sort_by_id(std::vector<MovingRecord>& list) {
  std::ranges::sort(list, {}, [](const MovingRecord& e) { return e.record.id; });
}

}  // namespace ashlar::test
