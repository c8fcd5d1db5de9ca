#include "server/store/salvage.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "server/store/edit_log.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_format.h"
#include "server/store/sqlite_store.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

using Outcome = std::expected<void, StoreTrouble>;
using Expected = std::expected<StoredWorld, std::string>;

struct FinishRaw {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
/// The library's own: values of any type are handed on.
using RawStatement = std::unique_ptr<sqlite3_stmt, FinishRaw>;

RawStatement prepare_raw(const Database& database, const std::string& sql) {
  sqlite3_stmt* made = nullptr;
  sqlite3_prepare_v2(database.get(), sql.c_str(), -1, &made, nullptr);
  return RawStatement(made);
}

/// A thing of the schema.
struct SchemaEntry {
  std::string type, name, sql;
};

class Salvaging {
 public:
  Salvaging(const Database& from, const Database& to, const Expected& expected, bool drop_log)
      : from_(from), to_(to), expected_(expected), drop_log_(drop_log) {}

  Outcome copy_all() {
    auto entries = schema();
    if (!entries) return std::unexpected(std::move(entries.error()));
    for (const char* number : {"application_id", "user_version"}) {
      const auto value = from_.number((std::string("PRAGMA ") + number).c_str());
      if (!value) return std::unexpected(value.error());
      if (auto set = to_.run(("PRAGMA " + std::string(number) + "=" + std::to_string(*value)).c_str()); !set)
        return set;
    }
    if (auto begun = to_.run("BEGIN"); !begun) return begun;
    for (const SchemaEntry& entry : *entries)
      if (entry.type == "table")
        if (auto good = copy_table(entry); !good) return good;
    for (const SchemaEntry& entry : *entries)
      if (entry.type != "table")
        if (auto good = to_.run(entry.sql.c_str()); !good) return good;
    if (auto named = name_lost_authors(); !named) return named;
    if (auto good = complete_meta(); !good) return good;
    return to_.run(
        "UPDATE meta SET value = (SELECT CAST(count(*) AS TEXT) FROM chunks) WHERE key = 'chunks'; COMMIT");
  }

  std::vector<SalvagedTable> tables;
  std::vector<std::string> made_up;

 private:
  /// Edits whose author was on a torn page keep what they tell, each such author under a name of its own.
  Outcome name_lost_authors() {
    const auto log = to_.number("SELECT count(*) FROM sqlite_master WHERE name IN ('edits', 'authors')");
    if (!log) return std::unexpected(log.error());
    if (*log != 2) return {};  // of a format that had none
    return to_.run(
        "INSERT INTO authors(id, identity, name) SELECT DISTINCT author, "
        "CAST(printf('lost author %020d', author) AS BLOB), 'lost-' || author FROM edits "
        "WHERE author NOT IN (SELECT id FROM authors)");
  }

  /// What a start cannot do without, where its row was on a torn page or is no number.
  Outcome complete_meta() {
    const StoredWorld world = expected_.value_or(StoredWorld{});
    const struct {
      const char* key;
      int digits;  // at most; 0: a word
      std::string value;
      const char* said;
    } rows[] = {{"seed", 20, std::to_string(world.seed), "seed: from world.toml"},
                {"terrain", 0, world.terrain, "terrain: from world.toml"},
                {"generator", 10, std::to_string(world.generator),
                 "generator: that of this build: of a world of an older one the ground is another where "
                 "nothing was changed"},
                {"tick", 20, "0", "tick: begins at 0, and with it the day and what blocks wait for"},
                {"chunks", 20, "0", ""}};  // counted at the end
    auto put = Statement::make(to_, "INSERT OR REPLACE INTO meta VALUES(?1, ?2)");
    if (!put) return std::unexpected(std::move(put.error()));
    for (const auto& row : rows) {
      const bool word = row.digits == 0;  // a database of before it was kept has none
      const std::string good = word ? ""
                                    : " AND length(value) BETWEEN 1 AND " + std::to_string(row.digits) +
                                          " AND value NOT GLOB '*[^0-9]*'";
      const auto there = meta_rows(row.key, good);
      if (!there) return std::unexpected(there.error());
      if (*there != 0 || (word && !meta_torn())) continue;
      if (!expected_)
        return std::unexpected(StoreTrouble{
            {}, from_.file() + " does not say whose world it is (table meta), and " + expected_.error()});
      if (!put->bind(1, std::string_view(row.key)).bind(2, std::string_view(row.value)).run())
        return std::unexpected(to_.trouble());
      if (*row.said != '\0') made_up.emplace_back(row.said);
    }
    return meta_torn() ? complete_rest() : Outcome{};
  }
  /// How many there are of the copy's meta. @param good  more of the condition, from " AND" on
  std::expected<std::int64_t, StoreTrouble> meta_rows(const char* key, const std::string& good = "") {
    return to_.number(("SELECT count(*) FROM meta WHERE key = '" + std::string(key) + "'" + good).c_str());
  }
  /// What a start does without, where it may have been on a torn page.
  Outcome complete_rest() {
    const auto lacks = [this](const char* key) {
      const auto there = meta_rows(key);
      return there && *there == 0;
    };
    if (lacks("blocks"))
      made_up.emplace_back(
          "blocks: the kinds are lost: start with the file of --blocks that the world had, or none");
    if (lacks("footprints"))
      made_up.emplace_back("footprints: where its maps stood may be lost: start with the same ones");
    if (!lacks(world_rows_since_key)) return {};
    // Else world prune would take the log for whole, and throw away what is not in it any more.
    made_up.emplace_back(
        "log_world_since: of what the world did by itself the log may lack some: it counts from now on");
    return to_.run(
        (std::string("INSERT INTO meta VALUES('") + world_rows_since_key + "', strftime('%s', 'now'))")
            .c_str());
  }
  bool meta_torn() const {
    return std::ranges::any_of(tables, [](const SalvagedTable& t) { return t.name == "meta" && t.torn; });
  }

  std::expected<std::vector<SchemaEntry>, StoreTrouble> schema() {
    auto rows = Statement::make(from_, "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL");
    if (!rows) return std::unexpected(std::move(rows.error()));
    std::vector<SchemaEntry> entries;
    int code = rows->step();
    for (; code == SQLITE_ROW; code = rows->step())
      entries.push_back({rows->text(0), rows->text(1), rows->text(2)});
    if (code != SQLITE_DONE) return std::unexpected(from_.trouble(code));
    return entries;
  }

  Outcome copy_table(const SchemaEntry& table) {
    if (auto made = to_.run(table.sql.c_str()); !made) return made;
    const bool log = table.name == "edits" || table.name == "authors";
    if (log && drop_log_) return {};
    auto info = Statement::make(from_, ("PRAGMA table_info(" + table.name + ")").c_str());
    if (!info) return std::unexpected(std::move(info.error()));
    std::string columns, places, first_key, word_key;
    for (int code = info->step(), count = 0; code == SQLITE_ROW; code = info->step()) {
      columns += (count == 0 ? "" : ", ") + info->text(1);
      places += (count == 0 ? "?" : ", ?") + std::to_string(count + 1);
      if (info->whole(5) == 1 && info->text(2) == "INTEGER") first_key = info->text(1);
      if (info->whole(5) == 1 && info->text(2) == "TEXT") word_key = info->text(1);
      ++count;
    }
    const bool has_rowid = table.sql.find("WITHOUT ROWID") == std::string::npos;
    const std::string key = has_rowid ? "rowid" : first_key;
    SalvagedTable& done = tables.emplace_back();
    done.name = table.name;
    const std::string where = key.empty() ? "" : " WHERE " + key + " >= ?1 ORDER BY " + key;
    const RawStatement put =
        prepare_raw(to_, "INSERT OR IGNORE INTO " + table.name + "(" + columns + ") VALUES(" + places + ")");
    if (put == nullptr) return std::unexpected(to_.trouble());
    const std::string read = "SELECT " + (key.empty() ? std::string("0") : key) + ", " + columns + " FROM " +
                             table.name + (has_rowid ? " NOT INDEXED" : "") + where;
    std::optional<std::int64_t> at = std::numeric_limits<std::int64_t>::min();
    while (at) {
      std::int64_t last = *at;
      const auto whole = copy_rows(read, last, *put, done);
      if (!whole) return std::unexpected(whole.error());
      if (*whole) break;
      done.torn = true;
      if (key.empty()) {  // no numbers to go on behind it with: from the other end, up to there
        const auto rest = copy_rows(read + " ORDER BY " + word_key + " DESC", last, *put, done);
        if (!rest) return std::unexpected(rest.error());
        break;
      }
      at = next_readable(read, last);
    }
    return {};
  }

  /// Copies from a key on. @param last  that key; becomes the last good one that was read, never a lower one
  /// @return false: there it is torn
  std::expected<bool, StoreTrouble> copy_rows(const std::string& sql, std::int64_t& last, sqlite3_stmt& put,
                                              SalvagedTable& done) {
    const RawStatement read = prepare_raw(from_, sql);
    if (read == nullptr) return false;
    sqlite3_bind_int64(read.get(), 1, last);
    std::int64_t before = last;  // the good key before the last one
    int code = sqlite3_step(read.get());
    for (; code == SQLITE_ROW; code = sqlite3_step(read.get())) {
      // Keys ascend. Where one does not, it is wrong itself, or the one before it was too high.
      const std::int64_t here = sqlite3_column_int64(read.get(), 0);
      if (here < last) done.torn = true;
      if (here < before) continue;
      if (here >= last) before = last;
      last = here;
      for (int i = 1; i < sqlite3_column_count(read.get()); ++i)
        sqlite3_bind_value(&put, i, sqlite3_column_value(read.get(), i));
      const int wrote = sqlite3_step(&put);
      done.rows += static_cast<std::uint64_t>(sqlite3_changes(to_.get()));
      sqlite3_reset(&put);
      // A row that its table does not take is no row of it.
      if (wrote != SQLITE_DONE && (wrote & 0xff) != SQLITE_CONSTRAINT) return std::unexpected(to_.trouble());
    }
    return code == SQLITE_DONE;
  }

  /// The lowest key behind a torn place from which on something can be read: looked for in growing steps,
  /// then in halves. None: nothing behind it can be.
  std::optional<std::int64_t> next_readable(const std::string& sql, std::int64_t last) {
    const auto room = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) -
                      static_cast<std::uint64_t>(last);
    const auto at = [last](std::uint64_t off) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(last) + off);
    };
    if (room == 0) return std::nullopt;
    std::uint64_t bad = 0, good = 1;
    while (!readable(sql, at(good))) {
      if (good == room) return std::nullopt;
      bad = good;
      good = good > room / 2 ? room : 2 * good;
    }
    while (good - bad > 1) {
      const std::uint64_t middle = bad + (good - bad) / 2;
      (readable(sql, at(middle)) ? good : bad) = middle;
    }
    return at(good);
  }
  bool readable(const std::string& sql, std::int64_t key) {
    const RawStatement read = prepare_raw(from_, sql + " LIMIT 1");
    if (read == nullptr) return false;
    sqlite3_bind_int64(read.get(), 1, key);
    const int code = sqlite3_step(read.get());
    // A row with a lower key would be found from every key on up to the torn place.
    return code == SQLITE_DONE || (code == SQLITE_ROW && sqlite3_column_int64(read.get(), 0) >= key);
  }

  const Database& from_;
  const Database& to_;
  const Expected& expected_;
  const bool drop_log_;
};

/// How long the file's own first page says that it is; 0: that is none of the library's.
std::uint64_t told_bytes(const std::string& file) {
  std::array<unsigned char, 32> head{};
  std::ifstream in(file, std::ios::binary);
  if (!in.read(reinterpret_cast<char*>(head.data()), head.size())) return 0;
  constexpr std::string_view sqlite_begins("SQLite format 3\0", 16);
  if (!std::equal(sqlite_begins.begin(), sqlite_begins.end(), head.begin())) return 0;
  const std::uint64_t page = head[16] * 256u + head[17];
  std::uint64_t pages = 0;
  for (std::size_t i = 28; i < 32; ++i) pages = pages * 256 + head[i];
  constexpr std::uint64_t bytes_max = std::uint64_t{1} << 40;
  const std::uint64_t bytes = pages * (page == 1 ? 65'536 : page);
  return bytes <= bytes_max ? bytes : 0;
}

void remove_database(const std::string& file) {
  std::error_code ignored;
  for (const char* end : {"", "-wal", "-shm", "-journal"}) fs::remove(file + end, ignored);
}

/// A database whose end was cut off is opened by nobody: a copy is, with empty pages where its own are gone.
class Lengthened {
 public:
  explicit Lengthened(const std::string& file) : file_(file) {
    std::error_code error;
    const std::uint64_t wanted = told_bytes(file);
    if (wanted <= fs::file_size(file, error) || error) return;
    const std::string copy = file + ".lengthened";
    remove_database(copy);
    fs::copy_file(file, copy, error);
    if (std::error_code none; !error && fs::exists(file + "-wal", none))
      fs::copy_file(file + "-wal", copy + "-wal", error);
    if (!error) fs::resize_file(copy, wanted, error);
    if (error)
      remove_database(copy);
    else
      file_ = copy, copied_ = true;
  }
  ~Lengthened() {
    if (copied_) remove_database(file_);
  }
  Lengthened(const Lengthened&) = delete;
  Lengthened& operator=(const Lengthened&) = delete;

  const std::string& file() const { return file_; }

 private:
  std::string file_;
  bool copied_ = false;
};

/// Of a database that tells nothing any more the remedy is another one.
StoreTrouble beyond_help(const std::string& file, StoreTrouble trouble) {
  if (trouble.kind == StoreTrouble::Kind::damaged || trouble.kind == StoreTrouble::Kind::foreign)
    trouble.line = file + ": its list of tables cannot be read: restore it from a backup";
  return trouble;
}

}  // namespace

std::expected<SalvageReport, StoreTrouble> salvage_store(const std::string& file, const Expected& expected,
                                                         bool drop_log) {
  SalvageReport report;
  const std::string part = file + ".salvage";
  const auto failed = [&](StoreTrouble trouble) {
    remove_database(part);
    return std::unexpected(std::move(trouble));
  };
  {
    const Lengthened source(file);
    auto from = Database::open(source.file(), OpenMode::write, tool_patience_ms);
    if (!from) return std::unexpected(std::move(from.error()));
    const auto format = store_format_of(*from, store_format);
    if (!format) return std::unexpected(beyond_help(file, format.error()));
    if (*format == 0)
      return std::unexpected(StoreTrouble{StoreTrouble::Kind::foreign, file + " is empty: restore a backup"});
    remove_database(part);
    auto to = Database::open(part, OpenMode::make, 0);
    if (!to) return failed(std::move(to.error()));
    if (auto safe = to->run("PRAGMA synchronous=FULL"); !safe) return failed(std::move(safe.error()));
    Salvaging salvaging(*from, *to, expected, drop_log);
    if (auto good = salvaging.copy_all(); !good) return failed(beyond_help(file, std::move(good.error())));
    report.tables = std::move(salvaging.tables);
    if (std::ranges::all_of(report.tables, [](const SalvagedTable& table) { return table.rows == 0; }))
      return failed(
          {StoreTrouble::Kind::damaged, file + ": nothing in it can be read: restore it from a backup"});
    report.made_up = std::move(salvaging.made_up);
  }
  // Nobody holds it any more: what waited beside it is in it, or stays with it.
  report.before = free_copy_name(file, "before-salvage");
  std::error_code error;
  fs::create_hard_link(file, report.before, error);
  if (error) fs::copy_file(file, report.before, error);
  if (error)
    return failed(StoreTrouble{{}, "cannot keep " + file + " as " + report.before + ": " + error.message()});
  if (fs::exists(file + "-wal", error)) fs::rename(file + "-wal", report.before + "-wal", error);
  fs::remove(file + "-shm", error);
  if (std::rename(part.c_str(), file.c_str()) == 0) return report;
  return failed(StoreTrouble{
      {}, "cannot write " + file + ": " + std::generic_category().message(errno) + ": see its folder"});
}

}  // namespace ashlar::server
