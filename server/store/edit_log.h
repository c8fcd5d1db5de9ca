#pragma once
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "server/store/sqlite.h"
#include "server/store/world_store.h"

// Who changed which block when, and what was there before: two tables of a world's database.
//
//   authors  id, identity, name: the identity is a player's key, empty of what happens by itself, one byte of
//            operators; the name is the one that was last seen
//   edits    id (rising in the order of edits), time (Unix, s), author, place (chunk_place()), block
//            (index_in_chunk()), before, after (kinds of blocks), held: empty or NULL where the block
//            changed; where that changed which it holds, what it held (encode_block_data()) before;
//            cell (computed of place and block, kept in its index alone): cubes of 8 blocks, x, y and z from
//            the lowest corner of the world in 18, 18 and 10 bits
//
// Indexes by cell and time, by author and time, and by time: a look-up reads what it finds and little more.

namespace ashlar::server {

/// What an edit takes of the disk with its rows in all indexes, roughly. One that tells what a block held may
/// take thrice that; the saver writes few of them.
inline constexpr std::uint64_t edit_row_bytes = 105;

/// Writes to the log, within the transactions of who owns the database. One thread.
class EditLogWriter {
 public:
  static std::expected<EditLogWriter, StoreTrouble> make(const Database& database);

  /// Appends. False: the database says why.
  bool write(std::span<const EditAuthor> authors, std::span<const LoggedEdit> edits);
  /// Takes out what is older or more than the limits say, the oldest first: at most twice as many rows as
  /// were written, and some, so that it never takes long. Where there are too many the world's own go before
  /// those of anybody: however much sand somebody sets loose, what players did stays. Of authors some are
  /// looked at each time, and those go who have no edit left.
  bool prune(std::int64_t now_s, const EditLogLimits& limits, std::size_t written);
  /// What was written and pruned since the last call of write() is on the disk.
  void note_committed();

 private:
  bool find_or_add(const EditAuthor& author, std::int64_t& id);
  bool begin();
  bool prune_to(std::int64_t rows_max, std::int64_t at_once, std::int64_t now_s);
  bool remove(Statement& statement, std::int64_t& gone);
  std::int64_t believe(std::int64_t now_s);
  bool prune_authors();

  sqlite3* database_ = nullptr;
  Statement put_author_, rename_, find_author_, put_edit_, prune_age_, prune_rows_, prune_world_, note_world_,
      newest_, count_, authors_end_, prune_authors_;
  std::vector<std::int64_t> ids_;        // scratch
  std::optional<std::int64_t> rows_;     // on the disk; counted once
  std::int64_t added_ = 0;               // to them in this transaction
  std::optional<std::int64_t> clock_s_;  // of the last group
  std::int64_t believed_s_ = 0;          // from which edits are too old
  std::int64_t author_looked_at_ = 0;    // the last one whose edits were looked for
};

/// Takes out players of a range of ids, ?1 < id <= ?2, of whom no edit is left. Ids are looked up anew for
/// each group, so nobody holds one.
inline constexpr const char* prune_authors_sql =
    "DELETE FROM authors WHERE id > ?1 AND id <= ?2 AND length(identity) > 1 AND NOT EXISTS "
    "(SELECT 1 FROM edits INDEXED BY edits_by_author WHERE author = authors.id)";

/// Since when the log has all that the world itself changed; 0: as far as it goes back.
inline constexpr const char* world_rows_since_key = "log_world_since";

}  // namespace ashlar::server
