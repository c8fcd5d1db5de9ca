#include "server/config/settings.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "protocol/part_head.h"
#include "server/config/content_settings.h"
#include "server/config/key_value.h"
#include "server/config/list_setting.h"
#include "server/config/values.h"
#include "server/net/address.h"
#include "world/math/ascii.h"
#include "world/math/assert.h"
#include "world/sim/world.h"

namespace ashlar::server {
namespace {

constexpr std::size_t token_issuers_max = 16, admins_max = 64;

/// A whole number within bounds, kept in any integer member.
template <class Access>
Setting whole(std::string key, std::string value_name, std::uint64_t low, std::uint64_t high, Access member,
              std::string help) {
  Setting s{.key = std::move(key), .value_name = std::move(value_name), .help = std::move(help)};
  s.kind = ValueKind::whole;
  s.range = high == std::numeric_limits<std::uint64_t>::max()
                ? "0 to 2^64 - 1"
                : std::to_string(low) + " to " + std::to_string(high);
  s.set = [=](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const auto value = parse_whole(raw.front(), low, high);
    if (!value) return std::unexpected(value.error());
    auto& target = member(config);
    target = static_cast<std::remove_reference_t<decltype(target)>>(*value);
    return {};
  };
  s.get = [=](const Config& config) { return RawValue{std::to_string(member(config))}; };
  return s;
}

template <class Access>
Setting real(std::string key, std::string value_name, double low, double high, Access member,
             std::string help) {
  Setting s{.key = std::move(key), .value_name = std::move(value_name), .help = std::move(help)};
  s.kind = ValueKind::real;
  s.range = real_text(low) + " to " + real_text(high);
  s.set = [=](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const auto value = parse_real(raw.front(), low, high);
    if (!value) return std::unexpected(value.error());
    member(config) = *value;
    return {};
  };
  s.get = [=](const Config& config) { return RawValue{real_text(member(config))}; };
  return s;
}

template <class Access>
Setting text(std::string key, std::string value_name, std::size_t bytes_max, Access member,
             std::string help) {
  Setting s{.key = std::move(key), .value_name = std::move(value_name), .help = std::move(help)};
  s.kind = ValueKind::text;
  s.set = [=](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (auto good = check_text(raw.front(), bytes_max); !good) return good;
    member(config) = raw.front();
    return {};
  };
  s.get = [=](const Config& config) { return RawValue{member(config)}; };
  return s;
}

/// One of a few names; the enumeration counts from 0 in the order of the names.
template <class Access>
Setting choice(std::string key, std::vector<std::string> names, Access member, std::string help) {
  Setting s{.key = std::move(key), .help = std::move(help)};
  s.kind = ValueKind::choice;
  for (std::size_t i = 0; i < names.size(); ++i) {
    s.value_name += (i == 0 ? "" : "|") + names[i];
    s.range += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
  }
  s.set = [=, range = s.range](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const auto found = std::find(names.begin(), names.end(), raw.front());
    if (found == names.end())
      return std::unexpected("\"" + raw.front() + "\" is not one of its values: give " + range);
    auto& target = member(config);
    target = static_cast<std::remove_reference_t<decltype(target)>>(found - names.begin());
    return {};
  };
  s.get = [=](const Config& config) { return RawValue{names[static_cast<std::size_t>(member(config))]}; };
  return s;
}

/// The place of the rule with this number (its type has to be T) in a config, for the settings above.
template <class T>
auto rule_of(std::size_t number) {
  return [number](auto& config) -> auto& {
    using Member = std::conditional_t<std::is_const_v<std::remove_reference_t<decltype(config)>>, const T, T>;
    Member* found = nullptr;
    std::size_t at = 0;
    visit_rules(config.rules, [&](const RuleInfo&, auto& field) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, T>)
        if (at == number) found = &field;
      ++at;
    });
    ASHLAR_ASSERT(found != nullptr);
    return *found;
  };
}

std::vector<std::string> names_of(Solver) { return {"sweep", "correct"}; }
std::vector<std::string> names_of(FreeBlocks) { return {"no", "yes"}; }
std::vector<std::string> names_of(GameMode) {
  return {"sandbox", "cooperative", "deathmatch", "teams", "building"};
}
std::vector<std::string> names_of(FreeAmmo) { return {"no", "yes", "by_maps"}; }
std::vector<std::string> names_of(Switch) { return {"off", "on"}; }
std::vector<std::string> names_of(KeyRule) { return {"ignored", "needed"}; }

/// One setting for each rule that is for operators to set.
std::vector<Setting> rule_settings() {
  std::vector<Setting> out;
  std::size_t number = 0;
  const Rules rules;
  visit_rules(rules, [&](const RuleInfo& info, const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    const std::size_t n = number++;
    if (info.help.empty()) return;
    const std::string key(info.key), help(info.help);
    if constexpr (std::is_enum_v<Field>)
      out.push_back(choice(key, names_of(field), rule_of<Field>(n), help));
    else if constexpr (std::is_same_v<Field, double>)
      out.push_back(real(key, "N", info.low, info.high, rule_of<Field>(n), help));
    else
      out.push_back(whole(key, key == "tick_rate" ? "HZ" : "N", static_cast<std::uint64_t>(info.low),
                          static_cast<std::uint64_t>(info.high), rule_of<Field>(n), help));
  });
  return out;
}

Setting listen_setting() {
  Setting s = text(
      "listen", "ADDRESS", 64, [](auto& c) -> auto& { return c.listen; },
      "Address to listen on, in numbers; * for all of IPv4 and IPv6.");
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (const auto good = parse_listen(raw.front()); !good) return std::unexpected(good.error());
    config.listen = raw.front().empty() ? "*" : raw.front();
    return {};
  };
  return s;
}

Setting key_file_setting() {
  Setting s = text(
      "key_file", "FILE", 4096, [](auto& c) -> auto& { return c.key_file; },
      "The server's own secret key (ashlar-server key new), by which clients know it. Without it: server.key "
      "in "
      "the world's folder, made at the first start; without a world each start has a key of its own.");
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (auto good = check_text(raw.front(), 4096); !good) return good;
    if (kind_of_key(raw.front()) != KeyKind::none)
      return std::unexpected("is a key, but has to be the name of a file of mode 600 that holds one");
    config.key_file = raw.front();
    return {};
  };
  return s;
}

Setting token_issuers_setting() {
  Setting s{.key = "token_issuers", .value_name = "KEY"};
  s.help =
      "Public key of an issuer whose connect tokens let players in (ashlar-issuer-public-...); again for "
      "more, at "
      "most 16. Needed with access token.";
  s.kind = ValueKind::texts;
  is_list(s, &Config::token_issuers, token_issuers_max, "entries", parse_issuer, secure::issuer_public_text,
          any_of_them<secure::IssuerKey>);
  return s;
}

Setting admins_setting() {
  Setting s{.key = "admins", .value_name = "KEY"};
  s.help =
      "Public key of a player who is an admin (ashlar-public-..., as the log shows it at joining); again for "
      "more, at most 64. An admin's lines of chat that begin with // are the console's commands.";
  s.kind = ValueKind::texts;
  is_list(s, &Config::admins, admins_max, "entries", parse_player_key, secure::public_key_text,
          any_of_them<secure::PublicKey>);
  return s;
}

Setting live_setting() {
  Setting s{.key = "live", .help = "Draw the status in place on the terminal, once a second."};
  s.kind = ValueKind::toggle;
  s.range = "true or false";
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const std::string& value = raw.front();
    const bool on = value == "true" || value == "1" || value == "yes" || value == "on";
    const bool off = value == "false" || value == "0" || value == "no" || value == "off";
    if (!on && !off) return std::unexpected("\"" + value + "\" is neither true nor false");
    config.live = on;
    return {};
  };
  s.get = [](const Config& config) { return RawValue{config.live ? "true" : "false"}; };
  return s;
}

Setting backup_every_setting() {
  Setting s{.key = "backup_every",
            .value_name = "TIME",
            .help =
                "Back the world up to its folder backups so often, such as 1h, while it is played in; 0s "
                "never does."};
  s.kind = ValueKind::duration;
  s.range = "0s (never), or 1s to 1000h";
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const auto value = parse_duration(raw.front());
    if (!value) return std::unexpected(value.error());
    if (value->count() != 0 && value->count() < 1000)
      return std::unexpected("is below 1s: a disk needs time, too");
    config.backup_every = *value;
    return {};
  };
  s.get = [](const Config& config) { return RawValue{to_text(config.backup_every)}; };
  return s;
}

Setting send_thread_setting() {
  return choice(
      "send_thread", {"auto", "on", "off"}, [](auto& c) -> auto& { return c.send_thread; },
      "Datagrams are sent on a thread beside the tick's, the same bytes either way; auto: where there is a "
      "processor for it, one more than the tick and the ground threads take.");
}

Setting cipher_setting() {
  return choice(
      "cipher", {"auto", "chacha20"}, [](auto& c) -> auto& { return c.cipher; },
      "What sessions are sealed with: auto takes AES-256-GCM where both ends have it in their processors, "
      "else ChaCha20-Poly1305, which is a little slower.");
}

Setting run_for_setting() {
  Setting s{.key = "for", .value_name = "TIME", .help = "Stop by itself after this time, such as 30s or 5m."};
  s.kind = ValueKind::duration;
  s.range = "0s (never) to 1000h";
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    const auto value = parse_duration(raw.front());
    if (!value) return std::unexpected(value.error());
    config.run_for = *value;
    return {};
  };
  s.get = [](const Config& config) { return RawValue{to_text(config.run_for)}; };
  return s;
}

Setting record_setting() {
  Setting s = text(
      "record", "FILE", 4096, [](auto& c) -> auto& { return c.record_file; },
      "Record everything that enters the tick, for ashlar-sim replay. %Y %m %d %H %M %S %j in the file's "
      "name "
      "stand for the time of the start: match-%Y%m%d-%H%M%S.rec.");
  s.set = [](Config& config, const RawValue& raw) -> std::expected<void, std::string> {
    if (auto good = check_text(raw.front(), 4096); !good) return good;
    if (auto good = check_recording_name(raw.front()); !good && !raw.front().empty()) return good;
    config.record_file = raw.front();
    return {};
  };
  return s;
}

// One lambda serves const and non-const Config alike.
#define MEMBER(path) [](auto& c) -> auto& { return c.path; }  // NOLINT(bugprone-macro-parentheses): a name

/// What a kept world remembers of players and their edits.
std::vector<Setting> memory_settings() {
  return {
      choice(
          "players_return_to", {"place", "start"}, MEMBER(players_return_to),
          "How those begin who come back: where they left off (in the sandbox) with the health and weapons "
          "they had (there and in cooperative play), or at a start, as new ones do."),
      whole("save_interval_ms", "MS", 100, 60'000, MEMBER(save_interval_ms),
            "A kept world's changes are saved in groups no closer together: as much is lost at most when "
            "the machine fails, and a disk that is slow or wears out gets less to do."),
      whole("edit_log_days", "DAYS", 0, 3650, MEMBER(edit_log_days),
            "How long a kept world remembers who changed which block, for ashlar-server world log and "
            "rollback. 0: as far back as edit_log_mib lasts."),
      whole("edit_log_mib", "MIB", 0, 65'536, MEMBER(edit_log_mib),
            "Disk that this may take; some 10 000 changed blocks to a MiB. 0: nothing is remembered.")};
}

std::vector<Setting> build() {
  std::vector<Setting> all;
  const auto group = [&](const char* name, std::vector<Setting> rows) {
    for (Setting& row : rows) {
      row.group = name;
      all.push_back(std::move(row));
    }
  };
  group(
      "Network",
      {listen_setting(),
       whole("port", "PORT", 0, 65535, MEMBER(port), "UDP and TCP port; 0 takes any that is free."),
       whole("max_clients", "N", 1, 4096, MEMBER(clients_max), "Players at once; further ones are refused."),
       whole("max_clients_per_address", "N", 0, 4096, MEMBER(clients_per_address_max),
             "Players from one address (of IPv6: one /64); 0: as many as max_clients. Behind a proxy all "
             "players come from one."),
       whole("rejoins_per_minute", "N", 0, 100000, MEMBER(rejoins_per_minute),
             "Stays of less than a minute that one address may have in a minute, and never fewer than twice "
             "the players that it may have at once, beyond a burst of 64 more than those; who comes and goes "
             "more often waits. 0: no limit."),
       whole("content_bytes_per_s", "N", 0, std::uint64_t{1} << 30, MEMBER(content_bytes_per_s),
             "Bytes a second of maps and props for clients that lack them, all together; one client gets a "
             "quarter at most. 0: none, clients need the files."),
       text("motd", "TEXT", motd_bytes_max, MEMBER(motd), "Message of the day, shown to players who join.")});
  group(
      "World",
      {text("world", "DIR", 4096, MEMBER(world_dir),
            "Folder of the world, made when absent; keeps its seed, rules, maps and every block that was "
            "changed. Without one the world ends with the server."),
       choice("damaged_chunks", {"regenerate", "refuse"}, MEMBER(damaged_chunks),
              "What becomes of a changed chunk whose kept bytes are damaged: it is made anew from the seed, "
              "or its column stays rock that nobody enters. It is named and kept aside either way."),
       backup_every_setting(),
       whole("backups_kept", "N", 1, 1000, MEMBER(backups_kept),
             "Backups of backup_every that are kept; the oldest goes for a newer one."),
       whole("seed", "N", 0, std::numeric_limits<std::uint64_t>::max(), MEMBER(seed),
             "Seed of the terrain and of everything random in the world."),
       whole("secret_seed", "N", 0, std::numeric_limits<std::uint64_t>::max(), MEMBER(secret_seed),
             "Seed of ores, which no client is told, so that nobody sees them through the ground. 0: drawn "
             "at random when the world is made. A world that exists keeps its own."),
       real("ores_seen_m", "N", 0, 64, MEMBER(ores_seen_m),
            "Metres within which players see ores that nobody dug free, as in caves; 0: only dug free they "
            "are told."),
       choice(
           "terrain", {"plains", "hills", "flat", "void"}, MEMBER(terrain),
           "What the ground is like: hills have seas, rivers, cliffs, forests and caves; plains are low and "
           "dry; void is nothing but a platform. A world that exists keeps its own."),
       text("blocks", "FILE", 4096, MEMBER(blocks_file),
            "TOML file of kinds of blocks, beside the built-in ones or in their place. A world keeps its "
            "kinds "
            "with its blocks.")});
  group("World", content_settings());
  group("World",
        {whole("monsters", "N", 0, 4096, MEMBER(monsters),
               "Monsters alive at the start: those of the maps first, the rest on the terrain."),
         text("kinds", "FILE", 4096, MEMBER(kinds_file),
              "TOML file with kinds of monsters and projectiles, over those that are built in "
              "(docs/kinds.md)."),
         choice("doors", {"open", "shut"}, MEMBER(doors),
                "How doors and lifts of the maps stand at the start: open for worlds without anybody to use "
                "them."),
         real("spawn_radius_m", "N", 0, spawn_radius_m_max, MEMBER(spawn_radius_m),
              "Players start on the ground within so many metres of spawn_x_m, spawn_y_m; 0: at the maps' "
              "starts and around them."),
         real("spawn_x_m", "N", -spawn_centre_m_max, spawn_centre_m_max, MEMBER(spawn_x_m),
              "See spawn_radius_m."),
         real("spawn_y_m", "N", -spawn_centre_m_max, spawn_centre_m_max, MEMBER(spawn_y_m),
              "See spawn_radius_m.")});
  group("World", memory_settings());
  group("Rules", rule_settings());
  for (Setting& row : all)
    if (row.key == "seed" || row.key == "secret_seed" || row.key == "terrain" || row.key == "doors" ||
        row.group == "Rules")
      row.of_world = true;
  group("Snapshots", {whole("snapshot_every", "TICKS", 1, 60, MEMBER(snapshot_every_ticks),
                            "Ticks from one snapshot to the next, a second at most."),
                      real("interest_radius_m", "N", 16, 1024, MEMBER(interest_radius_m),
                           "How far a player is told of others, metres."),
                      whole("snapshot_bytes", "N", 4800, 38400, MEMBER(snapshot_bytes_max),
                            "Most that a player is sent in one snapshot, bytes, in whole datagrams of 1200. "
                            "Whoever finds no room goes first in the next one."),
                      whole("client_bytes_per_s", "N", 8000, 125'000'000, MEMBER(client_bytes_per_s),
                            "Most that a player's snapshots take of its line in a second, bytes with IP and "
                            "UDP. Below that they take what the line is measured to carry."),
                      choice("sight_culling", {"off", "on"}, MEMBER(sight_culling),
                             "Whether players are told nothing of whom rock hides from them, so that no "
                             "changed client sees through walls.")});
  static_assert(4800 == snapshot_parts_least * datagram_bytes_max);
  static_assert(38400 == snapshot_parts_max * datagram_bytes_max);
  group("Access",
        {choice("access", {"open", "token"}, MEMBER(access),
                "Whom the server lets in: anybody, or who has a connect token of one of the token_issuers."),
         token_issuers_setting(), key_file_setting(), admins_setting(),
         text("ban_file", "FILE", 4096, MEMBER(ban_file),
              "Who may not come in, as the console's ban writes it. Without it: bans.toml in the world's "
              "folder; "
              "without a world bans end with the run.")});
  group("Sessions", {real("fight_linger_s", "N", 0, 60, MEMBER(fight_linger_s),
                          "Seconds that a player's body stays in the world when it leaves so soon after a "
                          "fight; 0: none does."),
                     real("away_grace_s", "N", 0, 3600, MEMBER(away_grace_s),
                          "Seconds that a player who vanished may come back to its body, which stays in the "
                          "world; 0: it leaves "
                          "at once.")});
  group(
      "Operation",
      {live_setting(),
       whole("status_every", "SECONDS", 0, 86400, MEMBER(status_every_s),
             "Log the status every so many seconds; 0 never does."),
       choice("log_format", {"text", "json"}, MEMBER(log_format), "One event per line, either way."),
       choice("log_level", {"debug", "info", "warning", "error"}, MEMBER(log_level),
              "The least that is logged."),
       whole("ground_threads", "N", 1, ground_threads_max, MEMBER(ground_threads),
             "Threads that generate the ground that players walk towards, beside the tick."),
       send_thread_setting(), cipher_setting(), run_for_setting(), record_setting(),
       choice("record_existing", {"refuse", "next"}, MEMBER(record_existing),
              "When the recording's name is taken: do not start, or go on in a new file with a number behind "
              "its name (match-2.rec)."),
       whole("record_keep_mib", "MIB", 0, 100'000'000, MEMBER(record_keep_mib),
             "Recordings of the pattern together, in MiB: the oldest are removed for newer ones, and a "
             "recording "
             "ends that alone is longer; 0 keeps all."),
       whole("record_keep_days", "DAYS", 0, 36500, MEMBER(record_keep_days),
             "Recordings of the pattern are removed so many days after they ended; 0 keeps all.")});
#undef MEMBER
  for (Setting& row : all)
    if (row.key == "listen" || row.key == "world" || row.key == "blocks" || row.key == "record" ||
        row.key == "key_file" || row.key == "ban_file" || row.key == "kinds")
      row.flag_needs_text = true;
  return all;
}

}  // namespace

std::string Setting::flag() const {
  std::string name = "--" + key;
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::string Setting::variable() const { return "ASHLAR_" + upper_ascii(key); }

std::span<const Setting> settings() {
  static const std::vector<Setting> all = build();
  return all;
}

std::size_t find_setting(std::string_view key) {
  const auto all = settings();
  const auto found = std::find_if(all.begin(), all.end(), [&](const Setting& s) { return s.key == key; });
  return found == all.end() ? no_setting : static_cast<std::size_t>(found - all.begin());
}

}  // namespace ashlar::server
