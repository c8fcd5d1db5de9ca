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

constexpr const char* log_usage =
    "log needs a block or a player: log X Y Z, or log NAME [since 10m] [area X,Y,R]";
constexpr const char* rollback_usage =
    "rollback needs a player and a time: rollback NAME since 10m [area X,Y,R] [dry-run] [force]";

/// The last word; `text` is what stands before it. Blanks within that stay: a name may hold several.
std::string_view take_last_word(std::string_view& text) {
  constexpr std::string_view blanks = " \t";
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  const std::size_t begin = text.find_last_of(blanks) + 1;
  const std::string_view word = text.substr(begin);
  text = text.substr(0, begin);
  text = text.substr(0, text.find_last_not_of(blanks) + 1);
  return word;
}

/// Of "NAME WORD VALUE" the value, and `text` is the name then.
std::optional<std::string_view> take_clause(std::string_view& text, std::string_view word) {
  std::string_view rest = text;
  const std::string_view value = take_last_word(rest);
  if (take_last_word(rest) != word || rest.empty()) return std::nullopt;
  text = rest;
  return value;
}

/// Takes the words behind a name, in the one order that they have: what stands before is the name, whatever
/// words are in it, as players choose their names.
std::expected<void, std::string> take_clauses(std::string_view& text, std::int64_t now_s, EditOrder& order) {
  for (std::string_view rest = text; order.rollback; text = rest) {
    const std::string_view word = take_last_word(rest);
    if (rest.empty() || (word != "force" && word != "dry-run")) break;
    (word == "force" ? order.force : order.dry_run) = true;
  }
  if (const auto value = take_clause(text, "area")) {
    const auto area = parse_edit_area(*value);
    if (!area) return std::unexpected("area: " + area.error());
    order.query.area = *area;
  }
  if (const auto value = take_clause(text, "since")) {
    const auto when = parse_past_s(*value, now_s);
    if (!when) return std::unexpected("since: " + when.error());
    order.query.since_s = *when;
  }
  return {};
}

/// Does a name end in what could as well be meant as a time or an area?
bool ends_like_a_clause(std::string_view name, std::int64_t now_s) {
  std::string_view before = name;
  if (const auto value = take_clause(before, "since")) return parse_past_s(*value, now_s).has_value();
  if (const auto value = take_clause(before, "area")) return parse_edit_area(*value).has_value();
  return false;
}

std::expected<EditOrder, std::string> parse_named(std::string_view text, std::int64_t now_s,
                                                  EditOrder order) {
  order.query.since_s = -1;
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  if (auto good = take_clauses(text, now_s, order); !good) return std::unexpected(good.error());
  if (text.empty() || (order.rollback && order.query.since_s < 0))
    return std::unexpected(order.rollback ? rollback_usage : log_usage);
  if (ends_like_a_clause(text, now_s))
    return std::unexpected("since and area are written once, since first; who is really called \"" +
                           std::string(text) + "\" is named by its key, as log X Y Z and log @all tell it");
  order.subject = text;
  if (order.subject != "@all") order.query.player = order.subject;
  return order;
}

}  // namespace

std::expected<EditOrder, std::string> parse_log_order(std::string_view text, std::int64_t now_s) {
  EditOrder order;
  order.query.limit = edit_lines_max;
  const std::vector<std::string> words = words_of(text);
  if (const auto block = block_of(words)) {
    order.subject = words[0] + " " + words[1] + " " + words[2];
    auto area = parse_edit_area(words[0] + "," + words[1] + "," + words[2] + ",0");
    if (!area) return std::unexpected("log: " + area.error());
    order.query.area = *area;
    return order;
  }
  return parse_named(text, now_s, std::move(order));
}

std::expected<EditOrder, std::string> parse_rollback_order(std::string_view text, std::int64_t now_s) {
  EditOrder order;
  order.rollback = true;
  return parse_named(text, now_s, std::move(order));
}

}  // namespace ashlar::server
