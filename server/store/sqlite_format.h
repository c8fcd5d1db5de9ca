#pragma once
#include <expected>
#include <optional>
#include <string>

#include "server/store/sqlite.h"
#include "server/store/sqlite_store.h"

// Which format a database has, and how it gets the one that this build knows.

namespace ashlar::server {

/// The format of a database: 0 where it is new and empty. Reads only.
/// @return or why it is none of ours, or of a newer build
std::expected<int, StoreTrouble> store_format_of(const Database& database, int known);

/// Makes the tables in an empty database.
std::expected<void, StoreTrouble> make_tables(const Database& database, const StoredWorld& world);

/// Brings an older database to the format in the transaction that is open: on failure it has to be rolled
/// back.
std::expected<void, StoreTrouble> upgrade_store(const Database& database, int from,
                                                const StoreOptions& options);

/// A name for a copy of a file that nothing has yet: FILE.ENDING, FILE.ENDING-2 and so on.
std::string free_copy_name(const std::string& file, const std::string& ending);

/// Reads the table meta. What is missing or no number is damage.
std::expected<StoredWorld, StoreTrouble> read_meta(const Database& database);

/// A player from a row of identity, x, y, z, yaw, pitch, health, hash, items, life; none where they do not
/// agree.
std::optional<StoredPlayer> read_player_row(const Statement& row);

/// What a block holds, from a row of place, block, hash, bytes; none where they do not agree.
std::optional<PlacedData> read_contents_row(const Statement& row);
/// Of such a row's bytes and its place.
std::uint64_t contents_row_hash(IVec3 block, std::span<const std::uint8_t> bytes);

/// Is this the world that is meant? What one of the two does not know agrees.
std::expected<void, StoreTrouble> check_world(const Database& database, const StoredWorld& stored,
                                              const StoredWorld& expected);

}  // namespace ashlar::server
