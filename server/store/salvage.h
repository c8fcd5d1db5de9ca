#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "server/store/world_store.h"

// A world's database that its own disk has torn, made anew of what can be read.

namespace ashlar::server {

/// What was saved of one table.
struct SalvagedTable {
  std::string name;
  std::uint64_t rows = 0;
  bool torn = false;  ///< some of it could not be read
};
struct SalvageReport {
  std::vector<SalvagedTable> tables;
  std::vector<std::string> made_up;  ///< lines: what of meta could not be read, and what stands in its place
  std::string before = {};           ///< where the database is as it was
};

/// Copies every row that can be read into a new database of the same format, which takes the place of the old
/// one; that stays beside it. Rows are copied as they are: those whose bytes make no sense are named, as
/// ever, when they are read. Reads around what is torn: of a table with numbered rows just those are lost
/// that lie in such a page. Precondition: the caller holds the world's lock. On failure nothing is changed.
/// @param expected  what world.toml says, for what the database does not say any more; or why that is not
/// known
/// @param drop_log  the log of edits begins anew, empty
/// @return or why there is nothing to be saved: no world's database, of a newer build, or neither its list of
///         tables nor any row can be read
std::expected<SalvageReport, StoreTrouble> salvage_store(
    const std::string& file, const std::expected<StoredWorld, std::string>& expected, bool drop_log);

}  // namespace ashlar::server
