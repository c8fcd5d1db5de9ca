// What an operator of a simulated match does: it gives what nobody finds where blocks are not free.

#include "client_sim/simulation/match.h"
#include "world/math/random.h"
#include "world/sim/world.h"

namespace ashlar::simulation {

/// Nobody finds those: where blocks are not free an operator gives each player a chest now and then, and
/// between two of these something that explodes.
void Match::hand_out_gifts() {
  constexpr std::uint32_t every_s = 15, chests_of = 2;
  const World& world = host_->world();
  const std::uint32_t every = every_s * config_.tick_rate_hz, tick = host_->status().tick;
  if (world.setup().rules.free_blocks == FreeBlocks::yes || tick % every != 0) return;
  const auto kind = world.setup().blocks->find(tick / every % chests_of == 0 ? "chest" : "charge");
  if (!kind) return;
  for (const server::SessionAudit& session : audit_.sessions) {
    if (!session.playing) continue;
    AdminCommand gift;
    gift.action = AdminAction::give;
    gift.player = session.player;
    gift.id = *kind;
    gift.count = 1;
    host_->admin(gift);
  }
}

/// Treasures lie deeper than anybody digs in a run: where blocks are not free an operator puts some around
/// the feet of somebody now and then, where tunnels begin.
void Match::bury_treasures() {
  constexpr std::uint32_t every_s = 2;
  const World& world = host_->world();
  const BlockRegistry& kinds = *world.setup().blocks;
  if (world.setup().rules.free_blocks == FreeBlocks::yes || kinds.treasure() == BlockId::air) return;
  if (host_->status().tick % (every_s * config_.tick_rate_hz) != 0 || audit_.sessions.empty()) return;
  Rng rng = rng_for(config_.seed, 0x10de, outcome_.ticks);
  const auto sessions = static_cast<std::uint32_t>(audit_.sessions.size());
  const int row = world.player_row(audit_.sessions[rng.below(sessions)].player);
  if (row < 0) return;
  const DVec3 feet = world.players().body[static_cast<std::size_t>(row)].position_m;
  const VoxelVolume& ground = *world.space().voxels;
  for (const BlockFace way : {BlockFace::east, BlockFace::west, BlockFace::north, BlockFace::south}) {
    const IVec3 block = block_at(feet - DVec3{0, 0, 0.5}) + normal_of(way);
    if (!ground.loaded(chunk_of(block))) continue;
    const BlockId there = ground.block(block);
    // What holds something or has a timer would end.
    const BlockType& type = kinds.type(there);
    if (!kinds.diggable(there) || type.slots > 0 || type.text || type.timer_s > 0) continue;
    AdminCommand hoard;
    hoard.action = AdminAction::fill_box;
    hoard.box = {block, block + IVec3{1, 1, 1}};
    hoard.id = kinds.treasure();
    host_->admin(hoard);
  }
}

}  // namespace ashlar::simulation
