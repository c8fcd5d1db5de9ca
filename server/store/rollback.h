#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "server/store/edit_search.h"

// Putting blocks back to what they were before some edits of the log.

namespace ashlar::server {

/// A block to put back.
struct BlockUndo {
  IVec3 block;
  BlockId expected{};  ///< what the log says is there
  BlockId to{};
  std::optional<BlockData> held = {};  ///< what it is to hold; none: that was not changed
};

/// What putting back some edits comes to.
struct RollbackPlan {
  std::uint64_t edits = 0;        ///< that the query found
  std::uint64_t left = 0;         ///< blocks whose latest edit it did not find: others changed them since
  std::vector<BlockUndo> blocks;  ///< a chunk's side by side, in the order of index_in_chunk()
};

/// Reads the log. Of each block the latest edits are taken back that the query finds, down to the first that
/// it does not find: what others built is neither touched nor laid over.
/// @param force  also below edits that the query does not find, and over them
std::expected<RollbackPlan, StoreTrouble> plan_rollback(const Database& database, const EditQuery& query,
                                                        bool force);

/// What a rollback did, or would do.
struct RollbackReport {
  std::uint64_t edits = 0;    ///< that the query found
  std::uint64_t blocks = 0;   ///< put back
  std::uint64_t left = 0;     ///< left as they are: changed by others since, or not as the log says
  std::uint64_t damaged = 0;  ///< in chunks that are not there any more or cannot be read
  std::string copy = {};      ///< of the database as it was before; empty: nothing was changed
};

/// How roll_back() works.
struct RollbackOptions {
  bool force = false;    ///< as of plan_rollback(); also where a block is not what the log says
  bool dry_run = false;  ///< nothing is written
};

/// Puts blocks of a world that nobody plays in back: after a copy was made beside its database (its name and
/// .before-rollback), all in one transaction, logged as an operator's edits, so that it can be taken back
/// itself. What chests held is there again, whoever has it by now, and items that lie about stay: who wants
/// none of them twice takes them away. What a chest holds that goes lies there from then on; timers of blocks
/// that come begin anew. Precondition: the caller holds the world's lock.
/// @param file  the world's database
std::expected<RollbackReport, StoreTrouble> roll_back(const std::string& file, const EditQuery& query,
                                                      const RollbackOptions& options, std::int64_t now_s);

}  // namespace ashlar::server
