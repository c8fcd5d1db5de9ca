#include "server/store/sqlite_format.h"

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "protocol/inventory_codec.h"
#include "protocol/player_life_codec.h"
#include "server/store/edit_log.h"
#include "server/store/sqlite_store.h"
#include "world/math/hash.h"
#include "world/sim/rules.h"
#include "world/voxel/chunk.h"
#include "world/voxel/chunk_place.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

using Kind = StoreTrouble::Kind;

constexpr const char* tables_sql = R"(
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE chunks(place INTEGER PRIMARY KEY, hash INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE players(identity BLOB PRIMARY KEY, x REAL NOT NULL, y REAL NOT NULL, z REAL NOT NULL,
  yaw INTEGER NOT NULL, pitch INTEGER NOT NULL, health INTEGER NOT NULL, hash INTEGER NOT NULL,
  items BLOB NOT NULL DEFAULT x'', life BLOB NOT NULL DEFAULT x'');
CREATE TABLE items(place INTEGER PRIMARY KEY, hash INTEGER NOT NULL, bytes BLOB NOT NULL);
CREATE TABLE damaged(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, place, hash INTEGER, bytes BLOB,
  reason TEXT NOT NULL, tick TEXT NOT NULL);
CREATE VIEW chunk_places AS SELECT (place >> 42) - 1048576 AS x, (place >> 21 & 2097151) - 1048576 AS y,
  (place & 2097151) - 1048576 AS z, length(bytes) AS size FROM chunks;
)";

/// The log of edits (edit_log.h).
constexpr const char* edit_tables_sql = R"(
CREATE TABLE authors(id INTEGER PRIMARY KEY, identity BLOB NOT NULL UNIQUE, name TEXT NOT NULL);
CREATE TABLE edits(id INTEGER PRIMARY KEY, time INTEGER NOT NULL, author INTEGER NOT NULL,
  place INTEGER NOT NULL, block INTEGER NOT NULL, before INTEGER NOT NULL, after INTEGER NOT NULL);
CREATE INDEX edits_by_place ON edits(place, block);
CREATE INDEX edits_by_author ON edits(author, time);
CREATE INDEX edits_by_time ON edits(time);
)";

/// What blocks hold, and in the log of edits what they held before.
constexpr const char* contents_sql = R"(
CREATE TABLE contents(place INTEGER NOT NULL, block INTEGER NOT NULL, hash INTEGER NOT NULL,
  bytes BLOB NOT NULL, PRIMARY KEY(place, block)) WITHOUT ROWID;
ALTER TABLE edits ADD COLUMN held BLOB;
)";

/// What else the world is at: one row (protocol/kept_state_codec.h).
constexpr const char* state_sql = R"(
CREATE TABLE state(place INTEGER PRIMARY KEY, hash INTEGER NOT NULL, bytes BLOB NOT NULL);
)";

/// The log's index by place: of all that happened in a cell, the newest lies at its end.
constexpr const char* cells_sql = R"(
DROP INDEX edits_by_place;
ALTER TABLE edits ADD COLUMN cell INTEGER GENERATED ALWAYS AS (
  ((((place >> 42) - 1015808) << 2 | (block >> 8 & 3)) << 28) |
  ((((place >> 21 & 2097151) - 1015808) << 2 | (block >> 13 & 3)) << 10) |
  (((place & 2097151) - 1048448) << 2) | (block >> 3 & 3));
CREATE INDEX edits_by_cell ON edits(cell, time, block, author);
)";

/// Formats before the present one, the oldest first.
constexpr UpgradeStep upgrade_steps[] = {
    {1,
     "ALTER TABLE players ADD COLUMN items BLOB NOT NULL DEFAULT x'';"
     "CREATE TABLE items(place INTEGER PRIMARY KEY, hash INTEGER NOT NULL, bytes BLOB NOT NULL);"},
    {2, edit_tables_sql},
    {3, contents_sql},
    {4, state_sql},
    {5, "ALTER TABLE players ADD COLUMN life BLOB NOT NULL DEFAULT x'';"},
    {6, ""},  // the same tables: older builds read no timers of blocks, and not who built what
    {7, cells_sql},
};

template <class Number>
std::optional<Number> meta_number(const std::string& text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A number of a row that has to be what fits `Target`.
template <class Target>
bool column_fits(std::int64_t value, Target& target) {
  target = static_cast<Target>(value);
  return static_cast<std::int64_t>(target) == value;
}

StoreTrouble foreign(const std::string& line) { return {Kind::foreign, line}; }

}  // namespace

std::expected<int, StoreTrouble> store_format_of(const Database& database, int known) {
  const auto application = database.number("PRAGMA application_id");
  if (!application) return std::unexpected(application.error());
  const auto format = database.number("PRAGMA user_version");
  if (!format) return std::unexpected(format.error());
  const auto tables = database.number("SELECT count(*) FROM sqlite_master");
  if (!tables) return std::unexpected(tables.error());
  if (*application == 0 && *format == 0 && *tables == 0) return 0;
  if (*application != store_application)
    return std::unexpected(
        foreign(database.file() + " is no world's database: move it away, or restore it from a backup"));
  if (*format > known)
    return std::unexpected(
        StoreTrouble{Kind::newer, database.file() + " is of format " + std::to_string(*format) +
                                      ", this build knows " + std::to_string(known) +
                                      " and older ones: run the newer ashlar-server, or restore a backup"});
  if (*format < 1)
    return std::unexpected(
        StoreTrouble{Kind::damaged, database.file() + " names no format: restore a backup"});
  return static_cast<int>(*format);
}

std::expected<void, StoreTrouble> make_tables(const Database& database, const StoredWorld& world) {
  const std::string head = "BEGIN IMMEDIATE; PRAGMA application_id=" + std::to_string(store_application) +
                           "; PRAGMA user_version=" + std::to_string(store_format) + ";";
  if (auto good = database.run(head.c_str()); !good) return good;
  auto made = database.run(tables_sql);
  if (made) made = database.run(edit_tables_sql);
  if (made) made = database.run(contents_sql);
  if (made) made = database.run(state_sql);
  if (made) made = database.run(cells_sql);
  auto row = Statement::make(database, "INSERT INTO meta VALUES(?1, ?2)");
  if (!made || !row) {
    static_cast<void>(database.run("ROLLBACK"));
    return std::unexpected(made ? row.error() : made.error());
  }
  const std::pair<std::string_view, std::string> values[] = {{"seed", std::to_string(world.seed)},
                                                             {"terrain", world.terrain},
                                                             {"generator", std::to_string(world.generator)},
                                                             {"tick", "0"},
                                                             {"chunks", "0"}};
  for (const auto& [key, value] : values) {
    if (row->bind(1, key).bind(2, std::string_view(value)).run()) continue;
    StoreTrouble trouble = database.trouble();
    static_cast<void>(database.run("ROLLBACK"));
    return std::unexpected(std::move(trouble));
  }
  auto committed = database.run("COMMIT");
  if (!committed && database.in_transaction()) static_cast<void>(database.run("ROLLBACK"));
  return committed;
}

std::expected<void, StoreTrouble> upgrade_store(const Database& database, int from,
                                                const StoreOptions& options) {
  int format = from;
  const auto steps = options.steps.empty() ? std::span<const UpgradeStep>(upgrade_steps) : options.steps;
  for (const UpgradeStep& step : steps) {
    if (step.from != format) continue;
    if (auto good = database.run(step.sql); !good) return good;
    ++format;
  }
  if (format != options.format)
    return std::unexpected(StoreTrouble{
        Kind::foreign,
        database.file() + " is of format " + std::to_string(from) + ", which this build cannot upgrade"});
  return database.run(("PRAGMA user_version=" + std::to_string(options.format)).c_str());
}

std::string free_copy_name(const std::string& file, const std::string& ending) {
  const std::string first = file + "." + ending;
  std::string name = first;
  std::error_code ignored;
  for (int number = 2; std::filesystem::exists(name, ignored); ++number)
    name = first + "-" + std::to_string(number);
  return name;
}

std::expected<StoredWorld, StoreTrouble> read_meta(const Database& database) {
  auto rows = Statement::make(database, "SELECT key, value FROM meta");
  if (!rows) return std::unexpected(std::move(rows.error()));
  std::optional<std::uint64_t> seed, tick, chunks;
  std::optional<std::uint32_t> generator;
  StoredWorld world;
  int code = rows->step();
  for (; code == SQLITE_ROW; code = rows->step()) {
    const std::string key = rows->text(0), value = rows->text(1);
    if (key == "seed") seed = meta_number<std::uint64_t>(value);
    if (key == "tick") tick = meta_number<std::uint64_t>(value);
    if (key == "chunks") chunks = meta_number<std::uint64_t>(value);
    if (key == "generator") generator = meta_number<std::uint32_t>(value);
    if (key == "tick_rate") world.tick_rate_hz = meta_number<std::uint16_t>(value).value_or(0);
    if (key == "terrain") world.terrain = value;
    if (key == "blocks") world.blocks = value;
    if (key == "maps") world.maps = value;
    if (key == "footprints") world.footprints = value;
  }
  if (code != SQLITE_DONE) return std::unexpected(database.trouble(code));
  if (!seed || !tick || !chunks || !generator)
    return std::unexpected(StoreTrouble{
        Kind::damaged,
        database.file() + " does not say whose world it is (table meta): restore it from a backup"});
  world.seed = *seed;
  world.tick = *tick;
  world.chunks = *chunks;
  world.generator = *generator;
  return world;
}

std::optional<StoredPlayer> read_player_row(const Statement& row) {
  StoredPlayer player{.identity = {}, .position_m = {row.real(1), row.real(2), row.real(3)}};
  const auto identity = row.bytes(0);
  if (identity.size() != player.identity.size()) return std::nullopt;
  std::ranges::copy(identity, player.identity.begin());
  std::uint16_t yaw = 0, pitch = 0;
  const bool whole = column_fits(row.whole(4), yaw) && column_fits(row.whole(5), pitch) &&
                     column_fits(row.whole(6), player.life.health);
  player.yaw = Turn16{yaw};
  player.pitch = Turn16{pitch};
  if (!whole || !in_bounds(player.position_m)) return std::nullopt;
  if (const auto items = row.bytes(8); !items.empty()) {
    ByteReader reader(items);
    if (!get_inventory(reader, player.inventory) || !reader.at_end()) return std::nullopt;
  }
  // Rows of before there was one have none.
  const auto life = row.bytes(9);
  if (!life.empty()) {
    const std::uint16_t health = player.life.health;
    ByteReader reader(life);
    if (!get_life(reader, player.score, player.life) || !reader.at_end() || player.life.health != health)
      return std::nullopt;
  }
  if (player_row_hash(player, life) != std::bit_cast<std::uint64_t>(row.whole(7))) return std::nullopt;
  return player;
}

std::optional<PlacedData> read_contents_row(const Statement& row) {
  const std::int64_t place = row.whole(0), index = row.whole(1);
  const ChunkCoord chunk = chunk_at_place(place);
  const auto bytes = row.bytes(3);
  if (place <= 0 || !VoxelVolume::in_range(chunk) || index < 0 || index >= std::int64_t{chunk_blocks})
    return std::nullopt;
  const IVec3 block = block_of_index(chunk, static_cast<std::uint32_t>(index));
  if (contents_row_hash(block, bytes) != std::bit_cast<std::uint64_t>(row.whole(2))) return std::nullopt;
  const auto data = decode_block_data(bytes);
  if (!data) return std::nullopt;
  return PlacedData{block, *data};
}

std::uint64_t contents_row_hash(IVec3 block, std::span<const std::uint8_t> bytes) {
  Hasher h;
  h.add(block);
  h.add_bytes(bytes);
  return h.value();
}

std::expected<void, StoreTrouble> check_world(const Database& database, const StoredWorld& stored,
                                              const StoredWorld& expected) {
  const auto other = [&](const std::string& what, const std::string& there, const std::string& here) {
    return std::unexpected(foreign(database.file() + " is of a world with " + what + " " + there +
                                   ", world.toml beside it says " + here +
                                   ": restore the one that belongs to it, or move it away"));
  };
  if (stored.seed != expected.seed)
    return other("seed", std::to_string(stored.seed), std::to_string(expected.seed));
  if (!stored.terrain.empty() && !expected.terrain.empty() && stored.terrain != expected.terrain)
    return other("terrain", stored.terrain, expected.terrain);
  if (stored.generator != 0 && expected.generator != 0 && stored.generator != expected.generator)
    return other("generator version", std::to_string(stored.generator), std::to_string(expected.generator));
  return {};
}

}  // namespace ashlar::server
