#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "protocol/chunk_codec.h"
#include "world/voxel/block.h"

namespace ashlar::server {

/// Changed chunks that wait to be saved, each once and as it was put in last. One thread. Allocates nothing
/// once its rows have their size: chunk contents take some 1 to 4 KiB a row, at most 40.
class DirtyChunks {
 public:
  struct Row {
    ChunkCoord at;
    PackedChunk blocks;
  };

  /// @param rows_max  at least 1
  explicit DirtyChunks(std::uint32_t rows_max);

  /// Copies a chunk's blocks, over those that are there. @return false: every row is taken
  bool put(ChunkCoord at, const Chunk& chunk);
  bool holds(ChunkCoord at) const;
  std::span<const Row> rows() const { return std::span(rows_).first(count_); }
  std::uint32_t count() const { return count_; }
  bool full() const { return count_ == rows_.size(); }
  /// Room for so many rows until clear(): allocates.
  void grow(std::uint32_t rows);
  void clear();  ///< keeps the memory of as many rows as it began with

 private:
  std::size_t slot_of(std::uint64_t key) const;

  std::uint32_t rows_usual_;
  std::vector<Row> rows_;
  std::vector<std::uint64_t> keys_;  // by slot, 0 where it is free; linear probing, at most half full
  std::vector<std::uint32_t> row_of_slot_;
  std::uint32_t count_ = 0;
};

}  // namespace ashlar::server
