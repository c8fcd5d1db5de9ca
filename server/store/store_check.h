#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "server/store/sqlite.h"
#include "server/store/world_store.h"

// What tools ask of a world's database beside a running server, or without one. Nothing of it is changed.

namespace ashlar::server {

/// What there is in a store, without reading all of it.
struct StoreReport {
  int format = 0;
  StoredWorld world;
  std::uint64_t players = 0;
  std::uint64_t contents = 0;  ///< blocks that hold something: chests, signs
  std::uint64_t damaged = 0;   ///< rows that were kept aside
  std::uint64_t bytes = 0;     ///< of the database and what waits beside it
};

/// @return or why it cannot be told: not there, of a newer build, no world's
std::expected<StoreReport, StoreTrouble> report_store(const std::string& file,
                                                      OpenMode mode = OpenMode::read);

/// What reading everything has shown.
struct StoreCheck {
  std::uint64_t chunks = 0, players = 0, contents = 0;  ///< that are whole
  std::uint64_t faults = 0;
  std::vector<std::string> lines;  ///< of the first store_fault_lines_max faults, one each
};
inline constexpr std::size_t store_fault_lines_max = 100;

/// Reads all of a store as of one moment: the database's own check, each row's hash, and what its bytes mean.
/// Some 10 000 chunks a second. @return or why there is nothing to read
/// @param mode  read, or read_still
std::expected<StoreCheck, StoreTrouble> check_store(const std::string& file, OpenMode mode = OpenMode::read);

/// Copies a store as of one moment, also while a server writes to it.
/// @param copy  must not be there yet
/// @param mode  likewise
std::expected<void, StoreTrouble> copy_store(const std::string& file, const std::string& copy,
                                             OpenMode mode = OpenMode::read);

}  // namespace ashlar::server
