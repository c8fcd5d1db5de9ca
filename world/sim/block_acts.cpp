#include "world/sim/block_acts.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"
#include "world/sim/block_sight.h"

namespace ashlar {
namespace {

DVec3 eye_of(const Rules& rules, const PlayerTable& players, std::size_t row) {
  return players.body[row].position_m + DVec3{0, 0, rules.player_eye_m};
}

DVec3 view_of(const PlayerTable& players, std::size_t row) {
  return view_direction(players.yaw[row], players.pitch[row]);
}

bool block_in_bounds(IVec3 block) { return in_bounds(block_middle(block)); }

}  // namespace

std::uint16_t BlockActs::wait_after_change(const Rules& rules) {
  constexpr double rounding = 1e-9;  // 0.2 s at 60 Hz are 12 ticks, not 13
  const double ticks = std::ceil(rules.block_interval_s * rules.tick_rate_hz - rounding);
  ASHLAR_ASSERT(ticks < 65536);
  return static_cast<std::uint16_t>(std::max(1.0, ticks));
}

BlockActs::BlockActs(std::size_t players_max, std::size_t monsters_max)
    : wait_ticks_(players_max, 0),
      last_number_(players_max, 0),
      opened_(players_max),
      heard_(players_max, 0),
      bodies_(players_max + monsters_max) {
  // Every act may end a digging before it is answered itself, and what is left may end by itself.
  verdicts_.reserve(players_max * (2 * acts_per_tick_max + 1));
}

void BlockActs::player_joined(std::size_t row) {
  wait_ticks_[row] = 0;
  last_number_[row] = 0;
  opened_[row] = {};
}

void BlockActs::restore_player(std::size_t row, const PlayerState& state) {
  wait_ticks_[row] = state.wait_ticks;
  last_number_[row] = state.last_number;
  opened_[row] = state.opened;
}

void BlockActs::answer(EntityId player, std::uint32_t number, ActVerdict verdict, IVec3 block) {
  ASHLAR_ASSERT(verdicts_.size() < verdicts_.capacity());
  if (refused(verdict)) ++counters_.refused;
  verdicts_.push_back({player, number, verdict, block});
}

void BlockActs::end_digging(PlayerTable& players, std::size_t row, ActVerdict verdict) {
  Digging& digging = players.digging[row];
  if (!digging.active()) return;
  answer(players.id[row], digging.number, verdict, digging.block);
  digging = Digging{};
}

void BlockActs::judge(BlockActsTick& tick, std::span<const BlockAct> acts) {
  ASHLAR_ASSERT(tick.players.rows() == wait_ticks_.size());
  rest();
  bodies_known_ = false;
  std::ranges::fill(heard_, std::uint8_t{0});
  for (std::uint16_t& wait : wait_ticks_) wait = static_cast<std::uint16_t>(wait - (wait > 0 ? 1 : 0));
  close_chests(tick);
  // Digging goes on before a new act: what began in this tick has not lasted one yet.
  for (std::size_t row = 0; row < tick.players.rows(); ++row) {
    const Digging& digging = tick.players.digging[row];
    if (!digging.active()) continue;
    const ActVerdict verdict = dig_on(tick, row);
    if (verdict != ActVerdict::progress) end_digging(tick.players, row, verdict);
  }
  for (const BlockAct& act : acts) {
    if (!tick.players.has(act.player)) continue;
    const std::size_t row = slot_of(act.player);
    if (heard_[row] == acts_per_tick_max) {
      ++counters_.unheard;
      continue;
    }
    ++heard_[row];
    const Judged judged = judge_one(tick, row, act);
    answer(act.player, act.number, judged.verdict, judged.block);
  }
}

BlockActs::Judged BlockActs::judge_one(BlockActsTick& tick, std::size_t row, const BlockAct& act) {
  if (act.number <= last_number_[row]) return {ActVerdict::stale_number, act.block};
  last_number_[row] = act.number;
  end_digging(tick.players, row, ActVerdict::stopped);
  if (act.kind == BlockActKind::stop) return {ActVerdict::done, act.block};
  if (!tick.players.takes_part(row)) return {ActVerdict::dead, act.block};
  if (act.kind == BlockActKind::drop) return {judge_drop(tick, row, act), act.block};
  if (!block_in_bounds(act.block)) return {ActVerdict::out_of_bounds, act.block};
  if (act.kind == BlockActKind::dig) return {judge_dig(tick, row, act), act.block};
  if (act.kind >= BlockActKind::open) return {judge_data(tick, row, act), act.block};
  const IVec3 target = act.block + normal_of(act.face);
  return {judge_place(tick, row, act, target), target};
}

// What may be known of ground out of sight is nothing: whoever cannot see the face is told that, whether
// there is a block or not.

ActVerdict BlockActs::judge_dig(BlockActsTick& tick, std::size_t row, const BlockAct& act) {
  if (wait_ticks_[row] > 0) return ActVerdict::cooling_down;
  const DVec3 eye = eye_of(tick.rules, tick.players, row), view = view_of(tick.players, row);
  if (distance_to_block_m(eye, act.block) > tick.rules.block_reach_m) return ActVerdict::out_of_reach;
  if (!tick.volume.loaded(chunk_of(act.block))) return ActVerdict::not_loaded;
  if (protected_by_map(tick.space.maps, tick.rules.map_margin_m, act.block))
    return ActVerdict::protected_ground;
  if (tick.edits.in_zone(act.block)) return ActVerdict::protected_zone;
  if (!sees_face(tick.space, eye, view, act.block, act.face)) return ActVerdict::no_sight;
  const BlockId id = tick.volume.block(act.block);
  const BlockRegistry& kinds = tick.volume.kinds();
  if (kinds.replaceable(id)) return ActVerdict::nothing_there;
  const Tools tools = tools_of(tick.players.inventory[row], kinds);
  if (!kinds.diggable(id, tools)) return ActVerdict::not_diggable;
  if (!allowed(tick, row, act.block, BlockId::air)) return ActVerdict::protected_ground;
  const std::uint16_t needed = tick.rules.ticks_within(kinds.type(id).dig_s(tools));
  if (needed == 0) return finish_dig(tick, row, act.block);
  tick.players.digging[row] = {act.block, id, act.face, act.number, 0, needed};
  return ActVerdict::progress;
}

ActVerdict BlockActs::dig_on(BlockActsTick& tick, std::size_t row) {
  Digging& digging = tick.players.digging[row];
  if (!tick.players.takes_part(row)) return ActVerdict::dead;
  const DVec3 eye = eye_of(tick.rules, tick.players, row), view = view_of(tick.players, row);
  if (distance_to_block_m(eye, digging.block) > tick.rules.block_reach_m) return ActVerdict::out_of_reach;
  if (!tick.volume.loaded(chunk_of(digging.block))) return ActVerdict::not_loaded;
  // Somebody else was faster, or put another block there.
  if (tick.volume.block(digging.block) != digging.id) return ActVerdict::nothing_there;
  // Whichever face the view meets: who digs may walk around the block.
  constexpr double beyond_m = 2;  // the far corner of a block within reach is no further than this
  if (!view_meets(tick.space, eye, view, digging.block, tick.rules.block_reach_m + beyond_m)) {
    if (!looks_towards(eye, view, digging.block, look_slack_m)) return ActVerdict::looked_away;
    if (!sees_face(tick.space, eye, view, digging.block, digging.face)) return ActVerdict::no_sight;
  }
  if (++digging.ticks < digging.ticks_needed) return ActVerdict::progress;
  return finish_dig(tick, row, digging.block);
}

ActVerdict BlockActs::finish_dig(BlockActsTick& tick, std::size_t row, IVec3 block) {
  // It may be another's ground by now.
  if (!allowed(tick, row, block, BlockId::air)) return ActVerdict::protected_ground;
  const BlockId drops = tick.volume.kinds().type(tick.volume.block(block)).drops;
  if (!tick.edits.set(tick.volume, tick.space.maps, {block, BlockId::air}, tick.players.id[row]))
    return ActVerdict::protected_ground;
  wait_ticks_[row] = wait_after_change(tick.rules);
  ++counters_.dug;
  if (tick.items != nullptr && tick.rules.free_blocks == FreeBlocks::no && drops != BlockId::air) {
    constexpr DVec3 middle{0.5, 0.5, 0.5 - DroppedItems::shape.height_m / 2};
    tick.items->drop({drops, 1}, to_dvec3(block) + middle, {}, 0);
    ++tick.items->counters().dug;
  }
  return ActVerdict::done;
}

/// From the eye, which is in the open as the body is, ahead.
ActVerdict BlockActs::judge_drop(BlockActsTick& tick, std::size_t row, const BlockAct& act) {
  if (act.block.x <= 0) return ActVerdict::no_blocks;
  const auto wanted = static_cast<std::uint16_t>(std::min<std::int32_t>(act.block.x, stack_items_max));
  const std::uint16_t taken = tick.players.inventory[row].take(act.id, wanted);
  if (taken == 0) return ActVerdict::no_blocks;
  if (tick.items != nullptr)
    tick.items->drop({act.id, taken}, eye_of(tick.rules, tick.players, row),
                     view_of(tick.players, row) * DroppedItems::throw_mps,
                     tick.rules.ticks_within(DroppedItems::thrown_untouched_s));
  return ActVerdict::done;
}

ActVerdict BlockActs::judge_place(BlockActsTick& tick, std::size_t row, const BlockAct& act, IVec3 target) {
  if (wait_ticks_[row] > 0) return ActVerdict::cooling_down;
  const BlockRegistry& kinds = tick.volume.kinds();
  if (!kinds.placeable(act.id)) return ActVerdict::unknown_block;
  const bool costs = tick.rules.free_blocks == FreeBlocks::no;
  if (costs && tick.players.inventory[row].count(act.id) == 0) return ActVerdict::no_blocks;
  if (!block_in_bounds(target)) return ActVerdict::out_of_bounds;
  const DVec3 eye = eye_of(tick.rules, tick.players, row), view = view_of(tick.players, row);
  if (distance_to_block_m(eye, act.block) > tick.rules.block_reach_m) return ActVerdict::out_of_reach;
  if (!tick.volume.loaded(chunk_of(act.block)) || !tick.volume.loaded(chunk_of(target)))
    return ActVerdict::not_loaded;
  if (protected_by_map(tick.space.maps, tick.rules.map_margin_m, target)) return ActVerdict::protected_ground;
  if (tick.edits.in_zone(target)) return ActVerdict::protected_zone;
  if (!sees_face(tick.space, eye, view, act.block, act.face)) return ActVerdict::no_sight;
  if (!tick.volume.solid(act.block)) return ActVerdict::no_support;
  if (!kinds.replaceable(tick.volume.block(target))) return ActVerdict::occupied;
  if (kinds.type(act.id).solid() && body_in(tick, target)) return ActVerdict::body_in_the_way;
  if (!allowed(tick, row, target, act.id)) return ActVerdict::protected_ground;
  if (!tick.edits.set(tick.volume, tick.space.maps, {target, act.id}, tick.players.id[row]))
    return ActVerdict::protected_ground;
  if (costs) {
    const std::uint16_t taken = tick.players.inventory[row].take(act.id, 1);
    ASHLAR_ASSERT(taken == 1);
    if (tick.items != nullptr) ++tick.items->counters().placed;
  }
  wait_ticks_[row] = wait_after_change(tick.rules);
  ++counters_.placed;
  return ActVerdict::done;
}

bool BlockActs::allowed(const BlockActsTick& tick, std::size_t row, IVec3 block, BlockId to) const {
  return tick.rule == nullptr || tick.rule->allows(tick.players.id[row], block, to);
}

bool BlockActs::body_in(const BlockActsTick& tick, IVec3 block) {
  if (!bodies_known_) bodies_.fill(tick.rules, tick.players, tick.monsters);
  bodies_known_ = true;
  return bodies_.any_in(block);
}

void BlockActs::add_to_hash(StripeHasher& hash, const PlayerTable& players) const {
  for (std::size_t i = 0; i < players.rows(); ++i) {
    const Digging& digging = players.digging[i];
    if (players.id[i] == EntityId{0} || last_number_[i] == 0) continue;
    ASHLAR_ASSERT_SLOW(last_number_[i] != 0 || !digging.active());
    hash.add(static_cast<std::uint64_t>(i) << 32 | last_number_[i]);
    hash.add(static_cast<std::uint64_t>(wait_ticks_[i]) | static_cast<std::uint64_t>(digging.ticks) << 16 |
             static_cast<std::uint64_t>(digging.ticks_needed) << 32 |
             static_cast<std::uint64_t>(digging.id) << 48);
    if (const Opened& opened = opened_[i]; opened.active) {
      hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(opened.block.x)) << 32 |
               static_cast<std::uint32_t>(opened.block.y));
      hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(opened.block.z)) << 32 |
               static_cast<std::uint64_t>(opened.id));
    }
    if (!digging.active()) continue;
    hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(digging.block.x)) << 32 |
             static_cast<std::uint32_t>(digging.block.y));
    hash.add(static_cast<std::uint64_t>(static_cast<std::uint32_t>(digging.block.z)) << 32 | digging.number);
    hash.add(static_cast<std::uint64_t>(digging.face));
  }
}

}  // namespace ashlar
