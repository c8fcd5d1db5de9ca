// Ground that comes and goes, changes of blocks by operators and bursts, and what they spill.
#include "world/sim/world_state.h"

#include <utility>

#include "world/voxel/chunk.h"

namespace ashlar {

void World::Impl::take_ground(std::span<const ChunkCoord> dropped, std::span<ReadyChunk> ready) {
  for (const ChunkCoord& at : dropped) volume.drop_chunk(at);
  for (ReadyChunk& one : ready) {
    volume.insert_chunk(one.at, std::move(one.chunk));
    block_timers.chunk_loaded(one.at);
  }
}

void World::Impl::drop_spilled() {
  constexpr DVec3 middle{0.5, 0.5, 0.5 - DroppedItems::shape.height_m / 2};
  items.counters().brought += edits.take_found();
  const auto spilled = edits.contents().spilled();
  for (; spilled_dropped < spilled.size(); ++spilled_dropped)
    for (const ItemStack& stack : spilled[spilled_dropped].data.items.slots)
      if (!stack.empty()) items.drop(stack, to_dvec3(spilled[spilled_dropped].block) + middle, {}, 0);
}

void World::Impl::apply_admin(const AdminCommand& command) {
  if (command.action == AdminAction::give) return give(command);
  if (command.action == AdminAction::fill_block) return fill_block(command);
  if (command.action == AdminAction::fill_box || command.action == AdminAction::blast)
    return apply_to_ground(command);
  if (!players.has(command.player)) return;
  const std::size_t row = slot_of(command.player);
  Body& body = players.body[row];
  switch (command.action) {
    case AdminAction::noclip_on:
    case AdminAction::noclip_off:
      if (!players.spectates(row))
        body.noclip = command.action == AdminAction::noclip_on ? noclip_granted : std::uint8_t{0};
      break;
    case AdminAction::spectate: set_watching(row, true); break;
    case AdminAction::play: set_watching(row, false); break;
    case AdminAction::teleport:
      if (!in_bounds(command.position_m)) return;
      body.position_m = command.position_m;
      body.velocity_mps = {};
      body.recovery_velocity_mps = {};
      body.stuck_ticks = 0;
      break;
    case AdminAction::fill_box:
    case AdminAction::blast:
    case AdminAction::give:
    case AdminAction::fill_block: break;  // done above
  }
}

void World::Impl::give(const AdminCommand& command) {
  if (!players.has(command.player) || command.id == BlockId::air || !setup.blocks->knows(command.id)) return;
  Inventory& held = players.inventory[slot_of(command.player)];
  items.counters().brought += command.count - held.add({command.id, command.count});
}

void World::Impl::fill_block(const AdminCommand& command) {
  const IVec3 block = command.box.min;
  if (!in_bounds(to_dvec3(block)) || !volume.loaded(chunk_of(block))) return;
  const BlockId kind = volume.block(block);
  BlockContents& contents = edits.contents();
  if (!sane(command.data.items) ||
      !fits(setup.blocks->type(kind), BlockData{command.data.items, command.data.text}))
    return;
  if (!contents.fits_world(block)) return;
  const BlockData* const before = contents.find(block);
  items.counters().gone += before != nullptr ? before->items.count() : 0;
  items.counters().brought += command.data.items.count();
  BlockData data = command.data;
  data.due = before != nullptr ? before->due : 0;  // nobody's word but the block's own
  contents.set(block, kind, data, command.player);
}

void World::Impl::apply_to_ground(const AdminCommand& command) {
  if (command.action == AdminAction::fill_box) {
    if (GroundEdits::box_sane(command.box))
      counters.edits_refused += edits.fill(volume, placed, command.box, command.id, command.player);
    return;
  }
  const bool sane = in_bounds(command.position_m) && command.radius_m >= 0 &&
                    command.radius_m <= GroundEdits::sphere_radius_m_max;  // false for NaN, too
  if (sane)
    edits.blast(volume, placed, setup.rules.map_margin_m, command.position_m, command.radius_m,
                command.player);
}

void World::Impl::clear_around_bursts() {
  if (!(setup.rules.burst_dig_m > 0)) return;
  for (const PlayerBurst& burst : combat.player_bursts())
    if (in_bounds(burst.centre_m))
      edits.blast(volume, placed, setup.rules.map_margin_m, burst.centre_m, setup.rules.burst_dig_m, burst.by,
                  this);
}

}  // namespace ashlar
