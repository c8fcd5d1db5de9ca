#include "server/store/prune.h"

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <limits>
#include <unordered_set>
#include <utility>
#include <vector>

#include "protocol/chunk_codec.h"
#include "server/store/edit_log.h"
#include "server/store/sqlite.h"
#include "server/store/sqlite_format.h"
#include "server/store/sqlite_store.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

std::uint64_t bytes_of(const std::string& file) {
  std::uint64_t bytes = 0;
  for (const char* end : {"", "-wal"}) {
    std::error_code error;
    const auto size = std::filesystem::file_size(file + end, error);
    if (!error) bytes += size;
  }
  return bytes;
}

bool same_blocks(const Chunk& a, const Chunk& b) {
  std::vector<BlockId> left(chunk_blocks), right(chunk_blocks);
  a.copy_blocks(left);
  b.copy_blocks(right);
  return left == right;
}

using Outcome = std::expected<void, StoreTrouble>;

/// One pruning, step by step.
class Pruning {
 public:
  Pruning(const Database& database, const PruneOptions& options, std::int64_t now_s)
      : database_(database), options_(options), now_s_(now_s) {}

  /// Where chunks stay whatever their age: where players begin, which may be in any map, and where they are.
  Outcome find_places() {
    places_.reserve(options_.maps.size() + 1);
    places_.push_back({options_.spawn, options_.spawn});
    for (const BlockBox& map : options_.maps)
      places_.push_back({{map.min.x, map.min.y}, {map.max.x - 1, map.max.y - 1}});
    return each("SELECT x, y FROM players", [this](const Statement& row) {
      const IVec2 at{static_cast<std::int32_t>(row.real(0)), static_cast<std::int32_t>(row.real(1))};
      places_.push_back({at, at});
    });
  }

  /// Chunks in which something changed of late; refused where the log does not reach back so far.
  Outcome find_recent() {
    const std::int64_t since_s = now_s_ - options_.far->unchanged_s;
    const auto oldest = database_.number("SELECT min(time) FROM edits");
    if (!oldest) return std::unexpected(oldest.error());
    // What the world did itself may be gone that is newer than what players did.
    const auto world_since = database_.number(
        (std::string("SELECT value FROM meta WHERE key = '") + world_rows_since_key + "'").c_str());
    if (!world_since) return std::unexpected(world_since.error());
    if (*oldest == 0 || std::max(*oldest, *world_since) > since_s)
      return std::unexpected(StoreTrouble{{},
                                          database_.file() +
                                              ": its log of edits does not reach back so far: give a "
                                              "shorter --unchanged-for"});
    const std::string sql = "SELECT DISTINCT place FROM edits WHERE time >= " + std::to_string(since_s);
    auto good = each(sql.c_str(), [this](const Statement& row) { recent_.insert(row.whole(0)); });
    // Chests and signs are nobody's to throw away, however long nobody was there.
    if (good)
      good = each("SELECT DISTINCT place FROM contents",
                  [this](const Statement& row) { recent_.insert(row.whole(0)); });
    return good;
  }

  Outcome choose(const std::function<std::unique_ptr<Chunk>(ChunkCoord)>& generate) {
    ChunkCodec codec;
    return each("SELECT place, hash, bytes FROM chunks", [&](const Statement& row) {
      const std::int64_t place = row.whole(0);
      const ChunkCoord at = chunk_at_place(place);
      const bool whole = place > 0 && VoxelVolume::in_range(at) &&
                         chunk_row_hash(place, row.bytes(2)) == std::bit_cast<std::uint64_t>(row.whole(1));
      const auto chunk = whole ? codec.decode(row.bytes(2)) : std::unexpected(ChunkError::packing);
      if (!chunk) return void(++report.kept);
      if (options_.far && far_away(at) && !recent_.contains(place)) {
        ++report.far;
      } else if (same_blocks(**chunk, *generate(at))) {
        ++report.same;
      } else {
        return void(++report.kept);
      }
      going_.push_back(place);
    });
  }

  Outcome count_log() {
    if (options_.log_age_s == 0) return {};
    const auto edits = database_.number(("SELECT count(*) FROM edits WHERE time < " + before()).c_str());
    if (!edits) return std::unexpected(edits.error());
    report.edits = static_cast<std::uint64_t>(*edits);
    return {};
  }

  /// All of it or nothing; then the file is written anew.
  Outcome drop() {
    auto remove = Statement::make(database_, "DELETE FROM chunks WHERE place = ?1");
    if (!remove) return std::unexpected(std::move(remove.error()));
    auto good = database_.run("BEGIN IMMEDIATE");
    for (std::size_t i = 0; good && i < going_.size(); ++i)
      if (!remove->bind(1, going_[i]).run()) good = std::unexpected(database_.trouble());
    if (good && report.edits > 0)
      good = database_.run(("DELETE FROM edits WHERE time < " + before()).c_str());
    if (good && report.edits > 0) good = drop_authors();
    if (good)
      good = database_.run(
          "UPDATE meta SET value = (SELECT CAST(count(*) AS TEXT) FROM chunks) WHERE key = 'chunks'; COMMIT");
    if (!good) {
      if (database_.in_transaction()) static_cast<void>(database_.run("ROLLBACK"));
      return good;
    }
    return database_.run("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  }

  bool nothing() const { return going_.empty() && report.edits == 0; }

  PruneReport report;

 private:
  template <class Use>
  Outcome each(const char* sql, const Use& use) {
    auto rows = Statement::make(database_, sql);
    if (!rows) return std::unexpected(std::move(rows.error()));
    int code = rows->step();
    for (; code == SQLITE_ROW; code = rows->step()) use(*rows);
    if (code != SQLITE_DONE) return std::unexpected(database_.trouble(code));
    return {};
  }

  /// All players of whom no edit is left.
  Outcome drop_authors() {
    auto remove = Statement::make(database_, prune_authors_sql);
    if (!remove) return std::unexpected(std::move(remove.error()));
    const bool gone =
        remove->bind(1, std::int64_t{-1}).bind(2, std::numeric_limits<std::int64_t>::max()).run();
    return gone ? Outcome() : std::unexpected(database_.trouble());
  }

  /// Is all of the chunk's column beyond the distance, along x or y?
  bool far_away(ChunkCoord at) const {
    const std::int64_t reach = options_.far->keep_near_m;
    const auto beyond = [reach](std::int64_t from, std::int64_t to, std::int64_t low) {
      return to < low - reach || from >= low + chunk_size + reach;
    };
    return std::ranges::all_of(places_, [&](const Place& place) {
      return beyond(place.low.x, place.high.x, std::int64_t{at.x} * chunk_size) ||
             beyond(place.low.y, place.high.y, std::int64_t{at.y} * chunk_size);
    });
  }

  std::string before() const { return std::to_string(now_s_ - options_.log_age_s); }

  const Database& database_;
  const PruneOptions& options_;
  const std::int64_t now_s_;
  struct Place {
    IVec2 low, high;  // both included
  };
  std::vector<Place> places_;
  std::unordered_set<std::int64_t> recent_;  // chunks that were changed of late, or hold chests or signs
  std::vector<std::int64_t> going_;
};

}  // namespace

std::expected<PruneReport, StoreTrouble> prune_store(
    const std::string& file, const PruneOptions& options,
    const std::function<std::unique_ptr<Chunk>(ChunkCoord)>& generate, std::int64_t now_s) {
  const auto database = Database::open(file, OpenMode::write, tool_patience_ms);
  if (!database) return std::unexpected(database.error());
  const auto format = store_format_of(*database, store_format);
  if (!format) return std::unexpected(format.error());
  if (*format < store_format)
    return std::unexpected(StoreTrouble{{},
                                        file + " is of format " + std::to_string(*format) +
                                            ": start a server on it once, which upgrades it"});
  Pruning pruning(*database, options, now_s);
  pruning.report.bytes_before = pruning.report.bytes_after = bytes_of(file);
  Outcome good;
  if (options.far) good = pruning.find_places();
  if (good && options.far) good = pruning.find_recent();
  if (good) good = pruning.choose(generate);
  if (good) good = pruning.count_log();
  if (!good) return std::unexpected(std::move(good.error()));
  if (options.dry_run) return pruning.report;
  if (options.copy && !pruning.nothing()) {
    pruning.report.copy = free_copy_name(file, "before-prune");
    if (auto copied = database->copy_to(pruning.report.copy); !copied)
      return std::unexpected(std::move(copied.error()));
  }
  if (good = pruning.drop(); !good) return std::unexpected(std::move(good.error()));
  pruning.report.bytes_after = bytes_of(file);
  return pruning.report;
}

}  // namespace ashlar::server
