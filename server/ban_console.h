#pragma once
#include <string_view>

#include "server/admin/reply.h"
#include "server/bans/ban_keeper.h"
#include "server/host/host.h"
#include "server/log/log.h"

// What the console's ban, unban and bans do. The loop's thread, between ticks.

namespace ashlar::server {

/// `ban` with what stands behind it: into the list, and out of the game who is there.
void obey_ban(std::string_view text, BanKeeper& bans, Host& host, Reply& reply);
/// `unban` likewise.
void obey_unban(std::string_view text, BanKeeper& bans, Host& host, Reply& reply);
/// `bans`: a line for each, the newest ban_lines_max of them.
void log_bans(const BanKeeper& bans, Reply& reply);
inline constexpr std::size_t ban_lines_max = 100;

/// Tells of what the keeper's thread has ended, hands a list that was read again to the Host, and has tried
/// again what could not be written.
void watch_bans(BanKeeper& bans, Host& host, Log& log);

}  // namespace ashlar::server
