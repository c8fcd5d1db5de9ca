#include "server/ban_console.h"

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "server/admin/ban_order.h"
#include "server/config/moment.h"

namespace ashlar::server {
namespace {

std::int64_t unix_now_s() { return static_cast<std::int64_t>(std::time(nullptr)); }

std::string until_text(const Ban& ban) { return ban.until_s == 0 ? "for ever" : moment_text(ban.until_s); }

std::vector<PlayerHere> players_here(const Host& host) {
  std::vector<PlayerHere> here;
  for (const bool away : {false, true})
    for (PlayerInfo& player : away ? host.away_players() : host.players())
      here.push_back({std::move(player.name), player.connection, player.key, std::move(player.token_id)});
  return here;
}

/// The file that it is about to be written to; whether it was, watch_bans() tells.
LogField where(const BanKeeper& bans) {
  if (!bans.file().empty()) return {"file", bans.file()};
  return {"kept", "nowhere: it ends with this run, as there is neither --world nor --ban-file"};
}

}  // namespace

void obey_ban(std::string_view text, BanKeeper& bans, Host& host, Reply& reply) {
  const auto order = parse_ban_order(text, players_here(host));
  if (!order) return reply.warning("console", {{"error", order.error()}});
  const std::int64_t now_s = unix_now_s();
  std::vector<NewBan> added;
  for (const BanOrder::One& one : order->who)
    added.push_back(
        {one.target,
         {one.name, order->reason, "console", now_s, order->for_s == 0 ? 0 : now_s + order->for_s}});
  if (const auto done = bans.add(added, now_s); !done)
    return reply.warning("console", {{"error", done.error()}});
  for (const auto& [target, ban] : added)
    reply.info("console", {{"ban", to_text(target)},
                           {"player", ban.name},
                           {"until", until_text(ban)},
                           {"reason", ban.reason},
                           where(bans)});
  host.set_bans(bans.list());
}

void obey_unban(std::string_view text, BanKeeper& bans, Host& host, Reply& reply) {
  const auto targets = parse_unban_order(text, *bans.list());
  if (!targets) return reply.warning("console", {{"error", targets.error()}});
  if (const auto done = bans.remove(*targets, unix_now_s()); !done)
    return reply.warning("console", {{"error", done.error()}});
  for (const BanTarget& target : *targets) reply.info("console", {{"unban", to_text(target)}, where(bans)});
  host.set_bans(bans.list());
}

void log_bans(const BanKeeper& bans, Reply& reply) {
  const std::int64_t now_s = unix_now_s();
  std::vector<const BanList::Entries::value_type*> shown;
  for (const auto& entry : bans.list()->entries())
    if (!entry.second.over(now_s)) shown.push_back(&entry);
  const std::size_t count = shown.size();
  std::ranges::sort(shown, [](const auto* a, const auto* b) {
    return a->second.since_s != b->second.since_s ? a->second.since_s > b->second.since_s
                                                  : a->first < b->first;
  });
  shown.resize(std::min(count, ban_lines_max));
  for (const auto* entry : shown) {
    const Ban& ban = entry->second;
    reply.info("ban", {{"who", to_text(entry->first)},
                       {"player", ban.name},
                       {"since", ban.since_s == 0 ? "" : moment_text(ban.since_s)},
                       {"until", until_text(ban)},
                       {"by", ban.by},
                       {"reason", ban.reason}});
  }
  reply.info("console", {{"bans", count}, {"shown", shown.size()}, {"file", bans.file()}});
}

void watch_bans(BanKeeper& bans, Host& host, Log& log) {
  bans.write_again(unix_now_s());
  while (const auto ended = bans.take_ended()) {
    if (!ended->error.empty()) {
      log.event(LogLevel::error, ended->reread ? "bans_not_read" : "bans_not_kept",
                {{"error", ended->error}});
      continue;
    }
    if (!ended->reread) {
      log.info("bans_kept", {{"file", bans.file()}});
      continue;
    }
    host.set_bans(bans.list());
    log.info("bans_read", {{"file", bans.file()}, {"bans", bans.list()->entries().size()}});
  }
}

}  // namespace ashlar::server
