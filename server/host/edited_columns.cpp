#include "server/host/edited_columns.h"

#include "world/voxel/block.h"

namespace ashlar::server {

void EditedColumns::note(std::span<const AppliedEdit> edits, std::uint32_t tick) {
  for (const AppliedEdit& edit : edits) {
    const ChunkCoord at = chunk_of(edit.block);
    ticks_[{at.x, at.y}] = tick;
  }
}

bool EditedColumns::saved(IVec2 column, std::uint32_t saved_tick) const {
  if (saved_tick == 0) return false;
  const auto found = ticks_.find(column);
  return found == ticks_.end() || found->second <= saved_tick;
}

}  // namespace ashlar::server
