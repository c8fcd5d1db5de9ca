#pragma once
#include <expected>
#include <memory>
#include <span>
#include <string>

#include "server/store/world_store.h"

// The tables of a world's database, world.db in its folder (docs/storage.md shows them):
//
//   meta     key, value                        seed, terrain, generator, tick, how many chunks there are,
//            blocks, maps, footprints, tick_rate
//   chunks   place (chunk_place()), hash, bytes
//   players  identity, x, y, z, yaw, pitch, health, hash, items, life
//   items    place (0), hash, bytes: one row, all that lies in the world
//   state    likewise: sectors, monsters and all else that goes on where it was (kept_state.h)
//   contents place, block, hash, bytes: what a block of a chunk holds
//   damaged  kind, place, hash, bytes, reason, tick: rows that were found damaged
//   authors, edits  who changed what: edit_log.h
//
// PRAGMA application_id says that it is ours, user_version which format it has.

namespace ashlar::server {

inline constexpr const char* store_name = "world.db";  ///< in the world's folder
inline constexpr std::int32_t store_application = 0x4153484c;
inline constexpr int store_format = 8;

/// What makes a database of one format one of the next.
struct UpgradeStep {
  int from = 0;
  const char* sql = nullptr;
};

/// How a store is opened. Format and steps are for tests.
struct StoreOptions {
  int patience_ms = 2000;  ///< that others may hold the database
  int format = store_format;
  std::span<const UpgradeStep> steps = {};
  const char* disk = nullptr;  ///< of Database::open(): a simulated one (memory_disk.h)
  bool tentative = false;      ///< nothing of a database that was there is changed before commit_open()
};

/// A chunk's row: coordinates in 21 bits each, x highest, so that a column's chunks lie side by side.
std::int64_t chunk_place(ChunkCoord at);
ChunkCoord chunk_at_place(std::int64_t place);
/// Of a row: what was written there and where, so that a row in a wrong place is found, too.
std::uint64_t chunk_row_hash(std::int64_t place, std::span<const std::uint8_t> bytes);

/// The whole row as it stands behind its identity, for its hash.
/// @param life  its bytes; empty in rows of before there was one
std::uint64_t player_row_hash(const StoredPlayer& player, std::span<const std::uint8_t> life);

/// WorldStore in a SQLite database: write-ahead log, synchronous=FULL, so that what save() returned from
/// survives a power cut. Two connections: one that writes, one that looks chunks up beside it.
class SqliteStore final : public WorldStore {
 public:
  /// Opens a world's database, made where it is absent. An older format is upgraded after a copy of it was
  /// made beside it (world.db.format-N); a newer one, another world's, or one that somebody else holds is
  /// refused, and nothing of it is changed. What is read of one that is taken survives a power cut.
  /// @param expected  what the world's settings say; tick is ignored. A new database takes it over
  static std::expected<std::unique_ptr<SqliteStore>, StoreTrouble> open(const std::string& file,
                                                                        const StoredWorld& expected,
                                                                        const StoreOptions& options = {});
  /// Removes a database that open() made, unless keep() was called.
  ~SqliteStore() override;
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;

  /// Ends the transaction in which a tentative store was opened and asked so far: the upgrade of an older
  /// format, and damaged rows that were kept aside, are on the disk from now on. Does nothing for others.
  /// Without it nothing was changed. Nothing may be saved before.
  std::expected<void, StoreTrouble> commit_open();
  /// Keeps a database that open() made.
  void keep();
  /// The format that it had before open(), where that is an older one; 0: it is of the present one.
  int older_format() const;
  bool made() const;                  ///< by open(): it was not there
  const std::string& copied() const;  ///< where the copy of an older format is; empty: there was no need

  StoredWorld world() const override;
  ChunkLookup load_chunk(ChunkCoord at) override;
  std::expected<StoredPlayers, StoreTrouble> load_players() override;
  /// Takes the damaged rows that load_players() found out of the players. They are kept aside first, whole:
  /// as the statement that puts such a row back.
  std::expected<void, StoreTrouble> set_aside_players();
  std::expected<StoredItems, StoreTrouble> load_items() override;
  std::expected<StoredState, StoreTrouble> load_state() override;
  std::expected<StoredContentsList, StoreTrouble> load_contents() override;
  std::expected<void, StoreTrouble> save(const SaveGroup& group) override;
  std::string log_trouble() override;
  bool log_off() override;
  std::expected<void, StoreTrouble> save_blocks(const std::string& text) override;
  /// Keeps what the world's maps are (maps_text()), likewise.
  std::expected<void, StoreTrouble> save_maps(const std::string& text);
  /// Keeps where the world's maps stand (kept_ground.h), likewise.
  std::expected<void, StoreTrouble> save_footprints(const std::string& text);
  std::expected<void, StoreTrouble> set_aside(const DamagedRow& row, bool forget) override;
  std::expected<void, StoreTrouble> backup(const std::string& file) override;

 private:
  struct Impl;
  explicit SqliteStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace ashlar::server
