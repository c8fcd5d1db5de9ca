#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "server/store/edit_query.h"
#include "server/store/sqlite.h"
#include "server/store/world_store.h"

// Queries of the log of edits (edit_log.h).

namespace ashlar::server {

/// An edit as it was found.
struct FoundEdit {
  std::int64_t id = 0;  ///< later edits have higher ones
  std::int64_t time_s = 0;
  std::uint32_t author = 0;  ///< index into the authors of FoundEdits
  IVec3 block;
  BlockId before{}, after{};
  bool contents = false;  ///< that changed which the block holds, not the block
};

/// What a query found, the newest first.
struct FoundEdits {
  std::vector<EditAuthor> authors;
  std::vector<FoundEdit> edits;
};

/// Queries without a limit find at most so many.
inline constexpr std::uint64_t edits_found_max = 2'000'000;

/// Cost: with a limit, some ten times as many rows, and some 5 us for each cell of an area in which anything
/// ever happened, or what came in the time (of the player), whichever is less; without a limit, all that came
/// in the time there. Beyond edits_found_max it is refused.
std::expected<FoundEdits, StoreTrouble> find_edits(const Database& database, const EditQuery& query);

/// The log of a world's database, opened to be read, also beside a running server. A database of an older
/// format has none: the trouble says so.
std::expected<Database, StoreTrouble> open_log(const std::string& file);

/// Is the query of one player at most? A name may be that of several, who took it by chance or to be mistaken
/// for another: the trouble says by what to tell them apart.
std::expected<void, StoreTrouble> check_one_player(const Database& database, const EditQuery& query);

/// Does the log know the player whom the query names? @return or one line; "@world" and "@operator" are known
std::expected<void, StoreTrouble> check_player_known(const Database& database, const EditQuery& query);

/// The cell of the log that a block is in.
std::int64_t edit_cell(IVec3 block);

/// A name as people are shown it: a player's, "@world" or "@operator".
const std::string& author_name(const EditAuthor& author);
/// A player's key in hexadecimal digits, as EditQuery takes it; empty of others. Names are not unique.
std::string author_key(const EditAuthor& author);

}  // namespace ashlar::server
