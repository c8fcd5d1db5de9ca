#include "server/store/edit_log.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "server/store/sqlite_store.h"
#include "world/voxel/chunk.h"
#include "world/voxel/volume.h"

namespace ashlar::server {
namespace {

constexpr std::int64_t pruned_at_once = 5000;
constexpr std::array<std::uint8_t, 1> operator_identity{1};

/// What the table knows an author by.
std::span<const std::uint8_t> identity_bytes(const EditAuthor& author) {
  switch (author.kind) {
    case EditAuthor::Kind::world: break;
    case EditAuthor::Kind::operators: return operator_identity;
    case EditAuthor::Kind::player: return author.identity;
  }
  return {};
}

EditAuthor author_from(std::span<const std::uint8_t> identity, std::string name) {
  EditAuthor author;
  if (identity.size() == author.identity.size()) {
    author.kind = EditAuthor::Kind::player;
    std::ranges::copy(identity, author.identity.begin());
    author.name = std::move(name);
  } else if (!identity.empty()) {
    author.kind = EditAuthor::Kind::operators;
  }
  return author;
}

/// Runs one query, handing each row to `use` until it says false.
template <class Use>
std::expected<void, StoreTrouble> each_row(const Database& database, Statement& rows, const Use& use) {
  int code = rows.step();
  for (; code == SQLITE_ROW; code = rows.step())
    if (!use(rows)) return {};
  if (code != SQLITE_DONE) return std::unexpected(database.trouble(code));
  return {};
}

/// One look into the log.
class EditFinder {
 public:
  EditFinder(const Database& database, const EditQuery& query) : database_(database), query_(query) {}

  std::expected<FoundEdits, StoreTrouble> find() {
    if (auto good = find_player(); !good) return std::unexpected(std::move(good.error()));
    auto good = query_.area ? by_area() : query_.player ? by_player() : by_time();
    if (!good) return std::unexpected(std::move(good.error()));
    keep_newest(query_.limit);
    if (auto named = name_authors(); !named) return std::unexpected(std::move(named.error()));
    return std::move(found_);
  }

 private:
  using Outcome = std::expected<void, StoreTrouble>;

  /// Who is meant: a name may have been that of several.
  Outcome find_player() {
    if (!query_.player) return {};
    const std::string& player = *query_.player;
    // Nobody's identity has so few bytes.
    const bool named = player != "@world" && player != "@operator";
    auto rows = Statement::make(database_,
                                named ? "SELECT id FROM authors WHERE length(identity) > 1 AND (name = ?1 OR "
                                        "lower(hex(identity)) = ?1)"
                                : player == "@world" ? "SELECT id FROM authors WHERE length(identity) = 0"
                                                     : "SELECT id FROM authors WHERE length(identity) = 1");
    if (!rows) return std::unexpected(std::move(rows.error()));
    if (named) rows->bind(1, std::string_view(player));
    return each_row(database_, *rows,
                    [this](Statement& row) { return players_.push_back(row.whole(0)), true; });
  }

  Outcome by_area() {
    const ChunkCoord low = chunk_of(query_.area->low), high = chunk_of(query_.area->high);
    auto rows = Statement::make(database_,
                                (columns + "INDEXED BY edits_by_place WHERE place BETWEEN ?1 AND ?2 AND time "
                                           "BETWEEN ?3 AND ?4")
                                    .c_str());
    if (!rows) return std::unexpected(std::move(rows.error()));
    // Chunks of one x and y lie side by side, so do those of neighbouring y.
    for (std::int32_t x = low.x; x <= high.x; ++x) {
      rows->bind(1, chunk_place({x, low.y, low.z})).bind(2, chunk_place({x, high.y, high.z}));
      rows->bind(3, query_.since_s).bind(4, query_.until_s);
      if (auto good = take_all(*rows, false); !good) return good;
      rows->reset();
    }
    return {};
  }

  Outcome by_player() {
    auto rows = Statement::make(
        database_, (columns + "INDEXED BY edits_by_author WHERE author = ?1 AND time BETWEEN ?2 AND ?3 "
                              "ORDER BY time DESC, id DESC")
                       .c_str());
    if (!rows) return std::unexpected(std::move(rows.error()));
    for (const std::int64_t player : players_) {
      rows->bind(1, player).bind(2, query_.since_s).bind(3, query_.until_s);
      if (auto good = take_all(*rows, true); !good) return good;
      rows->reset();
    }
    return {};
  }

  Outcome by_time() {
    auto rows = Statement::make(
        database_,
        (columns + "INDEXED BY edits_by_time WHERE time BETWEEN ?1 AND ?2 ORDER BY time DESC, id DESC")
            .c_str());
    if (!rows) return std::unexpected(std::move(rows.error()));
    rows->bind(1, query_.since_s).bind(2, query_.until_s);
    return take_all(*rows, true);
  }

  /// @param in_order  the newest first: those beyond the limit need not be read
  Outcome take_all(Statement& rows, bool in_order) {
    const std::size_t begin = found_.edits.size();
    bool too_many = false;
    auto read = each_row(database_, rows, [&](Statement& row) {
      take(row);
      if (in_order && query_.limit > 0 && found_.edits.size() - begin == query_.limit) return false;
      if (query_.limit > 0 && found_.edits.size() > 2 * query_.limit + 4096) keep_newest(query_.limit);
      too_many = found_.edits.size() > edits_found_max;
      return !too_many;
    });
    if (read && too_many)
      return std::unexpected(StoreTrouble{{},
                                          "there are more than " + std::to_string(edits_found_max) +
                                              " such edits: narrow the area or the time"});
    return read;
  }

  void take(const Statement& row) {
    if (query_.area && query_.player && std::ranges::find(players_, row.whole(2)) == players_.end()) return;
    const std::int64_t place = row.whole(3);
    if (place <= 0) return;  // nowhere: `world check` names it
    const ChunkCoord at = chunk_at_place(place);
    if (!VoxelVolume::in_range(at)) return;
    const IVec3 block = block_of_chunk(at, static_cast<std::uint32_t>(row.whole(4)) % chunk_blocks);
    if (query_.area && !query_.area->contains(block)) return;
    found_.edits.push_back({row.whole(0), row.whole(1), index_of(row.whole(2)), block,
                            static_cast<BlockId>(row.whole(5)), static_cast<BlockId>(row.whole(6)),
                            !row.bytes(7).empty()});
  }

  std::uint32_t index_of(std::int64_t author) {
    return authors_.try_emplace(author, static_cast<std::uint32_t>(authors_.size())).first->second;
  }

  /// 0: all of them. Sorted.
  void keep_newest(std::uint64_t limit) {
    std::ranges::sort(found_.edits, std::ranges::greater(), &FoundEdit::id);
    if (limit > 0 && found_.edits.size() > limit) found_.edits.resize(limit);
  }

  Outcome name_authors() {
    found_.authors.resize(authors_.size());
    auto row = Statement::make(database_, "SELECT identity, name FROM authors WHERE id = ?1");
    if (!row) return std::unexpected(std::move(row.error()));
    for (const auto& [id, index] : authors_) {
      row->bind(1, id);
      auto read = each_row(database_, *row, [&](Statement& author) {
        // There are as many as authors_.
        found_.authors[index] =  // NOLINT(clang-analyzer-core.NullDereference)
            author_from(author.bytes(0), author.text(1));
        return false;
      });
      if (!read) return read;
      row->reset();
    }
    return {};
  }

  inline static const std::string columns =
      "SELECT id, time, author, place, block, before, after, held FROM edits ";

  const Database& database_;
  const EditQuery& query_;
  std::vector<std::int64_t> players_;
  std::map<std::int64_t, std::uint32_t> authors_;  // id in the table to index in found_
  FoundEdits found_;
};

}  // namespace

std::expected<EditLogWriter, StoreTrouble> EditLogWriter::make(const Database& database) {
  EditLogWriter writer;
  const std::pair<Statement*, const char*> all[] = {
      {&writer.find_author_, "SELECT id, name FROM authors WHERE identity = ?1"},
      {&writer.put_author_, "INSERT INTO authors(identity, name) VALUES(?1, ?2)"},
      {&writer.rename_, "UPDATE authors SET name = ?2 WHERE id = ?1"},
      {&writer.put_edit_,
       "INSERT INTO edits(time, author, place, block, before, after, held) VALUES(?1, ?2, ?3, ?4, ?5, ?6, "
       "?7)"},
      {&writer.prune_age_, "DELETE FROM edits WHERE id < (SELECT min(id) FROM edits) + ?2 AND time < ?1"},
      {&writer.prune_rows_,
       "DELETE FROM edits WHERE id < (SELECT min(id) FROM edits) + ?2 AND "
       "id <= (SELECT max(id) FROM edits) - ?1"}};
  for (const auto& [statement, sql] : all) {
    auto made = Statement::make(database, sql);
    if (!made) return std::unexpected(std::move(made.error()));
    *statement = std::move(*made);
  }
  return writer;
}

bool EditLogWriter::find_or_add(const EditAuthor& author, std::int64_t& id) {
  const auto identity = identity_bytes(author);
  std::string known;
  const auto look = [&] {
    const int code = find_author_.bind(1, identity).step();
    if (code == SQLITE_ROW) id = find_author_.whole(0), known = find_author_.text(1);
    find_author_.reset();
    return code == SQLITE_ROW || code == SQLITE_DONE;
  };
  id = 0;
  if (!look()) return false;
  const std::string_view name = author.name;
  if (id == 0) return put_author_.bind(1, identity).bind(2, name).run() && look();
  return known == name || rename_.bind(1, id).bind(2, name).run();
}

bool EditLogWriter::write(std::span<const EditAuthor> authors, std::span<const LoggedEdit> edits) {
  ids_.resize(authors.size());
  for (std::size_t i = 0; i < authors.size(); ++i)
    if (!find_or_add(authors[i], ids_[i])) return false;
  for (const LoggedEdit& edit : edits) {
    const bool put = put_edit_.bind(1, edit.time_s)
                         .bind(2, ids_[edit.author])
                         .bind(3, chunk_place(chunk_of(edit.block)))
                         .bind(4, static_cast<std::int64_t>(index_in_chunk(local_in_chunk(edit.block))))
                         .bind(5, static_cast<std::int64_t>(edit.before))
                         .bind(6, static_cast<std::int64_t>(edit.after))
                         .bind(7, std::span<const std::uint8_t>(edit.held))
                         .run();
    if (!put) return false;
  }
  return true;
}

bool EditLogWriter::prune(std::int64_t now_s, const EditLogLimits& limits, std::size_t written) {
  const auto at_once = static_cast<std::int64_t>(2 * written) + pruned_at_once;
  if (limits.age_s > 0 && !prune_age_.bind(1, now_s - limits.age_s).bind(2, at_once).run()) return false;
  return prune_rows_.bind(1, static_cast<std::int64_t>(limits.rows_max)).bind(2, at_once).run();
}

std::expected<FoundEdits, StoreTrouble> find_edits(const Database& database, const EditQuery& query) {
  return EditFinder(database, query).find();
}

IVec3 block_of_chunk(ChunkCoord at, std::uint32_t index) {
  constexpr std::uint32_t last = chunk_size - 1;
  const IVec3 local{static_cast<std::int32_t>(index >> chunk_bits & last),
                    static_cast<std::int32_t>(index >> (2 * chunk_bits) & last),
                    static_cast<std::int32_t>(index & last)};
  return {at.x * chunk_size + local.x, at.y * chunk_size + local.y, at.z * chunk_size + local.z};
}

const std::string& author_name(const EditAuthor& author) {
  static const std::string world = "@world", operators = "@operator";
  if (author.kind == EditAuthor::Kind::player) return author.name;
  return author.kind == EditAuthor::Kind::world ? world : operators;
}

}  // namespace ashlar::server
