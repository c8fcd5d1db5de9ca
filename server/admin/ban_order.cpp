#include "server/admin/ban_order.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "protocol/secure/connect_token.h"
#include "protocol/secure/key_text.h"
#include "protocol/text.h"
#include "server/admin/console.h"
#include "server/config/key_value.h"
#include "server/config/moment.h"

namespace ashlar::server {
namespace {

constexpr std::string_view token_mark = "token:";
constexpr const char* ban_usage =
    "ban NAME|#CONNECTION|KEY|token:ID|ADDRESS [for 2h] [REASON]; players lists who is here";

/// The first word; `text` is what follows it.
std::string_view take_word(std::string_view& text) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, blank);
  text.remove_prefix(std::min(text.find_first_not_of(' ', blank), text.size()));
  return word;
}

BanOrder::One by_identity(const PlayerHere& player) {
  if (!player.token_id.empty()) return {TokenId{player.token_id}, player.name};
  return {player.key, player.name};
}

/// A word that spells a target by itself. Nothing: it looks like none.
std::optional<std::expected<BanTarget, std::string>> spelled(std::string_view word) {
  using Target = std::expected<BanTarget, std::string>;
  if (const KeyKind kind = kind_of_key(word); kind != KeyKind::none) {
    const auto key = secure::read_public_key(word);
    if (key) return Target(*key);
    return Target(std::unexpected("the key " + key_complaint(key.error(), KeyKind::open, word)));
  }
  if (word.starts_with(token_mark)) {
    const std::string_view id = word.substr(token_mark.size());
    if (valid_text(id, 1, secure::token_id_bytes_max)) return Target(TokenId{std::string(id)});
    return Target(std::unexpected("token: needs a player's id behind it, of 1 to " +
                                  std::to_string(secure::token_id_bytes_max) + " characters"));
  }
  if (!looks_like_network(word)) return std::nullopt;
  const auto network = parse_network(word);
  if (network) return Target(*network);
  return Target(std::unexpected(network.error()));
}

/// "#17": whose connection has that number.
std::expected<BanOrder::One, std::string> by_connection(std::string_view word,
                                                        std::span<const PlayerHere> here) {
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
  const bool whole = error == std::errc{} && end == word.data() + word.size();
  const auto found = std::ranges::find(here, number, &PlayerHere::connection);
  if (!whole || found == here.end())
    return std::unexpected("nobody has the connection " + std::string(word) + "; players lists them");
  return by_identity(*found);
}

std::vector<std::string> names_of(std::span<const PlayerHere> here) {
  std::vector<std::string> names;
  for (const PlayerHere& player : here) names.push_back(player.name);
  return names;
}

std::string number_text(const PlayerHere& player) { return "#" + std::to_string(player.connection); }

/// Players choose their names: where the text begins with one's, too, whom the word does not mean, it may
/// have chosen that to have another banned.
std::expected<void, std::string> check_nobody_called(std::string_view text, const BanTarget& meant,
                                                     std::span<const PlayerHere> here) {
  const auto named = split_name(text, names_of(here));
  if (!named) return {};
  for (const PlayerHere& player : here)
    if (player.name == named->name && by_identity(player).target != meant)
      return std::unexpected("a player who is here is called " + named->name + ": ban " +
                             number_text(player) + " for that one; when it is gone, say this once more");
  return {};
}

/// "ann for 2h", where one is called so and another one ann.
std::expected<void, std::string> check_no_span_in_name(const std::string& name,
                                                       std::span<const PlayerHere> here) {
  const auto longer = std::ranges::find(here, name, &PlayerHere::name);
  for (const PlayerHere& player : here)
    if (name.starts_with(player.name + " for "))
      return std::unexpected("both " + player.name + " (" + number_text(player) + ") and " + name + " (" +
                             number_text(*longer) + ") are here: ban one by its number");
  return {};
}

/// Whom the text begins with; what follows is left in it.
std::expected<std::vector<BanOrder::One>, std::string> take_who(std::string_view& text,
                                                                std::span<const PlayerHere> here) {
  std::string_view rest = text;
  const std::string_view word = take_word(rest);
  if (word.starts_with('#')) {
    auto one = by_connection(word, here);
    if (!one) return std::unexpected(std::move(one.error()));
    if (auto good = check_nobody_called(text, one->target, here); !good)
      return std::unexpected(std::move(good.error()));
    text = rest;
    return std::vector{std::move(*one)};
  }
  if (auto target = spelled(word)) {
    if (!*target) return std::unexpected(std::move(target->error()));
    if (auto good = check_nobody_called(text, **target, here); !good)
      return std::unexpected(std::move(good.error()));
    text = rest;
    std::string name;
    for (const PlayerHere& player : here)
      if (by_identity(player).target == **target) name = player.name;
    return std::vector{BanOrder::One{std::move(**target), std::move(name)}};
  }
  const auto named = split_name(text, names_of(here));
  if (!named)
    return std::unexpected(named.error() + "; who is not here is banned by key, token:ID or address");
  if (auto good = check_no_span_in_name(named->name, here); !good)
    return std::unexpected(std::move(good.error()));
  text = named->rest;
  std::vector<BanOrder::One> who;
  for (const PlayerHere& player : here)
    if (player.name == named->name) who.push_back(by_identity(player));
  return who;
}

}  // namespace

std::expected<BanOrder, std::string> parse_ban_order(std::string_view text,
                                                     std::span<const PlayerHere> here) {
  if (text.empty()) return std::unexpected(std::string("ban needs somebody: ") + ban_usage);
  BanOrder order;
  auto who = take_who(text, here);
  if (!who) return std::unexpected(std::move(who.error()));
  order.who = std::move(*who);
  std::string_view rest = text;
  if (take_word(rest) == "for") {
    const std::string_view span = take_word(rest);
    // "for -5m", "for nan" and nothing at all were meant as a span, and a ban for ever is none of them.
    const bool meant =
        span.empty() || span == "nan" || span == "inf" || span.front() == '-' || span.front() == '+';
    if (meant) return std::unexpected("ban for needs how long: give such as for 2h, for 3d or for ever");
    const bool number = span.front() >= '0' && span.front() <= '9';
    if (number) {
      const auto for_s = parse_span_s(span);
      if (!for_s || *for_s == 0)
        return std::unexpected(for_s ? std::string("ban for 0s bans nobody: give such as for 2h")
                                     : for_s.error());
      order.for_s = *for_s;
    }
    // "for digging" is a reason.
    if (number || span == "ever") text = rest;
  }
  if (!valid_text(text, 0, ban_reason_bytes_max))
    return std::unexpected("the reason of a ban is at most " + std::to_string(ban_reason_bytes_max) +
                           " printable bytes");
  order.reason = std::string(text);
  return order;
}

std::expected<std::vector<BanTarget>, std::string> parse_unban_order(std::string_view text,
                                                                     const BanList& bans) {
  if (text.empty())
    return std::unexpected("unban needs somebody: unban NAME|KEY|token:ID|ADDRESS; bans lists them");
  std::vector<BanTarget> out;
  if (const auto target = spelled(text)) {
    if (!*target) return std::unexpected(target->error());
    if (bans.entries().contains(**target)) out.push_back(**target);
  } else {
    for (const auto& [banned, ban] : bans.entries())
      if (ban.name == text) out.push_back(banned);
  }
  if (out.empty()) return std::unexpected("nobody is banned as " + std::string(text) + "; bans lists them");
  return out;
}

}  // namespace ashlar::server
