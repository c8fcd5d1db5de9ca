#include "server/admin/edit_order.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

namespace ashlar::server {
namespace {

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
    if (end > at) words.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// "X Y Z", where the text is that.
std::optional<IVec3> block_of(const std::vector<std::string>& words) {
  if (words.size() != 3) return std::nullopt;
  IVec3 block;
  std::int32_t* const into[] = {&block.x, &block.y, &block.z};
  for (std::size_t i = 0; i < 3; ++i) {
    const char* const end = words[i].data() + words[i].size();
    const auto [next, error] = std::from_chars(words[i].data(), end, *into[i]);
    if (error != std::errc() || next != end) return std::nullopt;
  }
  return block;
}

/// The words behind a name: takes them from the back, so that the name may hold blanks.
std::expected<void, std::string> take_clauses(std::vector<std::string>& words, std::int64_t now_s,
                                              EditOrder& order) {
  for (;;) {
    const std::size_t n = words.size();
    if (n > 1 && order.rollback && (words[n - 1] == "force" || words[n - 1] == "dry-run")) {
      (words[n - 1] == "force" ? order.force : order.dry_run) = true;
      words.pop_back();
    } else if (n > 2 && words[n - 2] == "since") {
      const auto when = parse_past_s(words[n - 1], now_s);
      if (!when) return std::unexpected("since: " + when.error());
      order.query.since_s = *when;
      words.resize(n - 2);
    } else if (n > 2 && words[n - 2] == "area") {
      const auto area = parse_edit_area(words[n - 1]);
      if (!area) return std::unexpected("area: " + area.error());
      order.query.area = *area;
      words.resize(n - 2);
    } else {
      return {};
    }
  }
}

std::expected<EditOrder, std::string> parse_named(std::vector<std::string> words, std::int64_t now_s,
                                                  EditOrder order) {
  order.query.since_s = -1;
  if (auto good = take_clauses(words, now_s, order); !good) return std::unexpected(good.error());
  if (words.empty() || (order.rollback && order.query.since_s < 0))
    return std::unexpected(
        order.rollback
            ? "rollback needs a player and a time: rollback NAME since 10m [area X,Y,R] [dry-run] [force]"
            : "log needs a block or a player: log X Y Z, or log NAME [since 10m] [area X,Y,R]");
  for (const std::string& word : words) order.subject += (order.subject.empty() ? "" : " ") + word;
  if (order.subject != "@all") order.query.player = order.subject;
  return order;
}

}  // namespace

std::expected<EditOrder, std::string> parse_log_order(std::string_view text, std::int64_t now_s) {
  EditOrder order;
  order.query.limit = edit_lines_max;
  std::vector<std::string> words = words_of(text);
  if (const auto block = block_of(words)) {
    order.subject = words[0] + " " + words[1] + " " + words[2];
    auto area = parse_edit_area(words[0] + "," + words[1] + "," + words[2] + ",0");
    if (!area) return std::unexpected("log: " + area.error());
    order.query.area = *area;
    return order;
  }
  return parse_named(std::move(words), now_s, std::move(order));
}

std::expected<EditOrder, std::string> parse_rollback_order(std::string_view text, std::int64_t now_s) {
  EditOrder order;
  order.rollback = true;
  return parse_named(words_of(text), now_s, std::move(order));
}

}  // namespace ashlar::server
