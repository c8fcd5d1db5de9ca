#include "server/store/dirty_chunks.h"

#include <algorithm>
#include <bit>

#include "server/store/sqlite_store.h"
#include "world/math/assert.h"
#include "world/math/random.h"

namespace ashlar::server {
namespace {

/// Never 0.
std::uint64_t dirty_key(ChunkCoord at) { return static_cast<std::uint64_t>(chunk_place(at)) + 1; }

}  // namespace

DirtyChunks::DirtyChunks(std::uint32_t rows_max)
    : rows_usual_(rows_max),
      rows_(rows_max),
      keys_(std::bit_ceil(2 * std::size_t{rows_max})),
      row_of_slot_(std::bit_ceil(2 * std::size_t{rows_max})) {
  ASHLAR_ASSERT(rows_max >= 1);
}

std::size_t DirtyChunks::slot_of(std::uint64_t key) const {
  const std::size_t mask = keys_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(mix64(key)) & mask;
  while (keys_[slot] != 0 && keys_[slot] != key) slot = (slot + 1) & mask;
  return slot;
}

bool DirtyChunks::holds(ChunkCoord at) const { return keys_[slot_of(dirty_key(at))] != 0; }

bool DirtyChunks::put(ChunkCoord at, const Chunk& chunk) {
  const std::uint64_t key = dirty_key(at);
  const std::size_t slot = slot_of(key);
  if (keys_[slot] == 0) {
    if (full()) return false;
    keys_[slot] = key;
    row_of_slot_[slot] = count_++;
  }
  Row& row = rows_[row_of_slot_[slot]];
  row.at = at;
  row.blocks.assign(chunk);
  ASHLAR_ASSERT(count_ <= rows_.size());
  return true;
}

void DirtyChunks::grow(std::uint32_t rows) {
  if (rows <= rows_.size()) return;
  rows_.resize(rows);
  keys_.assign(std::bit_ceil(2 * std::size_t{rows}), 0);
  row_of_slot_.resize(keys_.size());
  for (std::uint32_t i = 0; i < count_; ++i) {
    const std::uint64_t key = dirty_key(rows_[i].at);
    const std::size_t slot = slot_of(key);
    keys_[slot] = key;
    row_of_slot_[slot] = i;
  }
}

void DirtyChunks::clear() {
  if (rows_.size() > rows_usual_) {
    *this = DirtyChunks(rows_usual_);
    return;
  }
  if (count_ == 0) return;
  std::ranges::fill(keys_, std::uint64_t{0});
  count_ = 0;
}

}  // namespace ashlar::server
