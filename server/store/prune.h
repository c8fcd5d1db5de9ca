#pragma once
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "server/store/world_store.h"
#include "world/math/block_box.h"
#include "world/voxel/chunk.h"

namespace ashlar::server {

/// What of a world's database goes.
struct PruneOptions {
  /// Chunks further than keep_near_m from the spawn, every map and every kept player, in which nothing has
  /// changed for unchanged_s, as the log of edits has it. None: no such chunk goes.
  struct Far {
    std::int32_t keep_near_m = 0;
    std::int64_t unchanged_s = 0;
  };
  std::optional<Far> far = {};
  IVec2 spawn = {};  ///< where players begin: near
  /// Boxes of placed maps: near, as players begin at their starts.
  std::vector<BlockBox> maps = {};
  std::int64_t log_age_s = 0;  ///< edits older than that leave the log; 0: none does
  bool dry_run = false;        ///< only counts
  bool copy = true;            ///< of the database, before anything goes
};

/// What went, or would go.
struct PruneReport {
  std::uint64_t same = 0;                           ///< chunks that were as they are generated
  std::uint64_t far = 0;                            ///< chunks far from everybody
  std::uint64_t kept = 0;                           ///< chunks that stay
  std::uint64_t edits = 0;                          ///< of the log
  std::uint64_t bytes_before = 0, bytes_after = 0;  ///< of the database's files
  std::string copy = {};                            ///< its file; empty: none was made
};

/// Makes the database of a world that nobody plays in smaller: what was generated is generated again, the
/// file is written anew without holes. Damaged chunks stay. A chunk costs its generation, some 2 ms of hills.
/// Precondition: the caller holds the world's lock.
/// @param generate  a chunk as it would be if nobody had changed it
std::expected<PruneReport, StoreTrouble> prune_store(
    const std::string& file, const PruneOptions& options,
    const std::function<std::unique_ptr<Chunk>(ChunkCoord)>& generate, std::int64_t now_s);

}  // namespace ashlar::server
