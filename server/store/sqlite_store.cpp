#include "server/store/sqlite_store.h"

#include <sqlite3.h>

#include <bit>
#include <filesystem>
#include <mutex>
#include <utility>

#include "protocol/chunk_codec.h"
#include "protocol/inventory_codec.h"
#include "protocol/kept_state_codec.h"
#include "protocol/player_life_codec.h"
#include "server/store/edit_log.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_format.h"
#include "world/math/assert.h"
#include "world/math/hash.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t place_offset = 1 << 20;
constexpr std::int64_t place_mask = (1 << 21) - 1;

constexpr const char* write_ahead = "PRAGMA journal_mode=WAL";

/// Statements that write; made once.
struct WriteStatements {
  Statement begin, commit, rollback, put_chunk, add_chunk, count_chunks, put_meta, put_player, put_items,
      put_state, put_contents, forget_contents, forget_player, add_damaged, forget_chunk;
};

template <class Made>
bool take_statement(const Database& database, const char* sql, Statement& into, Made& failure) {
  auto made = Statement::make(database, sql);
  if (!made) return failure = std::move(made.error()), false;
  into = std::move(*made);
  return true;
}

std::expected<WriteStatements, StoreTrouble> prepare_writing(const Database& db) {
  WriteStatements s;
  StoreTrouble failure;
  const bool good =
      take_statement(db, "BEGIN IMMEDIATE", s.begin, failure) &&
      take_statement(db, "COMMIT", s.commit, failure) &&
      take_statement(db, "ROLLBACK", s.rollback, failure) &&
      take_statement(db, "UPDATE chunks SET hash = ?2, bytes = ?3 WHERE place = ?1", s.put_chunk, failure) &&
      take_statement(db, "INSERT INTO chunks VALUES(?1, ?2, ?3)", s.add_chunk, failure) &&
      take_statement(db, "UPDATE meta SET value = CAST(value + ?1 AS TEXT) WHERE key = 'chunks'",
                     s.count_chunks, failure) &&
      take_statement(db, "INSERT OR REPLACE INTO meta VALUES(?1, ?2)", s.put_meta, failure) &&
      take_statement(db, "INSERT OR REPLACE INTO players VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                     s.put_player, failure) &&
      take_statement(db, "INSERT OR REPLACE INTO items VALUES(0, ?1, ?2)", s.put_items, failure) &&
      take_statement(db, "INSERT OR REPLACE INTO state VALUES(0, ?1, ?2)", s.put_state, failure) &&
      take_statement(db, "INSERT OR REPLACE INTO contents VALUES(?1, ?2, ?3, ?4)", s.put_contents, failure) &&
      take_statement(db, "DELETE FROM contents WHERE place = ?1 AND block = ?2", s.forget_contents,
                     failure) &&
      take_statement(db, "DELETE FROM players WHERE identity = ?1", s.forget_player, failure) &&
      take_statement(db,
                     // Found again at each start it would be kept again and again.
                     "INSERT INTO damaged(kind, place, hash, bytes, reason, tick) SELECT ?1, ?2, ?3, ?4, ?5, "
                     "(SELECT value FROM meta WHERE key = 'tick') WHERE NOT EXISTS (SELECT 1 FROM damaged "
                     "WHERE kind = ?1 AND place = ?2 AND hash = ?3 AND bytes = ?4)",
                     s.add_damaged, failure) &&
      take_statement(db, "DELETE FROM chunks WHERE place = ?1", s.forget_chunk, failure);
  if (!good) return std::unexpected(std::move(failure));
  return s;
}

std::vector<std::uint8_t> inventory_bytes(const Inventory& inventory) {
  std::vector<std::uint8_t> bytes;
  ByteWriter writer(bytes);
  put_inventory(writer, inventory);
  return bytes;
}

/// Empty where there is nothing but what its row says by itself.
std::vector<std::uint8_t> life_bytes(const StoredPlayer& player) {
  std::vector<std::uint8_t> bytes;
  if (player.score == KeptScore{} && player.life == PlayerLife{.health = player.life.health}) return bytes;
  ByteWriter writer(bytes);
  put_life(writer, player.score, player.life);
  return bytes;
}

std::int64_t as_signed(std::uint64_t v) { return std::bit_cast<std::int64_t>(v); }

}  // namespace

std::int64_t chunk_place(ChunkCoord at) {
  ASHLAR_ASSERT(VoxelVolume::in_range(at));
  return (at.x + place_offset) << 42 | (at.y + place_offset) << 21 | (at.z + place_offset);
}

ChunkCoord chunk_at_place(std::int64_t place) {
  const auto part = [place](int shift) {
    return static_cast<std::int32_t>((place >> shift & place_mask) - place_offset);
  };
  return {part(42), part(21), part(0)};
}

std::uint64_t chunk_row_hash(std::int64_t place, std::span<const std::uint8_t> bytes) {
  Hasher h;
  h.add(std::bit_cast<std::uint64_t>(place));
  h.add_bytes(bytes);
  return h.value();
}

std::uint64_t player_row_hash(const StoredPlayer& player, std::span<const std::uint8_t> life) {
  Hasher h;
  h.add_bytes(player.identity);
  h.add(player.position_m);
  h.add(static_cast<std::uint64_t>(player.yaw) | static_cast<std::uint64_t>(player.pitch) << 16 |
        static_cast<std::uint64_t>(player.life.health) << 32);
  // Rows of before there were items hold none, and their hash knows of none.
  if (!player.inventory.empty()) h.add_bytes(inventory_bytes(player.inventory));
  if (!life.empty()) h.add_bytes(life);
  return h.value();
}

struct SqliteStore::Impl {
  Impl(Database a, Database b, WriteStatements c, Statement d, EditLogWriter e)
      : writing(std::move(a)),
        reading(std::move(b)),
        statements(std::move(c)),
        find_chunk(std::move(d)),
        log(std::move(e)) {}

  bool write_group(const SaveGroup& group);
  bool write_log(const SaveGroup& group);
  bool write_chunk(const StoredChunk& chunk, std::int64_t& added);
  bool write_player(const StoredPlayer& player);
  bool write_contents(const StoredContents& contents);
  void put_aside(Statement& row, std::string_view table, const std::string& reason);
  bool has_moved() const;
  /// Runs `body` in a transaction; all of it or nothing.
  template <class Body>
  std::expected<void, StoreTrouble> transaction(const Body& body);
  std::expected<void, StoreTrouble> save_meta(std::string_view key, const std::string& text);
  void remove_files() const;

  mutable std::mutex write_mutex;  // over the next three
  Database writing;
  std::mutex read_mutex;  // over the next two
  Database reading;
  WriteStatements statements;
  Statement find_chunk;
  EditLogWriter log;                          // the writer's
  std::string log_trouble;                    // likewise; of the last group
  bool log_off = false;                       // likewise: it is not tried
  std::vector<std::int64_t> damaged_players;  // rows that load_players() found
  StoredWorld world;
  int older_format = 0;  // that it had; 0: the present one
  std::string copied;
  bool made = false, kept = false;
  bool opening = true;  // in a transaction, which commit_open() ends
};

SqliteStore::SqliteStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

namespace {

/// Looks whose database it is, makes its tables or brings them to the present format, and leaves a
/// transaction open. @return the format that it had; 0: it was empty
std::expected<int, StoreTrouble> begin_open(const Database& writing, const StoredWorld& expected,
                                            const StoreOptions& options) {
  const auto format = store_format_of(writing, options.format);
  if (!format) return format;
  if (*format > 0) {
    const auto world = read_meta(writing);
    if (!world) return std::unexpected(world.error());
    if (auto same = check_world(writing, *world, expected); !same) return std::unexpected(same.error());
  }
  // Nothing was changed so far. Whoever else writes there is found out by the first transaction.
  if (auto good = writing.run("PRAGMA temp_store=MEMORY; PRAGMA synchronous=FULL"); !good)
    return std::unexpected(good.error());
  // The journal's mode is kept in the file: one that stays as it is, unless the start comes about, gets it
  // then (commit_open()).
  if (*format != options.format)
    if (auto good = writing.run(write_ahead); !good) return std::unexpected(good.error());
  if (*format == 0)
    if (auto tables = make_tables(writing, expected); !tables) return std::unexpected(tables.error());
  if (auto begun = writing.run("BEGIN IMMEDIATE"); !begun) return std::unexpected(begun.error());
  if (*format > 0 && *format < options.format)
    if (auto good = upgrade_store(writing, *format, options); !good) return std::unexpected(good.error());
  return format;
}

}  // namespace

std::expected<std::unique_ptr<SqliteStore>, StoreTrouble> SqliteStore::open(const std::string& file,
                                                                            const StoredWorld& expected,
                                                                            const StoreOptions& options) {
  std::error_code ignored;
  // An empty file is what a start leaves that ended before its first transaction.
  const bool made = !fs::exists(file, ignored) || fs::file_size(file, ignored) == 0;
  // Of one that is refused what waits beside it stays as it is; where nothing does, nothing is left there.
  const bool waits = fs::exists(file + "-wal", ignored) && fs::file_size(file + "-wal", ignored) > 0;
  const auto failed = [&](StoreTrouble trouble) {
    if (made)
      for (const char* end : {"", "-wal", "-shm", "-journal"}) fs::remove(file + end, ignored);
    return std::unexpected(std::move(trouble));
  };
  auto writing = Database::open(file, OpenMode::make, options.patience_ms, options.disk);
  if (!writing) return failed(std::move(writing.error()));
  if (waits) writing->change_nothing_on_close();
  const auto format = begin_open(*writing, expected, options);
  if (!format) return failed(format.error());
  auto world = read_meta(*writing);
  if (!world) return failed(world.error());
  auto statements = prepare_writing(*writing);
  if (!statements) return failed(std::move(statements.error()));
  auto reading = Database::open(file, OpenMode::read, options.patience_ms, options.disk);
  if (!reading) return failed(std::move(reading.error()));
  auto find = Statement::make(*reading, "SELECT hash, bytes FROM chunks WHERE place = ?1");
  if (!find) return failed(std::move(find.error()));
  sqlite3_db_config(writing->get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, nullptr);
  auto log = EditLogWriter::make(*writing);
  if (!log) return failed(std::move(log.error()));
  auto impl = std::make_unique<Impl>(std::move(*writing), std::move(*reading), std::move(*statements),
                                     std::move(*find), std::move(*log));
  impl->world = std::move(*world);
  impl->older_format = *format == 0 || *format == options.format ? 0 : *format;
  impl->made = made;
  std::unique_ptr<SqliteStore> store(new SqliteStore(std::move(impl)));
  if (options.tentative) return store;
  if (auto good = store->commit_open(); !good) return std::unexpected(std::move(good.error()));
  return store;
}

std::expected<void, StoreTrouble> SqliteStore::commit_open() {
  Impl& s = *impl_;
  const std::scoped_lock lock(s.write_mutex);
  if (!s.opening) return {};
  if (s.older_format != 0) {
    // The other connection sees it as it was. An upgrade that was cut off has left its copy.
    std::string copy = free_copy_name(s.writing.file(), "format-" + std::to_string(s.older_format));
    if (auto copied = s.reading.copy_to(copy); !copied) return copied;
    s.copied = std::move(copy);
  }
  if (!s.statements.commit.run()) return std::unexpected(s.writing.trouble());
  if (auto good = s.writing.run(write_ahead); !good) return good;
  s.opening = false;
  // A process that was killed between a write and its sync leaves a group that is read here and gone after a
  // power cut. The log is synced before anything of it is copied, so that on a full disk that is done, too.
  auto synced = s.writing.run("PRAGMA wal_checkpoint(PASSIVE)");
  if (!synced && synced.error().kind != StoreTrouble::Kind::full) return synced;
  return {};
}

void SqliteStore::Impl::remove_files() const {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm", "-journal"}) fs::remove(writing.file() + end, ignored);
}

SqliteStore::~SqliteStore() {
  if (impl_->made && !impl_->kept) impl_->remove_files();
}

void SqliteStore::keep() { impl_->kept = true; }
bool SqliteStore::made() const { return impl_->made; }
int SqliteStore::older_format() const { return impl_->older_format; }
const std::string& SqliteStore::copied() const { return impl_->copied; }

StoredWorld SqliteStore::world() const {
  const std::scoped_lock lock(impl_->write_mutex);
  return impl_->world;
}

ChunkLookup SqliteStore::load_chunk(ChunkCoord at) {
  Impl& s = *impl_;
  const std::int64_t place = chunk_place(at);
  const std::scoped_lock lock(s.read_mutex);
  const int code = s.find_chunk.bind(1, place).step();
  ChunkLookup found;
  if (code == SQLITE_ROW) {
    const std::uint64_t hash = std::bit_cast<std::uint64_t>(s.find_chunk.whole(0));
    const auto bytes = s.find_chunk.bytes(1);
    const bool too_long = bytes.size() > chunk_bytes_max;
    const bool good = !too_long && chunk_row_hash(place, bytes) == hash;
    found.kind = good ? ChunkLookup::Kind::found : ChunkLookup::Kind::damaged;
    // Damage as long as it likes is kept aside as far as a chunk may reach.
    std::vector<std::uint8_t> copy(bytes.begin(), too_long ? bytes.begin() + chunk_bytes_max : bytes.end());
    if (good)
      found.bytes = std::move(copy);
    else
      found.damage = {at, std::move(copy), hash,
                      too_long ? "it is too long" : "its bytes do not agree with their hash"};
  } else if (code != SQLITE_DONE) {
    const StoreTrouble trouble = s.reading.trouble(code);
    found.kind = trouble.kind == StoreTrouble::Kind::damaged ? ChunkLookup::Kind::damaged
                                                             : ChunkLookup::Kind::unreadable;
    found.damage = {at, {}, 0, trouble.line};
  }
  s.find_chunk.reset();
  return found;
}

std::expected<StoredPlayers, StoreTrouble> SqliteStore::load_players() {
  Impl& s = *impl_;
  const std::scoped_lock lock(s.write_mutex);
  auto rows =
      Statement::make(s.writing,
                      "SELECT identity, x, y, z, yaw, pitch, health, hash, items, life, rowid FROM players "
                      "ORDER BY rowid");
  if (!rows) return std::unexpected(std::move(rows.error()));
  StoredPlayers found;
  s.damaged_players.clear();
  int code = rows->step();
  for (; code == SQLITE_ROW; code = rows->step()) {
    if (auto player = read_player_row(*rows)) {
      found.players.push_back(*player);
    } else {
      found.damaged.emplace_back(rows->bytes(0).begin(), rows->bytes(0).end());
      s.damaged_players.push_back(rows->whole(10));
    }
  }
  if (code != SQLITE_DONE) return std::unexpected(s.writing.trouble(code));
  return found;
}

std::expected<void, StoreTrouble> SqliteStore::set_aside_players() {
  Impl& s = *impl_;
  const std::scoped_lock lock(s.write_mutex);
  if (s.damaged_players.empty()) return {};
  // Older versions of SQLite quote what is infinite as "Inf", which they do not read.
  std::string values;
  for (const std::string column :
       {"identity", "x", "y", "z", "yaw", "pitch", "health", "hash", "items", "life"})
    values += (values.empty() ? "CASE WHEN " : " || ', ' || CASE WHEN ") + column +
              " = 9e999 THEN '9e999' WHEN " + column + " = -9e999 THEN '-9e999' ELSE quote(" + column +
              ") END";
  auto keep = Statement::make(
      s.writing,
      ("INSERT INTO damaged(kind, place, hash, bytes, reason, tick) SELECT 'player', identity, hash, "
       "CAST('INSERT OR REPLACE INTO players(identity, x, y, z, yaw, pitch, health, hash, items, life) "
       "VALUES(' || " +
       values +
       " || ')' AS BLOB), 'its values do not agree with their hash', (SELECT value FROM meta WHERE key = "
       "'tick') "
       "FROM players WHERE rowid = ?1")
          .c_str());
  auto forget = Statement::make(s.writing, "DELETE FROM players WHERE rowid = ?1");
  if (!keep || !forget) return std::unexpected(keep ? std::move(forget.error()) : std::move(keep.error()));
  auto done = s.transaction([&] {
    for (const std::int64_t row : s.damaged_players)
      if (!keep->bind(1, row).run() || !forget->bind(1, row).run()) return false;
    return true;
  });
  if (done) s.damaged_players.clear();
  return done;
}

std::expected<StoredItems, StoreTrouble> SqliteStore::load_items() {
  Impl& s = *impl_;
  const std::scoped_lock lock(s.write_mutex);
  auto row = Statement::make(s.writing, "SELECT hash, bytes FROM items WHERE place = 0");
  if (!row) return std::unexpected(std::move(row.error()));
  StoredItems found;
  const int code = row->step();
  if (code == SQLITE_DONE) return found;
  if (code != SQLITE_ROW) return std::unexpected(s.writing.trouble(code));
  const auto bytes = row->bytes(1);
  auto items = decode_items(bytes);
  if (chunk_row_hash(0, bytes) != std::bit_cast<std::uint64_t>(row->whole(0)))
    found.damage = "the list does not agree with its hash";
  else if (!items)
    found.damage = describe(items.error());
  else
    found.items = std::move(*items);
  if (found.damage.empty()) return found;
  s.put_aside(*row, "items", found.damage);
  return found;
}

/// Keeps the single row of a table aside. Precondition: it was stepped to, as hash and bytes.
void SqliteStore::Impl::put_aside(Statement& row, std::string_view table, const std::string& reason) {
  // What is bound is not copied, and what a row holds is gone when the next statement may run.
  const auto bytes = row.bytes(1);
  const std::vector<std::uint8_t> damaged(bytes.begin(), bytes.end());
  const std::int64_t hash = row.whole(0);
  row.reset();
  statements.add_damaged.bind(1, table)
      .bind(2, std::int64_t{0})
      .bind(3, hash)
      .bind(4, std::span<const std::uint8_t>(damaged))
      .bind(5, std::string_view(reason));
  static_cast<void>(statements.add_damaged.run());
}

std::expected<StoredState, StoreTrouble> SqliteStore::load_state() {
  Impl& s = *impl_;
  const std::scoped_lock lock(s.write_mutex);
  auto row = Statement::make(s.writing, "SELECT hash, bytes FROM state WHERE place = 0");
  if (!row) return std::unexpected(std::move(row.error()));
  StoredState found;
  const int code = row->step();
  if (code == SQLITE_DONE) return found;
  if (code != SQLITE_ROW) return std::unexpected(s.writing.trouble(code));
  const auto bytes = row->bytes(1);
  auto state = decode_kept_state(bytes);
  if (chunk_row_hash(0, bytes) != std::bit_cast<std::uint64_t>(row->whole(0)))
    found.damage = "it does not agree with its hash";
  else if (!state)
    found.damage = describe(state.error());
  else
    found.state = std::make_shared<const KeptState>(std::move(*state));
  if (!found.damage.empty()) s.put_aside(*row, "state", found.damage);
  return found;
}

std::expected<StoredContentsList, StoreTrouble> SqliteStore::load_contents() {
  Impl& s = *impl_;
  const std::scoped_lock lock(s.write_mutex);
  auto rows =
      Statement::make(s.writing, "SELECT place, block, hash, bytes FROM contents ORDER BY place, block");
  if (!rows) return std::unexpected(std::move(rows.error()));
  struct Damaged {
    std::int64_t place = 0, hash = 0;
    std::vector<std::uint8_t> bytes;
  };
  StoredContentsList found;
  std::vector<Damaged> damaged;
  int code = rows->step();
  for (; code == SQLITE_ROW; code = rows->step()) {
    if (auto one = read_contents_row(*rows))
      found.contents.push_back(std::move(*one));
    else
      damaged.push_back({rows->whole(0), rows->whole(2), {rows->bytes(3).begin(), rows->bytes(3).end()}});
  }
  if (code != SQLITE_DONE) return std::unexpected(s.writing.trouble(code));
  rows->reset();
  for (const Damaged& row : damaged) {
    s.statements.add_damaged.bind(1, std::string_view("contents"))
        .bind(2, row.place)
        .bind(3, row.hash)
        .bind(4, std::span<const std::uint8_t>(row.bytes))
        .bind(5, std::string_view("the bytes make no sense, or do not agree with their hash"));
    static_cast<void>(s.statements.add_damaged.run());
  }
  found.damaged = damaged.size();
  return found;
}

bool SqliteStore::Impl::write_chunk(const StoredChunk& chunk, std::int64_t& added) {
  const std::int64_t place = chunk_place(chunk.at);
  const std::span<const std::uint8_t> bytes(chunk.bytes);
  const std::int64_t hash = as_signed(chunk_row_hash(place, bytes));
  if (!statements.put_chunk.bind(1, place).bind(2, hash).bind(3, bytes).run()) return false;
  if (sqlite3_changes(writing.get()) > 0) return true;
  ++added;
  return statements.add_chunk.bind(1, place).bind(2, hash).bind(3, bytes).run();
}

bool SqliteStore::Impl::write_player(const StoredPlayer& player) {
  if (player.gone)
    return statements.forget_player.bind(1, std::span<const std::uint8_t>(player.identity)).run();
  const std::vector<std::uint8_t> life = life_bytes(player);
  return statements.put_player.bind(1, std::span<const std::uint8_t>(player.identity))
      .bind(2, player.position_m.x)
      .bind(3, player.position_m.y)
      .bind(4, player.position_m.z)
      .bind(5, static_cast<std::int64_t>(player.yaw))
      .bind(6, static_cast<std::int64_t>(player.pitch))
      .bind(7, std::int64_t{player.life.health})
      .bind(8, as_signed(player_row_hash(player, life)))
      .bind(9, std::span<const std::uint8_t>(inventory_bytes(player.inventory)))
      .bind(10, std::span<const std::uint8_t>(life))
      .run();
}

bool SqliteStore::Impl::write_contents(const StoredContents& contents) {
  const std::int64_t place = chunk_place(chunk_of(contents.block));
  const auto index = static_cast<std::int64_t>(index_in_chunk(local_in_chunk(contents.block)));
  const std::span<const std::uint8_t> bytes(contents.bytes);
  if (bytes.empty()) return statements.forget_contents.bind(1, place).bind(2, index).run();
  return statements.put_contents.bind(1, place)
      .bind(2, index)
      .bind(3, as_signed(contents_row_hash(contents.block, bytes)))
      .bind(4, bytes)
      .run();
}

bool SqliteStore::Impl::write_group(const SaveGroup& group) {
  std::int64_t added = 0;
  for (const StoredChunk& chunk : group.chunks)
    if (!write_chunk(chunk, added)) return false;
  for (const StoredPlayer& player : group.players)
    if (!write_player(player)) return false;
  for (const StoredContents& contents : group.contents)
    if (!write_contents(contents)) return false;
  if (!group.items.empty() &&
      !statements.put_items.bind(1, as_signed(chunk_row_hash(0, group.items))).bind(2, group.items).run())
    return false;
  if (!group.state.empty() &&
      !statements.put_state.bind(1, as_signed(chunk_row_hash(0, group.state))).bind(2, group.state).run())
    return false;
  if (added > 0 && !statements.count_chunks.bind(1, added).run()) return false;
  if (group.tick_rate_hz > 0) {
    const std::string rate = std::to_string(group.tick_rate_hz);
    if (!statements.put_meta.bind(1, std::string_view("tick_rate")).bind(2, std::string_view(rate)).run())
      return false;
  }
  const std::string tick = std::to_string(group.tick);
  return statements.put_meta.bind(1, std::string_view("tick")).bind(2, std::string_view(tick)).run();
}

bool SqliteStore::Impl::write_log(const SaveGroup& group) {
  if (!log.write(group.authors, group.edits)) return false;
  return group.now_s == 0 || log.prune(group.now_s, group.limits, group.edits.size());
}

/// What is written to a file that has no name any more is gone with the process. (The library says nothing
/// of it while there is a write-ahead log.)
bool SqliteStore::Impl::has_moved() const {
  int moved = 0;
  // Disks that do not know say nothing.
  return sqlite3_file_control(writing.get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
         moved != 0;
}

template <class Body>
std::expected<void, StoreTrouble> SqliteStore::Impl::transaction(const Body& body) {
  if (has_moved())
    return std::unexpected(StoreTrouble{
        {},
        writing.file() +
            " was removed, or moved away, under the running server, and nothing is kept any more: move it "
            "back, or end the server and restore the world from a backup"});
  if (statements.begin.run() && body() && statements.commit.run()) return {};
  StoreTrouble trouble = writing.trouble();
  if (writing.in_transaction()) static_cast<void>(statements.rollback.run());
  return std::unexpected(std::move(trouble));
}

std::expected<void, StoreTrouble> SqliteStore::save(const SaveGroup& group) {
  Impl& s = *impl_;
  const std::scoped_lock lock(s.write_mutex);
  bool in_log = false;
  const auto write = [&](bool with_log) {
    return s.transaction([&] {
      if (!s.write_group(group)) return false;
      in_log = with_log;
      return !with_log || s.write_log(group);
    });
  };
  const bool with_log = !s.log_off;
  auto done = write(with_log);
  if (done && with_log) s.log_trouble.clear(), s.log.note_committed();
  if (!done && with_log && in_log) {
    // Nothing in play reads the log: the world must not be lost for a page of it. A full or held disk is
    // none, and what else the machine says may pass.
    using Kind = StoreTrouble::Kind;
    const Kind kind = done.error().kind;
    const bool torn = kind == Kind::damaged || kind == Kind::foreign;
    if (torn || kind == Kind::machine) {
      std::string why = std::move(done.error().line);
      done = write(false);
      if (done) s.log_trouble = std::move(why), s.log_off = torn;
    }
  }
  // A disk that took nothing for a while may have been what was wrong.
  if (!done) s.log_off = false;
  if (done) s.world.tick = group.tick;
  if (done && group.tick_rate_hz > 0) s.world.tick_rate_hz = group.tick_rate_hz;
  return done;
}

std::string SqliteStore::log_trouble() {
  const std::scoped_lock lock(impl_->write_mutex);
  return impl_->log_trouble;
}

bool SqliteStore::log_off() {
  const std::scoped_lock lock(impl_->write_mutex);
  return impl_->log_off;
}

std::expected<void, StoreTrouble> SqliteStore::Impl::save_meta(std::string_view key,
                                                               const std::string& text) {
  return transaction([&] { return statements.put_meta.bind(1, key).bind(2, std::string_view(text)).run(); });
}

std::expected<void, StoreTrouble> SqliteStore::save_blocks(const std::string& text) {
  const std::scoped_lock lock(impl_->write_mutex);
  auto done = impl_->save_meta("blocks", text);
  if (done) impl_->world.blocks = text;
  return done;
}

std::expected<void, StoreTrouble> SqliteStore::save_maps(const std::string& text) {
  const std::scoped_lock lock(impl_->write_mutex);
  auto done = impl_->save_meta("maps", text);
  if (done) impl_->world.maps = text;
  return done;
}

std::expected<void, StoreTrouble> SqliteStore::save_footprints(const std::string& text) {
  const std::scoped_lock lock(impl_->write_mutex);
  auto done = impl_->save_meta("footprints", text);
  if (done) impl_->world.footprints = text;
  return done;
}

std::expected<void, StoreTrouble> SqliteStore::set_aside(const DamagedRow& row, bool forget) {
  Impl& s = *impl_;
  const std::int64_t place = chunk_place(row.at);
  const std::scoped_lock lock(s.write_mutex);
  return s.transaction([&] {
    const bool kept = s.statements.add_damaged.bind(1, std::string_view("chunk"))
                          .bind(2, place)
                          .bind(3, as_signed(row.hash))
                          .bind(4, std::span<const std::uint8_t>(row.bytes))
                          .bind(5, std::string_view(row.reason))
                          .run();
    if (!kept || !forget) return kept;
    if (!s.statements.forget_chunk.bind(1, place).run()) return false;
    if (sqlite3_changes(s.writing.get()) == 0) return true;
    return s.statements.count_chunks.bind(1, std::int64_t{-1}).run();
  });
}

std::expected<void, StoreTrouble> SqliteStore::backup(const std::string& file) {
  const std::scoped_lock lock(impl_->write_mutex);
  return impl_->writing.copy_to(file);
}

}  // namespace ashlar::server
