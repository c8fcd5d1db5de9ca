#include "server/host/change_log.h"

#include <algorithm>
#include <tuple>

#include "world/voxel/chunk.h"

namespace ashlar::server {

void ChangeLog::take(std::span<const AppliedEdit> edits) {
  fresh_.clear();
  sorted_.clear();
  for (const AppliedEdit& edit : edits) {
    const auto index = static_cast<std::uint16_t>(index_in_chunk(local_in_chunk(edit.block)));
    sorted_.push_back({chunk_of(edit.block),
                       {index, static_cast<std::uint16_t>(edit.after)},
                       static_cast<std::uint32_t>(sorted_.size())});
  }
  std::ranges::sort(sorted_, [](const Edit& a, const Edit& b) {
    return std::tie(a.at.x, a.at.y, a.at.z, a.change.index, a.order) <
           std::tie(b.at.x, b.at.y, b.at.z, b.change.index, b.order);
  });
  fresh_changes_.clear();
  fresh_changes_.reserve(sorted_.size());  // spans into it stay good
  for (std::size_t i = 0; i < sorted_.size();) {
    const ChunkCoord at = sorted_[i].at;
    Column& column = columns_[{at.x, at.y}];
    auto chunk = std::ranges::lower_bound(column, at.z, {}, &Chunk::z);
    if (chunk == column.end() || chunk->z != at.z) chunk = column.insert(chunk, {at.z, {}});
    const std::size_t first = fresh_changes_.size();
    for (; i < sorted_.size() && sorted_[i].at == at; ++i) {
      const BlockChange change = sorted_[i].change;
      const bool last = i + 1 == sorted_.size() || !(sorted_[i + 1].at == at) ||
                        sorted_[i + 1].change.index != change.index;
      if (!last) continue;
      fresh_changes_.push_back(change);
      auto known = std::ranges::lower_bound(chunk->changes, change.index, {}, &BlockChange::index);
      if (known != chunk->changes.end() && known->index == change.index)
        known->block = change.block;
      else
        chunk->changes.insert(known, change), ++blocks_;
    }
    fresh_.push_back({at, std::span<const BlockChange>(fresh_changes_).subspan(first)});
  }
}

std::span<const BlockChange> ChangeLog::chunk(ChunkCoord at) const {
  const auto column = columns_.find({at.x, at.y});
  if (column == columns_.end()) return {};
  const auto chunk = std::ranges::lower_bound(column->second, at.z, {}, &Chunk::z);
  if (chunk == column->second.end() || chunk->z != at.z) return {};
  return chunk->changes;
}

bool ChangeLog::knows(IVec3 block) const {
  const auto index = static_cast<std::uint16_t>(index_in_chunk(local_in_chunk(block)));
  return std::ranges::binary_search(chunk(chunk_of(block)), index, {}, &BlockChange::index);
}

std::span<const ChangeLog::ChunkChanges> ChangeLog::column(IVec2 at) {
  column_.clear();
  const auto found = columns_.find({at.x, at.y});
  if (found == columns_.end()) return {};
  for (const Chunk& chunk : found->second) column_.push_back({{at.x, at.y, chunk.z}, chunk.changes});
  return column_;
}

}  // namespace ashlar::server
