#pragma once

#include <cstddef>

#include "world/voxel/volume.h"
#include "world/voxel/window.h"

namespace ashlar {

/// Bodies stand far apart, so the blocks under each are elsewhere in memory: asked for a few bodies ahead
/// they are there when they are needed. Call before each row of a pass; changes nothing.
template <typename Table>
void fetch_ahead(const VoxelVolume& volume, const Table& table, std::size_t row) {
  constexpr std::size_t columns_ahead = 3, chunks_ahead = 6, slots_ahead = 9;
  const auto low = [&](std::size_t r) { return block_at(table.body[r].position_m - DVec3{1, 1, 1}); };
  if (row + slots_ahead < table.rows()) volume.prefetch_slot(chunk_of(low(row + slots_ahead)));
  if (row + chunks_ahead < table.rows()) volume.prefetch_chunk(chunk_of(low(row + chunks_ahead)));
  if (row + columns_ahead >= table.rows() || table.id[row + columns_ahead] == EntityId{0}) return;
  const IVec3 from = low(row + columns_ahead);
  prefetch_window(volume, from, from + IVec3{2, 2, 2});
}

}  // namespace ashlar
