#pragma once
#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "server/store/edit_query.h"

namespace ashlar::server {

/// What the console asks of the log of edits.
struct EditOrder {
  EditQuery query;
  std::string subject = {};  ///< whom or what it is about, for the answer
  bool rollback = false, force = false, dry_run = false;
};

/// Lines of `log`'s answer.
inline constexpr std::uint64_t edit_lines_max = 20;

/// Behind `log`: "X Y Z" (a block), or "NAME [since WHEN] [area X,Y,R]". Names may hold blanks and any words;
/// one that ends like a time or an area is refused, as it cannot be told from them. "@all" is everybody.
/// Whoever cannot be named is named by its key.
/// @return or one line that says how it is written
std::expected<EditOrder, std::string> parse_log_order(std::string_view text, std::int64_t now_s);

/// Behind `rollback`: "NAME since WHEN [area X,Y,R] [dry-run] [force]", likewise.
std::expected<EditOrder, std::string> parse_rollback_order(std::string_view text, std::int64_t now_s);

}  // namespace ashlar::server
