#include "client_sim/client/edited_ground.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "world/voxel/chunk.h"
#include "world/voxel/chunk_place.h"

namespace ashlar::client_sim {

std::optional<BlockId> EditedGround::changed(IVec3 block) const {
  const auto mine = std::find_if(foreseen_.rbegin(), foreseen_.rend(),
                                 [&](const Foreseen& act) { return act.block == block; });
  if (mine != foreseen_.rend()) return mine->id;
  return told(block);
}

std::optional<BlockId> EditedGround::told(IVec3 block) const {
  if (streamed_.streams()) {
    const Chunk* const held = streamed_.find(chunk_of(block));
    if (held == nullptr) return std::nullopt;
    return held->block(local_in_chunk(block));
  }
  const auto chunk = told_.find(chunk_of(block));
  if (chunk == told_.end()) return std::nullopt;
  const auto index = static_cast<std::uint16_t>(index_in_chunk(local_in_chunk(block)));
  const auto found = std::ranges::lower_bound(chunk->second, index, {}, &BlockChange::index);
  if (found == chunk->second.end() || found->index != index) return std::nullopt;
  return static_cast<BlockId>(found->block);
}

void EditedGround::apply_told(ChunkCoord at, Chunk& chunk) const {
  if (const auto told = told_.find(at); told != told_.end())
    for (const BlockChange& change : told->second)
      chunk.set_block(local_of_index(change.index), static_cast<BlockId>(change.block));
}

void EditedGround::apply(ChunkCoord at, Chunk& chunk) const {
  apply_told(at, chunk);
  for (const Foreseen& act : foreseen_)
    if (chunk_of(act.block) == at) chunk.set_block(local_in_chunk(act.block), act.id);
}

void EditedGround::bound_touched() {
  if (touched_.size() <= touched_max) return;
  touched_.resize(touched_max);
  all_touched_ = true;
}

const char* EditedGround::take(const GroundChunk& chunk) {
  const char* const wrong = streamed_.take(chunk, touched_);
  bound_touched();
  return wrong;
}

const char* EditedGround::take(const BlockEdits& edits) {
  for (const BlockChange& change : edits.changes)
    if (!kinds_->knows(static_cast<BlockId>(change.block)))
      return "a block is of no kind that this world has";
  if (streamed_.streams()) {
    streamed_.take(edits, touched_);
    bound_touched();
    return nullptr;
  }
  if (!room_for(edits.changes.size())) return "more blocks were changed than a client keeps";
  std::vector<BlockChange>& chunk = told_[edits.chunk];
  merged_.clear();  // of one that is in both what came is taken
  std::ranges::set_union(edits.changes, chunk, std::back_inserter(merged_), {}, &BlockChange::index,
                         &BlockChange::index);
  told_blocks_ += merged_.size() - chunk.size();
  chunk.assign(merged_.begin(), merged_.end());
  for (const BlockChange& change : edits.changes) {
    if (touched_.size() < touched_max)
      touched_.push_back(block_of_index(edits.chunk, change.index));
    else
      all_touched_ = true;
  }
  return nullptr;
}

void EditedGround::forget_far(ChunkCoord player, ChunkCoord told) {
  const auto far_from = [](ChunkCoord from, ChunkCoord at) {
    return std::abs(at.x - from.x) > told_reach_columns || std::abs(at.y - from.y) > told_reach_columns;
  };
  // What is told is within reach of where the player is: twice as far from that is out of its reach.
  const auto far_behind = [](ChunkCoord from, ChunkCoord at) {
    return std::abs(at.x - from.x) > 2 * told_reach_columns ||
           std::abs(at.y - from.y) > 2 * told_reach_columns;
  };
  std::erase_if(told_, [&](const auto& known) {
    const bool far = far_from(player, known.first) && far_behind(told, known.first);
    if (far) told_blocks_ -= known.second.size();
    return far;
  });
}

void EditedGround::take(const ActAnswer& answer) {
  if (answer.verdict == ActVerdict::progress) return;
  std::erase_if(foreseen_, [&](const Foreseen& act) {
    if (act.number != answer.number) return false;
    touched_.push_back(act.block);
    return true;
  });
}

void EditedGround::give_up_foreseen() {
  for (const Foreseen& act : foreseen_) touched_.push_back(act.block);
  foreseen_.clear();
}

void EditedGround::clear() {
  told_.clear();
  told_blocks_ = 0;
  foreseen_.clear();
  touched_.clear();
  all_touched_ = true;
}

std::optional<std::vector<IVec3>> EditedGround::take_touched() {
  std::vector<IVec3> out = std::exchange(touched_, {});
  if (std::exchange(all_touched_, false)) return std::nullopt;
  return out;
}

}  // namespace ashlar::client_sim
