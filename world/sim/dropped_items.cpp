#include "world/sim/dropped_items.h"

#include <algorithm>
#include <limits>

#include "world/collide/recover.h"
#include "world/math/assert.h"

namespace ashlar {
namespace {

/// Rows that rest are looked at once in so many ticks: the ground may have gone, or come over them.
constexpr std::uint32_t item_rest_ticks = 16;
constexpr std::uint32_t item_touch_ticks = 4;
constexpr double fall_test_m = 0.02;
constexpr double floor_normal_z_min = 0.7;

std::uint16_t reduced(std::uint16_t count, std::uint16_t by) {
  return static_cast<std::uint16_t>(count - by);
}

}  // namespace

void DroppedItems::lay_onto_neighbour(ItemStack& stack, DVec3 at, std::uint16_t untouched_ticks) {
  for (std::size_t i = 0; table_.count > 0 && i < table_.rows() && !stack.empty(); ++i) {
    if (table_.id[i] == EntityId{0} || table_.stack[i].kind != stack.kind) continue;
    const DVec3 off = table_.position_m[i] - at;
    const auto room = reduced(stack_items_max, table_.stack[i].count);
    if (room == 0 || dot(off, off) > merge_m * merge_m) continue;
    const std::uint16_t moved = std::min(room, stack.count);
    table_.stack[i].count = static_cast<std::uint16_t>(table_.stack[i].count + moved);
    table_.age_ticks[i] = 0;
    table_.untouched_ticks[i] = std::max(table_.untouched_ticks[i], untouched_ticks);
    stack.count = reduced(stack.count, moved);
  }
}

std::size_t DroppedItems::oldest() const {
  std::size_t found = table_.rows();
  for (std::size_t i = 0; i < table_.rows(); ++i)
    if (table_.id[i] != EntityId{0} &&
        (found == table_.rows() || table_.age_ticks[i] > table_.age_ticks[found]))
      found = i;
  return found;
}

void DroppedItems::drop(ItemStack stack, DVec3 at, DVec3 velocity_mps, std::uint16_t untouched_ticks) {
  if (stack.empty()) return;
  ASHLAR_ASSERT(stack.kind != BlockId::air && stack.count <= stack_items_max);
  at.z = std::min(at.z, world_height_m - 1);  // out of a body at the world's top
  ASHLAR_ASSERT(in_bounds(at));
  ++revision_;
  lay_onto_neighbour(stack, at, untouched_ticks);
  if (stack.empty()) return;
  std::size_t row = table_.take();
  if (row == table_.rows()) {
    row = oldest();
    counters_.gone += table_.stack[row].count;
    table_.free(row);
    row = table_.take();
  }
  table_.stack[row] = stack;
  table_.position_m[row] = table_.last_free_m[row] = at;
  table_.velocity_mps[row] = velocity_mps;
  table_.age_ticks[row] = 0;
  table_.untouched_ticks[row] = untouched_ticks;
  table_.rests[row] = 0;
}

void DroppedItems::restore(std::span<const LyingItem> items) {
  for (const LyingItem& item : items) {
    const std::size_t row = table_.take();
    if (row == table_.rows()) return;
    ASHLAR_ASSERT(in_bounds(item.position_m) && !item.stack.empty());
    table_.stack[row] = item.stack;
    table_.position_m[row] = table_.last_free_m[row] = item.position_m;
    table_.age_ticks[row] = item.age_ticks;
    table_.rests[row] = 1;
    counters_.brought += item.stack.count;
  }
}

/// Where the ground came over it. Who is let out nowhere is asked again.
void DroppedItems::push_out(const DroppedItemsTick& tick, std::size_t row) {
  const auto out = recovery_target(tick.space, shape, table_.position_m[row], table_.last_free_m[row]);
  if (!out || !in_bounds(*out)) return come_to_rest(row);
  table_.position_m[row] = table_.last_free_m[row] = *out;
  table_.velocity_mps[row] = {};
  table_.rests[row] = 0;
  ++revision_;
}

void DroppedItems::move(const DroppedItemsTick& tick, std::size_t row) {
  DVec3& at = table_.position_m[row];
  if (space_unloaded(tick.space, shape, at)) return;
  if (table_.rests[row] != 0) {
    if ((tick.tick + row) % item_rest_ticks != 0) return;
    const SweepHit below = space_sweep(tick.space, shape, at, {0, 0, -fall_test_m});
    if (below.started_inside) return push_out(tick, row);
    if (below.hit()) return;
    table_.rests[row] = 0;
  }
  const double dt_s = tick.rules.tick_s();
  DVec3& v = table_.velocity_mps[row];
  v.z = std::max(v.z - tick.rules.gravity_mps2 * dt_s, -tick.rules.fall_speed_mps_max);
  const DVec3 way = v * dt_s;
  if (!in_bounds(at + way)) return come_to_rest(row);
  const SweepHit hit = space_sweep(tick.space, shape, at, way);
  if (hit.started_inside) return push_out(tick, row);
  at = at + way * hit.t;
  table_.last_free_m[row] = at;
  if (!hit.hit()) return;
  if (hit.normal.z >= floor_normal_z_min || hit.kind == ContactKind::unloaded) return come_to_rest(row);
  // Off a ceiling it falls, at a wall it falls along it.
  if (hit.normal.z < -floor_normal_z_min)
    v.z = std::min(v.z, 0.0);
  else
    v.x = v.y = 0;
}

void DroppedItems::give_to_toucher(const DroppedItemsTick& tick, std::size_t row) {
  if (table_.untouched_ticks[row] > 0 || (tick.tick + row) % item_touch_ticks != 0) return;
  const DVec3 at = table_.position_m[row];
  const PlayerTable& players = tick.players;
  // The nearest first, of those equally near the one whose row is lower, whatever the grid's order.
  for (std::uint16_t turns = 0; turns < inventory_slots; ++turns) {
    std::size_t found = players.rows();
    double found2 = std::numeric_limits<double>::infinity();
    tick.near.visit_near(xy(at), 2 * touch_m, [&](std::uint32_t player, DVec3) {
      if (!players.takes_part(player)) return;
      const DVec3 off = at - players.body[player].position_m;
      const double flat2 = off.x * off.x + off.y * off.y;
      if (flat2 > touch_m * touch_m || off.z < -touch_m || off.z > tick.rules.player.height_m) return;
      if (flat2 > found2 || (flat2 == found2 && player > found)) return;
      Inventory room = players.inventory[player];
      if (room.add({table_.stack[row].kind, 1}) != 0) return;
      found = player, found2 = flat2;
    });
    if (found == players.rows()) return;
    const std::uint16_t left = tick.players.inventory[found].add(table_.stack[row]);
    counters_.picked_up += reduced(table_.stack[row].count, left);
    table_.stack[row].count = left;
    ++revision_;
    if (left == 0) return table_.free(row);
  }
}

void DroppedItems::step(const DroppedItemsTick& tick) {
  if (table_.count == 0) return;
  const std::uint64_t life_ticks = std::uint64_t{tick.rules.item_life_s} * tick.rules.tick_rate_hz;
  for (std::size_t i = 0; i < table_.rows(); ++i) {
    if (table_.id[i] == EntityId{0}) continue;
    if (table_.age_ticks[i] < UINT32_MAX) ++table_.age_ticks[i];
    if (life_ticks > 0 && table_.age_ticks[i] > life_ticks) {
      counters_.gone += table_.stack[i].count;
      ++revision_;
      table_.free(i);
      continue;
    }
    if (table_.untouched_ticks[i] > 0) --table_.untouched_ticks[i];
    move(tick, i);
    give_to_toucher(tick, i);
  }
}

}  // namespace ashlar
