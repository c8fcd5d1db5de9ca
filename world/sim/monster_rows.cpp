#include "world/sim/monster_rows.h"

#include "world/math/assert.h"
#include "world/math/hash.h"
#include "world/sim/body_hash.h"
#include "world/sim/monster_think.h"

namespace ashlar {

void enter_monster_at(MonsterTable& m, std::size_t row, const MonsterSpawn& spawn, std::uint64_t seed,
                      std::uint32_t first_slot) {
  ASHLAR_ASSERT(m.id[row] == EntityId{0});
  ASHLAR_ASSERT(in_bounds(spawn.at.position_m));
  m.generation[row] = next_generation(m.generation[row]);
  m.id[row] = make_entity_id(first_slot + static_cast<std::uint32_t>(row), m.generation[row]);
  m.kind[row] = spawn.kind;
  m.body[row] = Body{};
  m.body[row].position_m = m.body[row].last_free_m = spawn.at.position_m;
  m.yaw[row] = spawn.at.yaw;
  m.mood[row] = spawn.asleep ? MonsterMood::asleep : MonsterMood::wander;
  m.target[row] = EntityId{0};
  m.goal_m[row] = spawn.at.position_m;
  m.turn_ticks[row] = m.forget_ticks[row] = 0;
  m.health[row] = m.traits_of(spawn.kind).health;
  ASHLAR_ASSERT(m.health[row] > 0);
  m.deaf[row] = spawn.deaf ? 1 : 0;
  m.action[row] = MonsterAction::none;
  m.action_ticks[row] = m.check_ticks[row] = m.grudge_ticks[row] = 0;
  m.burst_left[row] = m.ranged[row] = m.sees[row] = m.dozes[row] = m.held_ticks[row] = 0;
  m.course_ticks[row] = 0;
  m.home_m[row] = spawn.at.position_m;
  m.home_yaw[row] = spawn.at.yaw;
  m.respawn_ticks[row] = 0;
  m.of_game[row] = 0;
  m.rng[row] = rng_for(seed, 2, static_cast<std::uint64_t>(m.id[row]));
}

std::size_t enter_monster(MonsterTable& m, const MonsterSpawn& spawn, std::uint64_t seed,
                          std::uint32_t first_slot) {
  for (std::size_t i = 0; i < m.rows(); ++i) {
    if (m.id[i] != EntityId{0} || m.respawn_ticks[i] != 0) continue;
    enter_monster_at(m, i, spawn, seed, first_slot);
    return i;
  }
  return m.rows();
}

void end_monster(MonsterTable& m, std::size_t row, const Rules& rules) {
  m.id[row] = EntityId{0};
  m.respawn_ticks[row] = static_cast<std::uint32_t>(rules.monster_respawn_s) * rules.tick_rate_hz;
}

void remove_monster_at(MonsterTable& m, std::size_t row) {
  ASHLAR_ASSERT(m.id[row] != EntityId{0});
  m.id[row] = EntityId{0};
  m.respawn_ticks[row] = 0;
  m.health[row] = 0;  // for whoever is at hurting it
}

void put_monster(MonsterTable& m, std::size_t row, const SpawnPoint& to) {
  ASHLAR_ASSERT(m.id[row] != EntityId{0});
  ASHLAR_ASSERT(in_bounds(to.position_m));
  m.body[row] = Body{};
  m.body[row].position_m = m.body[row].last_free_m = to.position_m;
  m.yaw[row] = to.yaw;
  m.action[row] = MonsterAction::none;
  m.action_ticks[row] = m.turn_ticks[row] = 0;
  m.burst_left[row] = m.sees[row] = m.dozes[row] = m.held_ticks[row] = m.course_ticks[row] = 0;
}

bool monster_rests(const MonsterTable& m, std::size_t row) {
  if (m.dozes[row] == 0 && m.mood[row] != MonsterMood::asleep) return false;
  const Body& body = m.body[row];
  return m.action[row] == MonsterAction::none && body.stuck_ticks == 0 && body.velocity_mps == DVec3{} &&
         (body.grounded != 0 || m.traits_at(row).flies != 0);
}

bool monster_stands(const MonsterTable& m, std::size_t row, const MonsterWish& wish) {
  const Body& body = m.body[row];
  const bool wants = wish.direction == DVec2{} && wish.climb <= 0;
  return wants && body.stuck_ticks == 0 && body.velocity_mps == DVec3{} && body.grounded != 0 &&
         m.traits_at(row).flies == 0;
}

std::uint64_t hash_of(const MonsterTable& m) {
  const auto word = [](auto v) { return static_cast<std::uint64_t>(v); };
  StripeHasher h;
  for (std::size_t i = 0; i < m.rows(); ++i) {
    if (m.id[i] == EntityId{0}) {
      if (m.respawn_ticks[i] != 0)
        h.add(word(m.respawn_ticks[i]) << 32 | word(m.kind[i])), h.add(m.home_m[i]),
            h.add(word(m.home_yaw[i]));
      continue;
    }
    add_to_hash(h, m.body[i]);
    h.add(word(m.id[i]) << 32 | word(m.target[i]));
    h.add(m.goal_m[i]), h.add(m.rng[i].state);
    h.add(word(m.kind[i]) | word(m.mood[i]) << 8 | word(m.yaw[i]) << 16 | word(m.turn_ticks[i]) << 32 |
          word(m.forget_ticks[i]) << 48);
    h.add(word(m.health[i]) | word(m.deaf[i]) << 16 | word(m.action[i]) << 24 |
          word(m.action_ticks[i]) << 32 | word(m.check_ticks[i]) << 48);
    h.add(word(m.burst_left[i]) | word(m.ranged[i]) << 8 | word(m.sees[i]) << 16 | word(m.dozes[i]) << 24 |
          word(m.grudge_ticks[i]) << 32 | word(m.home_yaw[i]) << 48);
    h.add(m.home_m[i]), h.add(word(m.held_ticks[i]) | word(m.course_ticks[i]) << 8);
  }
  h.add_list(m.generation);
  return h.value();
}

}  // namespace ashlar
