#include "server/store/store_check.h"

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "protocol/chunk_codec.h"
#include "protocol/hexadecimal.h"
#include "protocol/inventory_codec.h"
#include "protocol/kept_state_codec.h"
#include "server/store/edit_search.h"
#include "server/store/kept_ground.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_format.h"
#include "server/store/sqlite_store.h"
#include "server/store/stored_blocks.h"
#include "world/sim/rules.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

constexpr int lives_since = 6;     // formats before kept of players' fights their health alone
constexpr int state_since = 5;     // formats before kept nothing of doors and monsters
constexpr int contents_since = 4;  // formats before knew of no blocks that hold something
constexpr int log_since = 3;       // formats before had no log of edits
constexpr int cells_since = 8;     // formats before had the log of edits in another order

/// Opened to be read, with its format looked at.
std::expected<std::pair<Database, int>, StoreTrouble> open_to_read(const std::string& file,
                                                                   OpenMode mode = OpenMode::read) {
  std::error_code ignored;
  if (!std::filesystem::exists(file, ignored))
    return std::unexpected(StoreTrouble{{},
                                        file + " is not there, and all that was changed in its world is "
                                               "gone with it: restore the world from a backup"});
  auto database = Database::open(file, mode, tool_patience_ms);
  if (!database) return std::unexpected(std::move(database.error()));
  const auto format = store_format_of(*database, store_format);
  if (!format) return std::unexpected(format.error());
  if (*format == 0) return std::unexpected(StoreTrouble{StoreTrouble::Kind::foreign, file + " is empty"});
  return std::pair(std::move(*database), *format);
}

std::string chunk_name(ChunkCoord at) {
  return "chunk " + std::to_string(at.x) + "," + std::to_string(at.y) + "," + std::to_string(at.z);
}

/// Goes through the tables, noting what is wrong.
class StoreReader {
 public:
  StoreReader(const Database& database, int format) : database_(database), format_(format) {}

  StoreCheck read() {
    own_check();
    meta();
    chunks();
    players();
    items();
    damaged();
    if (format_ >= log_since) authors();
    if (format_ >= contents_since) contents(), edits();
    if (format_ >= state_since) state();
    count();
    return std::move(check_);
  }

 private:
  void fault(const std::string& line) {
    ++check_.faults;
    if (check_.lines.size() < store_fault_lines_max) check_.lines.push_back(line);
  }
  /// Calls use(statement) for each row.
  template <class Use>
  void each(const char* sql, const char* table, const Use& use) {
    auto rows = Statement::make(database_, sql);
    if (!rows) return fault(std::string("table ") + table + ": " + rows.error().line);
    int code = rows->step();
    for (; code == SQLITE_ROW; code = rows->step()) use(*rows);
    if (code != SQLITE_DONE)
      fault(std::string("table ") + table + ": the rest cannot be read: " + database_.trouble(code).line);
  }
  void own_check() {
    each("PRAGMA integrity_check(100)", "sqlite_master", [this](const Statement& row) {
      if (const std::string said = row.text(0); said != "ok") fault("database: " + said);
    });
  }
  /// What a start reads there. Its kinds of blocks are what chunks and edits are looked at with.
  void meta() {
    const auto world = read_meta(database_);
    if (!world) return fault(world.error().line);
    if (!world->footprints.empty() && !read_footprints(world->footprints))
      fault("meta: where its maps stand (footprints) makes no sense");
    auto kinds = read_stored_blocks(world->blocks);
    if (!kinds) return fault("meta: " + kinds.error());
    if (!world->blocks.empty()) kinds_ = std::move(*kinds);
  }
  bool knows(std::int64_t kind) const {
    if (kind < 0 || kind >= std::int64_t{block_kinds_max}) return false;
    return kinds_ == nullptr || kinds_->knows(static_cast<BlockId>(kind));
  }
  void damaged() {
    each("SELECT kind, place, hash, bytes, reason, tick FROM damaged", "damaged", [](const Statement& row) {
      for (int column = 0; column < 6; ++column) static_cast<void>(row.bytes(column));
    });
  }
  void authors() {
    each("SELECT id, identity, name FROM authors", "authors", [this](const Statement& row) {
      const std::size_t size = row.bytes(1).size();
      if (size != 0 && size != 1 && size != std::tuple_size_v<PlayerIdentity>)
        fault("author " + std::to_string(row.whole(0)) + ": it is nobody's key");
      authors_.insert(row.whole(0));
    });
  }
  void edits() {
    each("SELECT id, author, place, block, before, after, held FROM edits", "edits",
         [this](const Statement& row) {
           const std::int64_t place = row.whole(2);
           const auto wrong = [&](const char* what) {
             fault("edit " + std::to_string(row.whole(0)) + ": " + what);
           };
           if (place <= 0 || !VoxelVolume::in_range(chunk_at_place(place)) || row.whole(3) < 0 ||
               row.whole(3) >= std::int64_t{chunk_blocks})
             return wrong("its place is nowhere");
           if (!authors_.contains(row.whole(1))) return wrong("its author is not there");
           if (!knows(row.whole(4)) || !knows(row.whole(5)))
             return wrong("of a kind of block that there is not");
           const auto held = row.bytes(6);
           if (!held.empty() && !decode_block_data(held)) wrong("what the block held makes no sense");
         });
  }
  void chunks() {
    ChunkCodec codec;
    std::vector<BlockId> blocks(chunk_blocks);
    each("SELECT place, hash, bytes FROM chunks", "chunks", [&](const Statement& row) {
      const std::int64_t place = row.whole(0);
      const ChunkCoord at = chunk_at_place(place);
      if (place <= 0 || !VoxelVolume::in_range(at) || chunk_place(at) != place)
        return fault("chunks: place " + std::to_string(place) + " is nowhere");
      const auto bytes = row.bytes(2);
      if (chunk_row_hash(place, bytes) != std::bit_cast<std::uint64_t>(row.whole(1)))
        return fault(chunk_name(at) + ": its bytes do not agree with their hash");
      const auto chunk = codec.decode(bytes);
      if (!chunk) return fault(chunk_name(at) + ": " + describe(chunk.error()));
      (*chunk)->copy_blocks(blocks);
      if (const auto highest = static_cast<std::int64_t>(*std::ranges::max_element(blocks)); !knows(highest))
        return fault(chunk_name(at) +
                     ": it has a kind of block that this world does not have: " + std::to_string(highest));
      ++check_.chunks;
    });
  }
  void players() {
    const std::string life = format_ >= lives_since ? "life" : "x''";
    each(("SELECT identity, x, y, z, yaw, pitch, health, hash, items, " + life + " FROM players").c_str(),
         "players", [this](const Statement& row) {
           if (read_player_row(row)) return void(++check_.players);
           fault("player " + hexadecimal(row.bytes(0)).substr(0, 64) +
                 ": its values do not agree with their hash");
         });
  }
  void items() {
    each("SELECT place, hash, bytes FROM items", "items", [this](const Statement& row) {
      if (chunk_row_hash(row.whole(0), row.bytes(2)) != std::bit_cast<std::uint64_t>(row.whole(1)))
        return fault("items: the bytes do not agree with their hash");
      if (const auto items = decode_items(row.bytes(2)); !items)
        fault(std::string("items: ") + describe(items.error()));
    });
  }
  void state() {
    each("SELECT place, hash, bytes FROM state", "state", [this](const Statement& row) {
      if (chunk_row_hash(row.whole(0), row.bytes(2)) != std::bit_cast<std::uint64_t>(row.whole(1)))
        return fault("state of doors and monsters: the bytes do not agree with their hash");
      if (const auto state = decode_kept_state(row.bytes(2)); !state)
        fault(std::string("state of doors and monsters: ") + describe(state.error()));
    });
  }
  void contents() {
    each("SELECT place, block, hash, bytes FROM contents", "contents", [this](const Statement& row) {
      if (read_contents_row(row)) return void(++check_.contents);
      fault(chunk_name(chunk_at_place(row.whole(0))) + ": what block " + std::to_string(row.whole(1)) +
            " of it holds makes no sense");
    });
  }
  void count() {
    const auto counted = database_.number("SELECT value FROM meta WHERE key = 'chunks'");
    const auto there = database_.number("SELECT count(*) FROM chunks");
    if (counted && there && *counted != *there)
      fault("meta: counts " + std::to_string(*counted) + " chunks, there are " + std::to_string(*there));
  }

  const Database& database_;
  const int format_;
  std::shared_ptr<const BlockRegistry> kinds_;  // null: all
  std::unordered_set<std::int64_t> authors_;
  StoreCheck check_;
};

}  // namespace

std::expected<StoreReport, StoreTrouble> report_store(const std::string& file, OpenMode mode) {
  auto opened = open_to_read(file, mode);
  if (!opened) return std::unexpected(std::move(opened.error()));
  const Database& database = opened->first;
  StoreReport report;
  report.format = opened->second;
  auto world = read_meta(database);
  if (!world) return std::unexpected(std::move(world.error()));
  report.world = std::move(*world);
  std::vector<std::pair<const char*, std::uint64_t*>> counts{
      {"SELECT count(*) FROM players", &report.players}, {"SELECT count(*) FROM damaged", &report.damaged}};
  if (report.format >= contents_since) counts.emplace_back("SELECT count(*) FROM contents", &report.contents);
  for (const auto& [sql, into] : counts) {
    const auto number = database.number(sql);
    if (!number) return std::unexpected(number.error());
    *into = static_cast<std::uint64_t>(*number);
  }
  for (const char* end : {"", "-wal"}) {
    std::error_code error;
    const auto bytes = std::filesystem::file_size(file + end, error);
    if (!error) report.bytes += bytes;
  }
  return report;
}

std::expected<StoreCheck, StoreTrouble> check_store(const std::string& file, OpenMode mode) {
  const auto opened = open_to_read(file, mode);
  if (!opened) return std::unexpected(opened.error());
  // One moment for all of it: a server may go on writing.
  if (auto begun = opened->first.run("BEGIN"); !begun) return std::unexpected(std::move(begun.error()));
  return StoreReader(opened->first, opened->second).read();
}

std::expected<Database, StoreTrouble> open_log(const std::string& file) {
  auto opened = open_to_read(file);
  if (!opened) return std::unexpected(std::move(opened.error()));
  if (opened->second < cells_since)
    return std::unexpected(StoreTrouble{
        {},
        file + " is of format " + std::to_string(opened->second) +
            ", whose log of edits this build does not read: start a server on it once, which upgrades it"});
  return std::move(opened->first);
}

std::expected<void, StoreTrouble> copy_store(const std::string& file, const std::string& copy,
                                             OpenMode mode) {
  const auto opened = open_to_read(file, mode);
  if (!opened) return std::unexpected(opened.error());
  return opened->first.copy_to(copy);
}

}  // namespace ashlar::server
