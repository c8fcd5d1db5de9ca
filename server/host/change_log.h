#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "protocol/messages.h"
#include "world/sim/block_act.h"
#include "world/voxel/block.h"

namespace ashlar::server {

/// Every block that differs, or once did, from the ground that was generated, as it is now, by chunk: what a
/// client is told that comes near. A block stays in it when it is put back, as clients that heard of the
/// change must hear of that. The Host's thread.
class ChangeLog {
 public:
  /// A chunk and blocks of it that changed, sorted by index, each once.
  struct ChunkChanges {
    ChunkCoord at;
    std::span<const BlockChange> changes;  ///< not empty
  };

  /// Takes what a tick changed. Of a block that changed twice the last counts.
  /// Cost: a search and a sort over the edits; memory moves as far as a chunk's list is long.
  void take(std::span<const AppliedEdit> edits);

  /// The chunks that the last take() changed, and how: what everybody near is to be told. Valid until the
  /// next.
  std::span<const ChunkChanges> fresh() const { return fresh_; }
  /// All that was ever changed in a column of chunks; empty: nothing. Valid until the next take().
  std::span<const ChunkChanges> column(IVec2 at);

  /// All that was ever changed in a chunk. Valid until the next take().
  std::span<const BlockChange> chunk(ChunkCoord at) const;
  /// Is the block in it?
  bool knows(IVec3 block) const;

  /// Nothing ever changed.
  bool empty() const { return columns_.empty(); }
  std::size_t blocks() const { return blocks_; }  ///< in all lists

 private:
  struct Chunk {
    std::int32_t z = 0;
    std::vector<BlockChange> changes;
  };
  using Column = std::vector<Chunk>;  // by z
  using Key = std::pair<std::int32_t, std::int32_t>;
  struct Edit {
    ChunkCoord at;
    BlockChange change;
    std::uint32_t order = 0;
  };

  std::map<Key, Column> columns_;
  std::vector<Edit> sorted_;                  // scratch of take()
  std::vector<BlockChange> fresh_changes_;    // what fresh_ points into
  std::vector<ChunkChanges> fresh_, column_;  // answers
  std::size_t blocks_ = 0;
};

}  // namespace ashlar::server
