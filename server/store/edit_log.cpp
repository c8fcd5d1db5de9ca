#include "server/store/edit_log.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <utility>

#include "server/store/sqlite_store.h"
#include "world/voxel/chunk.h"

namespace ashlar::server {
namespace {

constexpr std::int64_t pruned_at_once = 5000;
constexpr std::int64_t authors_at_once = 200;
constexpr std::int64_t day_s = 24 * 3600;
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
      {&writer.prune_age_,
       "DELETE FROM edits WHERE id IN (SELECT id FROM edits INDEXED BY edits_by_time WHERE time < ?1 "
       "ORDER BY time LIMIT ?2)"},
      {&writer.prune_rows_, "DELETE FROM edits WHERE id IN (SELECT id FROM edits ORDER BY id LIMIT ?1)"},
      {&writer.prune_world_,
       "DELETE FROM edits WHERE id IN (SELECT id FROM edits INDEXED BY edits_by_author WHERE author = "
       "(SELECT id FROM authors WHERE identity = x'') ORDER BY time LIMIT ?1)"},
      {&writer.note_world_,
       "INSERT OR REPLACE INTO meta SELECT ?1, CAST(ifnull(min(time), ?2) AS TEXT) FROM edits INDEXED BY "
       "edits_by_author WHERE author = (SELECT id FROM authors WHERE identity = x'')"},
      {&writer.newest_, "SELECT time FROM edits ORDER BY id DESC LIMIT 1"},
      {&writer.count_, "SELECT count(*) FROM edits"},
      {&writer.authors_end_,
       "SELECT max(id), count(*) FROM (SELECT id FROM authors WHERE id > ?1 ORDER BY id LIMIT ?2)"},
      {&writer.prune_authors_, prune_authors_sql}};
  writer.database_ = database.get();
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

/// What was there before a run's first group.
bool EditLogWriter::begin() {
  added_ = 0;
  if (clock_s_) return true;
  const int code = newest_.step();
  if (code == SQLITE_ROW) clock_s_ = believed_s_ = newest_.whole(0);
  newest_.reset();
  return code == SQLITE_ROW || code == SQLITE_DONE;
}

bool EditLogWriter::write(std::span<const EditAuthor> authors, std::span<const LoggedEdit> edits) {
  if (!begin()) return false;
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
    ++added_;
  }
  return true;
}

bool EditLogWriter::prune(std::int64_t now_s, const EditLogLimits& limits, std::size_t written) {
  const auto at_once = static_cast<std::int64_t>(2 * written) + pruned_at_once;
  const std::int64_t believed_s = believe(now_s);
  std::int64_t gone = 0;
  const std::int64_t before = added_;
  if (limits.age_s > 0 && !remove(prune_age_.bind(1, believed_s - limits.age_s).bind(2, at_once), gone))
    return false;
  if (!prune_to(static_cast<std::int64_t>(limits.rows_max), at_once, now_s)) return false;
  return added_ == before || prune_authors();
}

/// Some of them, from where it ended the last time: who has no edit left is nobody to remember.
bool EditLogWriter::prune_authors() {
  const int code = authors_end_.bind(1, author_looked_at_).bind(2, authors_at_once).step();
  const std::int64_t end = code == SQLITE_ROW ? authors_end_.whole(0) : 0;
  const bool more = code == SQLITE_ROW && authors_end_.whole(1) == authors_at_once;
  authors_end_.reset();
  if (code != SQLITE_ROW) return false;
  const std::int64_t first = std::exchange(author_looked_at_, more ? end : 0);
  return prune_authors_.bind(1, first).bind(2, end).run();
}

/// A clock that jumps ahead would take all of the log along. So of a step from one group to the next that is
/// longer than a day (a jump, or nobody changed anything for so long) nothing is believed at first: the time
/// that edits are too old by catches up by twice the steps that follow.
std::int64_t EditLogWriter::believe(std::int64_t now_s) {
  if (!clock_s_) believed_s_ = now_s;
  const std::int64_t step_s = now_s - clock_s_.value_or(now_s);
  if (step_s > 0 && step_s <= day_s) believed_s_ += 2 * step_s;
  believed_s_ = std::min(believed_s_, now_s);
  clock_s_ = now_s;
  return believed_s_;
}

bool EditLogWriter::prune_to(std::int64_t rows_max, std::int64_t at_once, std::int64_t now_s) {
  if (!rows_) {
    const int code = count_.step();
    if (code == SQLITE_ROW) rows_ = count_.whole(0) - added_;
    count_.reset();
    if (code != SQLITE_ROW) return false;
  }
  const std::int64_t beyond = std::min(*rows_ + added_ - rows_max, at_once);
  if (beyond <= 0) return true;
  std::int64_t gone = 0;
  if (!remove(prune_world_.bind(1, beyond), gone)) return false;
  if (gone > 0 && !note_world_.bind(1, std::string_view(world_rows_since_key)).bind(2, now_s).run())
    return false;
  if (gone == beyond) return true;
  return remove(prune_rows_.bind(1, beyond - gone), gone);
}

/// @param gone  how many rows it took out
bool EditLogWriter::remove(Statement& statement, std::int64_t& gone) {
  if (!statement.run()) return false;
  gone = sqlite3_changes(database_);
  added_ -= gone;
  return true;
}

void EditLogWriter::note_committed() {
  if (rows_) *rows_ += added_;
  added_ = 0;
}

}  // namespace ashlar::server
