#include "world/sim/block_timers.h"

#include <algorithm>
#include <cmath>

#include "world/math/assert.h"

namespace ashlar {
namespace {

std::uint64_t timer_ticks(const Rules& rules, double seconds) {
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(seconds * rules.tick_rate_hz + 0.5));
}

}  // namespace

void BlockTimers::restore(const BlockContents& contents) {
  contents.each([this](IVec3 block, const BlockData& data) {
    if (data.due != 0) due_.emplace(Due{data.due, block}, EntityId{0});
  });
}

void BlockTimers::chunk_loaded(ChunkCoord at) {
  if (asleep_.empty()) return;
  const IVec3 first{at.x * chunk_size, at.y * chunk_size, at.z * chunk_size};
  for (auto one = asleep_.lower_bound(first); one != asleep_.end() && chunk_of(one->first) == at;
       one = asleep_.erase(one))
    due_.emplace(Due{one->second, one->first}, EntityId{0});
}

bool BlockTimers::body_in(const BlockTimersTick& tick, IVec3 block) {
  if (!bodies_known_) bodies_.fill(tick.rules, tick.players, tick.monsters);
  bodies_known_ = true;
  return bodies_.any_in(block);
}

void BlockTimers::fire(const BlockTimersTick& tick) {
  bodies_known_ = false;
  std::size_t looked = 0, blasts = 0;
  while (!due_.empty() && looked < fires_per_tick_max && blasts < blasts_per_tick_max) {
    const auto [due, who] = *due_.begin();
    if (due.life > tick.life) return;
    due_.erase(due_.begin());
    ++looked;
    if (!tick.volume.loaded(chunk_of(due.block))) {
      asleep_.emplace(due.block, due.life);
      continue;
    }
    switch (fire_one(tick, due, who)) {
      case Fired::done: break;
      case Fired::exploded: ++blasts; break;
      case Fired::held_up: {
        BlockData data = *tick.edits.contents().find(due.block);
        data.due = tick.life + timer_ticks(tick.rules, retry_s);
        tick.edits.contents().set(due.block, tick.volume.block(due.block), data, EntityId{0});
        break;
      }
    }
  }
}

BlockTimers::Fired BlockTimers::fire_one(const BlockTimersTick& tick, const Due& due, EntityId who) {
  BlockContents& contents = tick.edits.contents();
  const BlockData* const held = contents.find(due.block);
  // Another act of this tick may have taken it away.
  if (held == nullptr || held->due != due.life) return Fired::done;
  const BlockId id = tick.volume.block(due.block);
  const BlockRegistry& kinds = tick.volume.kinds();
  if (!kinds.knows(id) || !(kinds.type(id).timer_s > 0) || !GroundEdits::changeable(tick.maps, due.block)) {
    // Kinds may have changed since the world last ended; a door, a lift or another map may be over it.
    BlockData data = *held;
    data.due = 0;
    contents.set(due.block, id, data, EntityId{0});
    return Fired::done;
  }
  const BlockType& type = kinds.type(id);
  const bool grows = !type.shape.full() && kinds.type(type.becomes).solid();
  if (grows && body_in(tick, due.block)) return Fired::held_up;
  const bool set =
      tick.edits.set(tick.volume, tick.maps, {due.block, type.becomes}, type.blast_m > 0 ? who : EntityId{0});
  ASHLAR_ASSERT(set);
  if (type.blast_m > 0) {
    tick.edits.blast(tick.volume, tick.maps, tick.rules.map_margin_m, block_middle(due.block), type.blast_m,
                     who, &tick.rule);
    return Fired::exploded;
  }
  if (type.becomes == BlockId::air && type.drops != BlockId::air &&
      tick.rules.free_blocks == FreeBlocks::no) {
    const DVec3 at = block_middle(due.block) - DVec3{0, 0, DroppedItems::shape.height_m / 2};
    tick.items.drop({type.drops, 1}, at, {}, 0);
    ++tick.items.counters().dug;
  }
  return Fired::done;
}

void BlockTimers::note_edits(const VoxelVolume& volume, const Rules& rules, std::uint64_t life,
                             GroundEdits& edits) {
  BlockContents& contents = edits.contents();
  for (const AppliedEdit& edit : edits.applied()) {
    const double timer_s = volume.kinds().type(edit.after).timer_s;
    if (!(timer_s > 0) || volume.block(edit.block) != edit.after || !contents.has_room(edit.block)) continue;
    const BlockData* const held = contents.find(edit.block);
    BlockData data = held != nullptr ? *held : BlockData{};
    data.due = life + timer_ticks(rules, timer_s);
    contents.set(edit.block, edit.after, data, edit.who);
  }
  for (const DataEdit& edit : contents.applied()) {
    if (edit.before.due == edit.after.due) continue;
    if (edit.before.due != 0) due_.erase({edit.before.due, edit.block}), asleep_.erase(edit.block);
    if (edit.after.due != 0) due_.insert_or_assign({edit.after.due, edit.block}, edit.who);
  }
}

}  // namespace ashlar
