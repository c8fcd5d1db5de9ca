#include "server/store/rollback.h"

#include <sqlite3.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "protocol/chunk_codec.h"
#include "protocol/inventory_codec.h"
#include "server/store/edit_log.h"
#include "server/store/sqlite_format.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_check.h"
#include "server/store/stored_blocks.h"
#include "world/sim/dropped_items.h"
#include "world/sim/rules.h"
#include "world/voxel/chunk.h"
#include "world/voxel/chunk_place.h"

namespace ashlar::server {
namespace {

/// Edits that a query found, in one chunk.
struct ChunkEdits {
  std::int64_t place = 0;
  std::set<std::int64_t> cells;   // edit_cell()
  std::vector<std::int64_t> ids;  // ascending
};

std::vector<ChunkEdits> by_chunk(const std::vector<FoundEdit>& found) {
  std::map<std::int64_t, ChunkEdits> chunks;
  for (const FoundEdit& edit : found) {
    const std::int64_t place = chunk_place(chunk_of(edit.block));
    ChunkEdits& chunk = chunks[place];
    chunk.place = place;
    chunk.cells.insert(edit_cell(edit.block));
    chunk.ids.push_back(edit.id);
  }
  std::vector<ChunkEdits> out;
  for (auto& [place, chunk] : chunks) {
    std::ranges::sort(chunk.ids);
    out.push_back(std::move(chunk));
  }
  return out;
}

/// What is known of a block on the way back through its edits.
struct BlockPast {
  BlockId expected{}, to{};
  BlockId later_from{};  // what the last edit of the block itself that was looked at found there
  BlockId later_to{};    // and made of it
  bool found = false;    // one of its edits is the query's
  bool undone = false;   // `to` is what is to be there
  bool closed = false;   // nothing before is taken back
  std::optional<BlockData> held;
};

/// Adds what becomes of one chunk. @param edits  those of a cell from the query's first on, the newest first
std::expected<void, StoreTrouble> plan_chunk(const Database& database, Statement& edits,
                                             const ChunkEdits& chunk, bool force, RollbackPlan& plan) {
  std::map<std::uint32_t, BlockPast> blocks;  // by index_in_chunk()
  const auto take_back = [&] {
    const auto [at, is_new] = blocks.try_emplace(static_cast<std::uint32_t>(edits.whole(1)) % chunk_blocks);
    BlockPast& past = at->second;
    const auto before = static_cast<BlockId>(edits.whole(2)), after = static_cast<BlockId>(edits.whole(3));
    if (is_new) past.expected = past.later_from = past.later_to = after;
    const bool found = std::ranges::binary_search(chunk.ids, edits.whole(0));
    const auto bytes = edits.bytes(4);
    const auto held = bytes.empty() ? std::nullopt : decode_block_data(bytes);
    // Older builds wrote that a block held nothing before the change of the same tick that made the block.
    const bool early = held && held->empty() && after != past.later_from && after == past.later_to;
    // One between the two is not in the log any more, and so not of those that are taken back.
    const bool gap = after != past.later_from && !early;
    if (bytes.empty()) past.later_from = before, past.later_to = after;
    past.found = past.found || found;
    if ((!found || gap) && !force) past.closed = true;
    if (!found || past.closed) return;
    past.undone = true;
    if (!early) past.to = before;
    if (!bytes.empty())
      past.held = held;
    else if (past.held)
      past.held = BlockData{};  // it was of the block that this edit made
  };
  for (const std::int64_t cell : chunk.cells) {
    edits.bind(1, cell).bind(2, chunk.ids.front());
    int code = edits.step();
    for (; code == SQLITE_ROW; code = edits.step()) take_back();
    edits.reset();
    if (code != SQLITE_DONE) return std::unexpected(database.trouble(code));
  }
  const ChunkCoord coord = chunk_at_place(chunk.place);
  for (const auto& [index, past] : blocks) {
    if (past.found && !past.undone) ++plan.left;
    if (past.undone && (past.to != past.expected || past.held))
      plan.blocks.push_back({block_of_index(coord, index), past.expected, past.to, past.held});
  }
  return {};
}

std::vector<std::uint8_t> stored_bytes(const BlockData& data) {
  return data.empty() ? std::vector<std::uint8_t>() : encode_block_data(data);
}

/// Items and text alone: what the log tells of.
bool holds_nothing(const BlockData& data) { return data.items.empty() && data.text.empty(); }

/// Changes the blocks of the plan in the store's chunks, in memory.
class Undoing {
 public:
  /// @param held  what all blocks hold
  /// @param lying  what lies in the world
  /// @param kinds  of the world's blocks: a log that names others is damaged there
  Undoing(SqliteStore& store, const std::vector<PlacedData>& held, std::vector<LyingItem> lying,
          const BlockRegistry& kinds, const RollbackOptions& options, std::int64_t now_s)
      : store_(store), lying_(std::move(lying)), kinds_(kinds), options_(options), now_s_(now_s) {
    for (const PlacedData& one : held) held_.emplace(key_of(one.block), &one.data);
  }

  /// @param undos  of one chunk
  void apply(std::span<const BlockUndo> undos, RollbackReport& report) {
    const ChunkCoord coord = chunk_of(undos.front().block);
    const ChunkLookup bytes = store_.load_chunk(coord);
    if (bytes.kind != ChunkLookup::Kind::found) return void(report.damaged += undos.size());
    const auto chunk = codec_.decode(bytes.bytes);
    if (!chunk) return void(report.damaged += undos.size());
    bool changed = false;
    for (const BlockUndo& undo : undos) {
      const IVec3 local = local_in_chunk(undo.block);
      const BlockId now = (*chunk)->block(local);
      if ((now != undo.expected && !options_.force) || !kinds_.knows(undo.to)) {
        ++report.left;
        continue;
      }
      if (now == undo.to && !undo.held) continue;
      ++report.blocks;
      if (now == undo.to) {
        put_contents(undo);
        continue;
      }
      (*chunk)->set_block(local, undo.to);
      put_block(undo, now);
      changed = true;
    }
    if (changed) chunks_.push_back({coord, codec_.encode(**chunk)});
  }

  bool changed() const { return !chunks_.empty() || !contents_.empty(); }

  std::expected<void, StoreTrouble> save() {
    const EditAuthor author{EditAuthor::Kind::operators, {}, {}};
    SaveGroup group{store_.world().tick, chunks_, {}};
    group.authors = std::span(&author, 1);
    group.edits = edits_;
    group.contents = contents_;
    const auto items = dropped_ ? encode_items(lying_) : std::vector<std::uint8_t>();
    group.items = items;
    return store_.save(group);
  }

 private:
  using Key = std::tuple<std::int32_t, std::int32_t, std::int32_t>;
  static Key key_of(IVec3 block) { return {block.x, block.y, block.z}; }

  /// Of a block that stays: what it held, and when its timer runs out.
  void put_contents(const BlockUndo& undo) {
    const auto known = held_.find(key_of(undo.block));
    const BlockData before = known != held_.end() ? *known->second : BlockData{};
    BlockData data = *undo.held;
    data.due = before.due;
    contents_.push_back({undo.block, stored_bytes(data)});
    edits_.push_back({now_s_, 0, undo.block, undo.to, undo.to, encode_block_data(before)});
  }

  /// In the order in which a world that plays would do it: what the block held that goes lies there, and the
  /// one that comes has what it held, and its timer anew.
  void put_block(const BlockUndo& undo, BlockId now) {
    const auto known = held_.find(key_of(undo.block));
    if (known != held_.end() && !holds_nothing(*known->second)) {
      edits_.push_back({now_s_, 0, undo.block, now, now, encode_block_data(*known->second)});
      // Its loot is in it again, and not to lie beside it.
      if (undo.to == BlockId::air || undo.to != kinds_.treasure()) drop(undo.block, known->second->items);
    }
    edits_.push_back({now_s_, 0, undo.block, now, undo.to});
    BlockData data = undo.held.value_or(BlockData{});
    if (!holds_nothing(data))
      edits_.push_back({now_s_, 0, undo.block, undo.to, undo.to, encode_block_data({})});
    if (const double timer_s = kinds_.type(undo.to).timer_s; timer_s > 0)
      data.due = store_.world().tick + 1 + static_cast<std::uint64_t>(timer_s * tick_rate_hz());
    if (known != held_.end() || !data.empty()) contents_.push_back({undo.block, stored_bytes(data)});
  }

  double tick_rate_hz() const {
    const std::uint16_t kept = store_.world().tick_rate_hz;
    return kept != 0 ? kept : Rules{}.tick_rate_hz;
  }

  /// Where there are too many what has lain for longest gives way, as in play.
  void drop(IVec3 block, const Inventory& items) {
    constexpr DVec3 middle{0.5, 0.5, 0.5 - DroppedItems::shape.height_m / 2};
    for (const ItemStack& stack : items.slots) {
      if (stack.empty()) continue;
      if (lying_.size() >= items_max)
        lying_.erase(std::ranges::max_element(lying_, {}, &LyingItem::age_ticks));
      lying_.push_back({stack, to_dvec3(block) + middle});
      dropped_ = true;
    }
  }

  SqliteStore& store_;
  std::map<Key, const BlockData*> held_;
  std::vector<LyingItem> lying_;
  bool dropped_ = false;  // something more lies there
  const BlockRegistry& kinds_;
  const RollbackOptions& options_;
  const std::int64_t now_s_;
  ChunkCodec codec_;
  std::vector<StoredChunk> chunks_;
  std::vector<LoggedEdit> edits_;
  std::vector<StoredContents> contents_;
};

}  // namespace

std::expected<RollbackPlan, StoreTrouble> plan_rollback(const Database& database, const EditQuery& query,
                                                        bool force) {
  // One moment for both looks: a server may go on writing.
  if (auto begun = database.run("BEGIN"); !begun) return std::unexpected(std::move(begun.error()));
  const auto end = [&database](auto result) {
    static_cast<void>(database.run("COMMIT"));
    return result;
  };
  if (auto one = check_one_player(database, query); !one)
    return end(std::expected<RollbackPlan, StoreTrouble>(std::unexpected(std::move(one.error()))));
  const auto found = find_edits(database, query);
  if (!found) return end(std::expected<RollbackPlan, StoreTrouble>(std::unexpected(found.error())));
  auto edits = Statement::make(
      database,
      "SELECT id, block, before, after, held FROM edits INDEXED BY edits_by_cell WHERE cell = ?1 "
      "AND id >= ?2 ORDER BY id DESC");
  if (!edits) return end(std::expected<RollbackPlan, StoreTrouble>(std::unexpected(edits.error())));
  RollbackPlan plan;
  plan.edits = found->edits.size();
  for (const ChunkEdits& chunk : by_chunk(found->edits))
    if (auto good = plan_chunk(database, *edits, chunk, force, plan); !good)
      return end(std::expected<RollbackPlan, StoreTrouble>(std::unexpected(good.error())));
  return end(std::expected<RollbackPlan, StoreTrouble>(std::move(plan)));
}

std::expected<RollbackReport, StoreTrouble> roll_back(const std::string& file, const EditQuery& query,
                                                      const RollbackOptions& options, std::int64_t now_s) {
  const auto known = report_store(file);
  if (!known) return std::unexpected(known.error());
  RollbackPlan plan;
  {
    auto reading = open_log(file);
    if (!reading) return std::unexpected(std::move(reading.error()));
    auto planned = plan_rollback(*reading, query, options.force);
    if (!planned) return std::unexpected(std::move(planned.error()));
    plan = std::move(*planned);
  }
  auto opened = SqliteStore::open(file, known->world);
  if (!opened) return std::unexpected(std::move(opened.error()));
  SqliteStore& store = **opened;
  RollbackReport report{.edits = plan.edits, .left = plan.left};
  const auto contents = store.load_contents();
  if (!contents) return std::unexpected(contents.error());
  auto items = store.load_items();
  if (!items) return std::unexpected(std::move(items.error()));
  const auto kinds = read_stored_blocks(known->world.blocks);
  if (!kinds)
    return std::unexpected(StoreTrouble{StoreTrouble::Kind::damaged,
                                        file + ": " + kinds.error() + ": restore it from a backup"});
  Undoing undoing(store, contents->contents, std::move(items->items), **kinds, options, now_s);
  for (auto at = plan.blocks.begin(); at != plan.blocks.end();) {
    const ChunkCoord coord = chunk_of(at->block);
    const auto end = std::find_if(at, plan.blocks.end(),
                                  [&](const BlockUndo& undo) { return !(chunk_of(undo.block) == coord); });
    undoing.apply({at, end}, report);
    at = end;
  }
  if (options.dry_run || !undoing.changed()) return report;
  report.copy = free_copy_name(file, "before-rollback");
  if (auto copied = store.backup(report.copy); !copied) return std::unexpected(std::move(copied.error()));
  if (auto saved = undoing.save(); !saved) return std::unexpected(std::move(saved.error()));
  return report;
}

}  // namespace ashlar::server
