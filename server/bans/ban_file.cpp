// First, as it says.
#include "world/content/toml_parser.h"
//
#include "server/bans/ban_file.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "protocol/secure/connect_token.h"
#include "protocol/text.h"
#include "server/config/ascii_armour.h"
#include "server/config/file.h"
#include "server/config/key_value.h"
#include "server/config/moment.h"
#include "server/config/values.h"

namespace ashlar::server {
namespace {

constexpr std::size_t by_bytes_max = 64;
constexpr std::string_view file_head =
    "# Who may not come in. The server writes this file when its console bans somebody; after an edit by "
    "hand\n"
    "# type reload, or send HUP. Times are UTC.\n";

/// An error at a place in the file.
struct BanMisread {
  std::uint32_t line = 0;
  std::string what;
};
using Bad = std::unexpected<BanMisread>;

std::uint32_t ban_line(const toml::node& node) { return node.source().begin.line; }

/// One [[ban]] on its way.
struct BanTable {
  std::optional<BanTarget> target;
  Ban ban;
};

std::expected<BanTarget, std::string> read_target(std::string_view key, const std::string& text) {
  if (key == "key") {
    const auto read = secure::read_public_key(text);
    if (!read) return std::unexpected("key " + key_complaint(read.error(), KeyKind::open, text));
    return *read;
  }
  if (key == "address") {
    const auto read = parse_network(text);
    if (!read) return std::unexpected("address " + read.error());
    return *read;
  }
  const bool plain = std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
  if (text.empty() || text.size() > secure::token_id_bytes_max || !plain)
    return std::unexpected("token has to be a player's id, 1 to " +
                           std::to_string(secure::token_id_bytes_max) +
                           " printable ASCII characters without a blank");
  return TokenId{text};
}

std::expected<std::int64_t, std::string> read_time(std::string_view key, const std::string& text) {
  const std::int64_t unix_s = parse_utc_s(text);
  if (unix_s > 0) return unix_s;
  return std::unexpected(std::string(key) + " has to be a UTC time such as \"2030-01-31T12:00:00Z\"");
}

std::expected<void, std::string> take_value(std::string_view key, const std::string& text, BanTable& table) {
  if (key == "key" || key == "token" || key == "address") {
    if (table.target) return std::unexpected("a [[ban]] has two of key, token and address: make it two bans");
    auto target = read_target(key, text);
    if (!target) return std::unexpected(std::move(target.error()));
    table.target = std::move(*target);
  } else if (key == "since" || key == "until") {
    const auto unix_s = read_time(key, text);
    if (!unix_s) return std::unexpected(unix_s.error());
    (key == "since" ? table.ban.since_s : table.ban.until_s) = *unix_s;
  } else if (key == "name") {
    if (!valid_player_name(text)) return std::unexpected("name has to be one that a player can have");
    table.ban.name = text;
  } else if (key == "reason" || key == "by") {
    const std::size_t bytes_max = key == "reason" ? ban_reason_bytes_max : by_bytes_max;
    if (!valid_text(text, 0, bytes_max))
      return std::unexpected(std::string(key) + " has to be printable and at most " +
                             std::to_string(bytes_max) + " bytes");
    (key == "reason" ? table.ban.reason : table.ban.by) = text;
  } else {
    return std::unexpected(
        "unknown key \"" + one_line(std::string(key)) +
        "\" in [[ban]]: it takes key, token or address, and name, reason, by, since and until");
  }
  return {};
}

std::expected<BanTable, BanMisread> read_table(const toml::table& table) {
  BanTable out;
  for (const auto& [key, node] : table) {
    const std::string k = from_ascii(key.str());
    const auto* text = node.as_string();
    if (text == nullptr) return Bad({ban_line(node), one_line(k) + " of a ban has to be a text in quotes"});
    if (auto took = take_value(k, from_ascii(**text), out); !took)
      return Bad({ban_line(node), std::move(took.error())});
  }
  if (!out.target)
    return Bad({ban_line(table), "a [[ban]] names nobody: give it a key, a token or an address"});
  return out;
}

std::expected<BanList, BanMisread> read_tables(const toml::table& file) {
  BanList bans;
  for (const auto& [key, node] : file) {
    const toml::array* const tables = key.str() == "ban" ? node.as_array() : nullptr;
    if (tables == nullptr)
      return Bad({ban_line(node),
                  "\"" + one_line(from_ascii(key.str())) + "\" is no [[ban]]: this file holds nothing else"});
    for (const toml::node& entry : *tables) {
      const toml::table* const table = entry.as_table();
      if (table == nullptr) return Bad({ban_line(entry), "a ban has to be a [[ban]] table"});
      auto ban = read_table(*table);
      if (!ban) return Bad(std::move(ban.error()));
      if (bans.entries().contains(*ban->target))
        return Bad({ban_line(*table), to_text(*ban->target) + " is banned twice: take one out"});
      if (!bans.add(*ban->target, std::move(ban->ban)))
        return Bad({ban_line(*table), "there are more than " + std::to_string(BanList::bans_max) +
                                          " bans: take out those that are over, or ban networks"});
    }
  }
  return bans;
}

std::string quoted_ban_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

void add_line(std::string& out, const char* key, std::string_view text) {
  if (!text.empty()) out += std::string(key) + " = " + quoted_ban_text(text) + "\n";
}

std::string time_text(std::int64_t unix_s) { return unix_s == 0 ? "" : moment_text(unix_s); }

}  // namespace

std::expected<BanList, std::string> parse_bans(std::string_view text, const std::string& name) {
  const auto wrong = [&](const BanMisread& misread) {
    return std::unexpected(name + ":" + std::to_string(std::max(misread.line, 1u)) + ": " + misread.what);
  };
  const auto ascii = to_ascii(text);
  if (!ascii) return wrong({ascii.error(), "this is not UTF-8: save the file as UTF-8"});
  const auto table = parse_toml(*ascii, name);
  if (!table) return wrong({table.error().line, one_line(from_ascii(table.error().what))});
  auto bans = read_tables(*table);
  if (!bans) return wrong(bans.error());
  return std::move(*bans);
}

std::string bans_text(const BanList& bans) {
  std::string out(file_head);
  for (const auto& [target, ban] : bans.entries()) {
    out += "\n[[ban]]\n";
    if (std::holds_alternative<TokenId>(target))
      add_line(out, "token", std::get<TokenId>(target).text);
    else
      add_line(out, std::holds_alternative<Network>(target) ? "address" : "key", to_text(target));
    add_line(out, "name", ban.name);
    add_line(out, "reason", ban.reason);
    add_line(out, "by", ban.by);
    add_line(out, "since", time_text(ban.since_s));
    add_line(out, "until", time_text(ban.until_s));
  }
  return out;
}

std::expected<BanFile, std::string> read_ban_file(const std::string& path) {
  std::error_code error;
  const auto what = std::filesystem::symlink_status(path, error);
  if (!std::filesystem::exists(what)) return BanFile{};
  // Its bans may be on a disk that is missing.
  if (std::filesystem::is_symlink(what) && !std::filesystem::exists(path, error) && !error)
    return std::unexpected("cannot read " + path + ": it is a link to " +
                           std::filesystem::read_symlink(path, error).string() +
                           ", which is not there: make that, or take the link away");
  auto text = read_file(path, ban_file_bytes_max);
  if (!text) return std::unexpected(std::move(text.error()));
  auto bans = parse_bans(*text, path);
  if (!bans) return std::unexpected(std::move(bans.error()));
  return BanFile{std::move(*bans), std::move(*text)};
}

}  // namespace ashlar::server
