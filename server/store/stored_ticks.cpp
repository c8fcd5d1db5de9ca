#include "server/store/stored_ticks.h"

#include <algorithm>
#include <limits>

#include "world/math/assert.h"
#include "world/sim/arsenal.h"
#include "world/sim/rules.h"

namespace ashlar::server {
namespace {

/// Rounded down, at most life_ticks_max.
std::uint64_t ticks_at(std::uint64_t ticks, std::uint16_t from, std::uint16_t to) {
  // In two parts, so that nothing overflows.
  const std::uint64_t whole = ticks / from, rest = ticks % from * to / from;
  if (whole > life_ticks_max / to) return life_ticks_max;
  return std::min(whole * to + rest, life_ticks_max);
}

/// Rounded up, as far as the number goes: what is left of a wait.
template <class Number>
Number left_at(Number ticks, std::uint16_t from, std::uint16_t to) {
  const std::uint64_t least = ticks_at(ticks, from, to);
  const std::uint64_t up = ticks_at(least, to, from) < ticks ? least + 1 : least;
  return static_cast<Number>(std::min<std::uint64_t>(up, std::numeric_limits<Number>::max()));
}

}  // namespace

void convert_ticks(StoredTicks& ticks, std::uint16_t from, std::uint16_t to) {
  ASHLAR_ASSERT(from > 0);
  ASHLAR_ASSERT(to > 0);
  if (from == to) return;
  const std::uint64_t was = ticks.tick;
  ticks.tick = ticks_at(was, from, to);
  for (PlacedData& one : ticks.contents)
    if (const std::uint64_t due = one.data.due; due != 0)
      one.data.due = due > was ? ticks.tick + left_at(due - was, from, to)
                               : std::max<std::uint64_t>(1, std::min(ticks.tick, ticks_at(due, from, to)));
  for (LyingItem& item : ticks.items)
    item.age_ticks = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        ticks_at(item.age_ticks, from, to), std::numeric_limits<std::uint32_t>::max()));
  for (StoredPlayer& player : ticks.players) {
    Arsenal& arsenal = player.life.arsenal;
    for (std::uint16_t& left : arsenal.power_ticks)
      // One without an end stays so, and one with an end does not become that.
      if (left != power_endless)
        left = std::min(left_at(left, from, to), static_cast<std::uint16_t>(power_endless - 1));
    arsenal.wait_ticks = left_at(arsenal.wait_ticks, from, to);
  }
  if (ticks.state == nullptr) return;
  KeptState state = *ticks.state;
  for (KeptMonster& monster : state.monsters)
    monster.respawn_ticks = left_at(monster.respawn_ticks, from, to);
  for (KeptProjectile& projectile : state.projectiles)
    projectile.life_ticks = left_at(projectile.life_ticks, from, to);
  state.match.left_ticks = left_at(state.match.left_ticks, from, to);
  ticks.state = std::make_shared<const KeptState>(std::move(state));
}

}  // namespace ashlar::server
