#include "server/store/stored_ground.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "world/voxel/block_registry.h"
#include "world/voxel/chunk_place.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {

StoredGround::StoredGround(std::shared_ptr<WorldStore> store, DamagedChunks policy, Generate generate,
                           std::shared_ptr<const BlockRegistry> kinds)
    : store_(std::move(store)),
      policy_(policy),
      generate_(generate ? std::move(generate) : Generate(generate_chunk)),
      kinds_(std::move(kinds)) {}

void StoredGround::lose(const DamagedRow& row, bool damaged) {
  bool regenerate = damaged && policy_ == DamagedChunks::regenerate;
  std::string reason = row.reason;
  bool begun = false;
  {
    const std::scoped_lock lock(mutex_);
    begun = begun_;
    if (damaged && !begun) waiting_.push_back({row, regenerate});
  }
  if (damaged && begun) {
    if (const auto kept = store_->set_aside(row, regenerate); !kept) {
      regenerate = false;
      reason += "; it cannot be kept aside: " + kept.error().line;
    }
  }
  const std::scoped_lock lock(mutex_);
  const IVec2 column{row.at.x, row.at.y};
  if (!regenerate && std::ranges::find(closed_, column) == closed_.end()) closed_.push_back(column);
  lost_.push_back({row.at, std::move(reason), regenerate});
}

std::unique_ptr<Chunk> StoredGround::make_chunk(const Terrain& terrain, ChunkCoord at) {
  ChunkLookup found = store_->load_chunk(at);
  auto generated = generate_(terrain, at);
  if (found.kind == ChunkLookup::Kind::none) return generated;
  if (found.kind != ChunkLookup::Kind::found) {
    lose(found.damage, found.kind == ChunkLookup::Kind::damaged);
    return generated;
  }
  auto chunk = [&] {
    const std::scoped_lock lock(codec_mutex_);
    return codec_.decode(found.bytes);
  }();
  if (chunk) {
    std::vector<BlockId> blocks(chunk_blocks);
    (*chunk)->copy_blocks(blocks);
    const BlockId highest = *std::ranges::max_element(blocks);
    if (kinds_ != nullptr && !kinds_->knows(highest)) {
      // Whoever asks for what such a block is like would read behind the list.
      lose({at, std::move(found.bytes), 0,
            "it has a kind of block that this world does not have: " +
                std::to_string(static_cast<unsigned>(highest))},
           true);
      return generated;
    }
    note_changes(at, *generated, blocks, std::move(found.bytes));
    return std::move(*chunk);
  }
  // As it was written, for its hash is right: what this build does not know it must not replace.
  const bool unknown = chunk.error() == ChunkError::newer || chunk.error() == ChunkError::unknown_block;
  lose({at, std::move(found.bytes), 0, describe(chunk.error())}, !unknown);
  return generated;
}

void StoredGround::note_changes(ChunkCoord at, const Chunk& generated, std::span<const BlockId> now,
                                std::vector<std::uint8_t>&& bytes) {
  std::vector<BlockId> before(chunk_blocks);
  generated.copy_blocks(before);
  std::vector<AppliedEdit> changes;
  for (std::size_t i = 0; i < chunk_blocks; ++i) {
    if (now[i] == before[i]) continue;
    changes.push_back({block_of_index(at, i), before[i], now[i], EntityId{0}});
  }
  auto kept = std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes));
  const std::scoped_lock lock(mutex_);
  changes_.insert(changes_.end(), changes.begin(), changes.end());
  kept_.push_back({at, std::move(kept)});
}

void StoredGround::finish(GroundColumn& column) {
  const std::scoped_lock lock(mutex_);
  const auto here = [&](const AppliedEdit& edit) {
    const ChunkCoord at = chunk_of(edit.block);
    return IVec2{at.x, at.y} == column.column;
  };
  column.changes.clear(), column.kept.clear();
  std::ranges::copy_if(changes_, std::back_inserter(column.changes), here);
  std::erase_if(changes_, here);
  std::erase_if(kept_, [&](ChangedChunk& chunk) {
    if (!(IVec2{chunk.at.x, chunk.at.y} == column.column)) return false;
    column.kept.push_back(std::move(chunk));
    return true;
  });
  if (std::ranges::find(closed_, column.column) != closed_.end()) column = closed_column(column.column);
}

std::vector<AppliedEdit> StoredGround::take_changes() {
  const std::scoped_lock lock(mutex_);
  kept_.clear();
  return std::exchange(changes_, {});
}

std::vector<ChangedChunk> StoredGround::take_kept() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(kept_, {});
}

bool StoredGround::closed(IVec2 column) const {
  const std::scoped_lock lock(mutex_);
  return std::ranges::find(closed_, column) != closed_.end();
}

std::expected<void, StoreTrouble> StoredGround::begin() {
  const std::scoped_lock lock(mutex_);
  begun_ = true;
  for (const Waiting& waiting : waiting_)
    if (auto kept = store_->set_aside(waiting.row, waiting.forget); !kept) return kept;
  waiting_.clear();
  return {};
}

std::vector<LostChunk> StoredGround::take_lost() {
  const std::scoped_lock lock(mutex_);
  return std::exchange(lost_, {});
}

}  // namespace ashlar::server
