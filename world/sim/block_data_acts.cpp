// What players do with what blocks hold: look into a chest, move items, write on a sign.

#include <algorithm>

#include "world/math/assert.h"
#include "world/sim/block_acts.h"
#include "world/sim/block_sight.h"

namespace ashlar {

/// What is asked of every touch of a block's data beside its own. `done`: it may be.
ActVerdict BlockActs::reaches(const BlockActsTick& tick, std::size_t row, IVec3 block) const {
  const DVec3 eye = tick.players.body[row].position_m + DVec3{0, 0, tick.rules.player_eye_m};
  if (distance_to_block_m(eye, block) > tick.rules.block_reach_m) return ActVerdict::out_of_reach;
  if (!tick.volume.loaded(chunk_of(block))) return ActVerdict::not_loaded;
  return ActVerdict::done;
}

/// Likewise of the first touch: that the face is seen, as of digging.
ActVerdict BlockActs::sees(const BlockActsTick& tick, std::size_t row, const BlockAct& act) const {
  if (const ActVerdict reach = reaches(tick, row, act.block); reach != ActVerdict::done) return reach;
  const DVec3 eye = tick.players.body[row].position_m + DVec3{0, 0, tick.rules.player_eye_m};
  const DVec3 view = view_direction(tick.players.yaw[row], tick.players.pitch[row]);
  return sees_face(tick.space, eye, view, act.block, act.face) ? ActVerdict::done : ActVerdict::no_sight;
}

ActVerdict BlockActs::judge_data(BlockActsTick& tick, std::size_t row, const BlockAct& act) {
  // A client knows of no chest what is in it: its server has the word.
  if (tick.items == nullptr) return ActVerdict::progress;
  switch (act.kind) {
    case BlockActKind::open: return judge_open(tick, row, act);
    case BlockActKind::take:
    case BlockActKind::put: return judge_move(tick, row, act);
    case BlockActKind::write: return judge_write(tick, row, act);
    default: break;
  }
  ASHLAR_ASSERT(act.kind == BlockActKind::close);
  opened_[row] = {};
  return ActVerdict::done;
}

ActVerdict BlockActs::judge_open(BlockActsTick& tick, std::size_t row, const BlockAct& act) {
  opened_[row] = {};
  if (const ActVerdict seen = sees(tick, row, act); seen != ActVerdict::done) return seen;
  const BlockRegistry& kinds = tick.volume.kinds();
  BlockId id = tick.volume.block(act.block);
  const bool treasure = id != BlockId::air && id == kinds.treasure();
  if (kinds.type(id).slots == 0 && !treasure) return ActVerdict::holds_none;
  if (treasure) {
    // It becomes a chest, so what holds of edits holds of it.
    if (tick.edits.in_zone(act.block)) return ActVerdict::protected_zone;
    id = kinds.type(id).drops;
  }
  if (!allowed(tick, row, act.block, id)) return ActVerdict::protected_ground;
  if (treasure) {
    if (protected_by_map(tick.space.maps, tick.rules.map_margin_m, act.block))
      return ActVerdict::protected_ground;
    if (!tick.edits.open_treasure(tick.volume, tick.space.maps, act.block, tick.players.id[row]))
      return ActVerdict::no_room;
  }
  opened_[row] = {act.block, id, true};
  return ActVerdict::done;
}

/// Takes from a chest into the inventory, or puts into it: as much as there is, was asked for and has room.
ActVerdict BlockActs::judge_move(BlockActsTick& tick, std::size_t row, const BlockAct& act) {
  const Opened& opened = opened_[row];
  // Another act of this tick may have taken it away.
  const bool open = opened.active && opened.block == act.block && tick.volume.block(act.block) == opened.id;
  if (!open) return ActVerdict::not_open;
  BlockContents& contents = tick.edits.contents();
  if (!contents.has_room(act.block)) return ActVerdict::no_room;
  const BlockData* const known = contents.find(act.block);
  BlockData data = known != nullptr ? *known : BlockData{};
  const auto slots = std::span(data.items.slots).first(tick.volume.kinds().type(opened.id).slots);
  const std::span<ItemStack> own = tick.players.inventory[row].slots;
  const bool takes = act.kind == BlockActKind::take;
  const std::span<ItemStack> from = takes ? std::span<ItemStack>(slots) : own;
  const std::span<ItemStack> to = takes ? own : std::span<ItemStack>(slots);
  const auto wanted = std::min<std::uint16_t>(act.count, stack_items_max);
  const std::uint16_t taken = act.id == BlockId::air ? std::uint16_t{0} : take_items(from, act.id, wanted);
  if (taken == 0) return ActVerdict::no_blocks;
  const std::uint16_t left = add_items(to, {act.id, taken});
  if (left > 0) {
    const std::uint16_t lost = add_items(from, {act.id, left});
    ASHLAR_ASSERT(lost == 0);  // it was there a moment ago
  }
  if (left == taken) return ActVerdict::no_room;
  contents.set(act.block, opened.id, data, tick.players.id[row]);
  return ActVerdict::done;
}

ActVerdict BlockActs::judge_write(BlockActsTick& tick, std::size_t row, const BlockAct& act) {
  if (wait_ticks_[row] > 0) return ActVerdict::cooling_down;
  if (const ActVerdict seen = sees(tick, row, act); seen != ActVerdict::done) return seen;
  const BlockId id = tick.volume.block(act.block);
  if (!tick.volume.kinds().type(id).text) return ActVerdict::holds_none;
  if (tick.edits.in_zone(act.block)) return ActVerdict::protected_zone;
  if (!allowed(tick, row, act.block, id)) return ActVerdict::protected_ground;
  BlockContents& contents = tick.edits.contents();
  if (!contents.has_room(act.block)) return ActVerdict::no_room;
  const BlockData* const known = contents.find(act.block);
  BlockData data = known != nullptr ? *known : BlockData{};
  data.text = act.text;
  contents.set(act.block, id, data, tick.players.id[row]);
  wait_ticks_[row] = wait_after_change(tick.rules);
  return ActVerdict::done;
}

/// Chests close by themselves once their player is dead or away, or they are gone.
void BlockActs::close_chests(const BlockActsTick& tick) {
  for (std::size_t row = 0; row < tick.players.rows(); ++row) {
    Opened& opened = opened_[row];
    if (!opened.active) continue;
    const bool stays = tick.players.id[row] != EntityId{0} && tick.players.takes_part(row) &&
                       reaches(tick, row, opened.block) == ActVerdict::done &&
                       tick.volume.block(opened.block) == opened.id;
    if (!stays) opened = {};
  }
}

std::optional<IVec3> BlockActs::opened(std::size_t row) const {
  if (!opened_[row].active) return std::nullopt;
  return opened_[row].block;
}

}  // namespace ashlar
