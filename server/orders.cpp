#include "server/orders.h"

#include <cmath>
#include <string>
#include <vector>

#include "server/admin/console.h"
#include "server/ban_console.h"
#include "server/edit_history.h"
#include "server/net/address.h"
#include "world/sim/world.h"
#include "world/voxel/block_registry.h"

namespace ashlar::server {
namespace {

void log_players(const Host& host, std::chrono::microseconds now, Reply& reply) {
  const std::vector<PlayerInfo> players = host.players();
  for (const PlayerInfo& player : players)
    reply.info("player", {{"player", player.name},
                          {"address", to_text(player.peer)},
                          {"transport", player.peer.transport == Transport::tcp ? "tcp" : "udp"},
                          {"connection", player.connection},
                          {"playing_s", (now - player.joined_at).count() / 1'000'000},
                          {"ping_ms", static_cast<double>(player.rtt.count() / 100) / 10.0},
                          {"loss_in_pct", std::round(player.loss_in * 1000) / 10},
                          {"loss_out_pct", std::round(player.loss_out * 1000) / 10}});
  reply.info("console", {{"players", players.size()}});
}

void kick(const std::string& text, Host& host, Reply& reply) {
  std::vector<std::string> names;
  for (PlayerInfo& player : host.players()) names.push_back(std::move(player.name));
  for (PlayerInfo& player : host.away_players()) names.push_back(std::move(player.name));
  const auto order = kick_order(text, names);
  if (!order) return reply.warning("console", {{"error", order.error()}});
  const std::uint32_t kicked = host.kick(order->name, order->reason);
  reply.info("console", {{"kick", order->name}, {"reason", order->reason}, {"players", kicked}});
}

void fill_box(const BlockBox& box, BlockId id, Host& host, const Reply& reply) {
  AdminCommand act;
  act.action = AdminAction::fill_box;
  act.player = reply.by();
  act.box = box;
  act.id = id;
  host.admin(act);
}

/// Blocks of a box in ground that is loaded: others are not changed.
std::int64_t loaded_blocks(const BlockBox& box, const Host& host) {
  const VoxelVolume& volume = *host.world().space().voxels;
  std::int64_t count = 0;
  for (std::int32_t x = box.min.x; x < box.max.x; ++x)
    for (std::int32_t y = box.min.y; y < box.max.y; ++y)
      for (std::int32_t z = box.min.z; z < box.max.z; ++z)
        count += volume.loaded(chunk_of({x, y, z})) ? 1 : 0;
  return count;
}

/// Would anything become that kind of block? Who asked is told why not.
/// @param loaded  blocks of those that are meant
bool changes_some(std::int64_t loaded, BlockId id, const Host& host, Reply& reply) {
  const BlockRegistry& kinds = *host.world().setup().blocks;
  std::string wrong;
  if (kinds.is_tool(id))
    wrong = kinds.type(id).name + " is a tool, which is put nowhere: see give";
  else if (loaded == 0)
    wrong =
        "the ground there is not loaded: somebody has to be near, and above and below its heights there is "
        "none";
  if (!wrong.empty()) reply.warning("console", {{"error", wrong}});
  return wrong.empty();
}

void fill_blocks(const ConsoleCommand& command, Host& host, Reply& reply) {
  const BlockBox& box = command.box;
  const std::int64_t loaded = loaded_blocks(box, host);
  if (!changes_some(loaded, command.id, host, reply)) return;
  fill_box(box, command.id, host, reply);
  const IVec3 size = box.max - box.min;
  const std::int64_t blocks = std::int64_t{size.x} * size.y * size.z;
  if (loaded < blocks)
    reply.warning("console", {{"not_loaded", blocks - loaded},
                              {"remedy", "go near the rest of the box and fill that again"}});
  reply.info("console", {{"fill", host.world().setup().blocks->type(command.id).name},
                         {"x", box.min.x},
                         {"y", box.min.y},
                         {"z", box.min.z},
                         {"blocks", blocks}});
}

void blast(const ConsoleCommand& command, Host& host, Reply& reply) {
  const BlockBox middle{command.block, command.block + IVec3{1, 1, 1}};
  if (!changes_some(loaded_blocks(middle, host), BlockId::air, host, reply)) return;
  AdminCommand act;
  act.action = AdminAction::blast;
  act.player = reply.by();
  act.position_m = block_middle(command.block);
  act.radius_m = command.radius_m;
  host.admin(act);
  reply.info("console", {{"blast_m", command.radius_m},
                         {"x", command.block.x},
                         {"y", command.block.y},
                         {"z", command.block.z}});
}

void set_block(const ConsoleCommand& command, Host& host, Reply& reply) {
  const IVec3 at = command.block;
  const BlockBox box{at, at + IVec3{1, 1, 1}};
  if (!changes_some(loaded_blocks(box, host), command.id, host, reply)) return;
  fill_box(box, command.id, host, reply);
  reply.info(
      "console",
      {{"block", host.world().setup().blocks->type(command.id).name}, {"x", at.x}, {"y", at.y}, {"z", at.z}});
}

void give(const ConsoleCommand& command, Host& host, Reply& reply) {
  const Host::Gift gift = host.give(command.argument, command.id, command.count);
  if (gift.players == 0)
    return reply.warning("console", {{"error", "no player is called " + command.argument}});
  if (gift.items == 0)
    return reply.warning("console", {{"error", "nobody called " + command.argument + " has room for one"}});
  reply.info("console", {{"give", command.argument},
                         {"item", host.world().setup().blocks->type(command.id).name},
                         {"count", gift.items},
                         {"players", gift.players}});
}

void change_map(const ConsoleCommand& command, MapRotation* rotation, Reply& reply) {
  if (rotation == nullptr)
    return reply.warning("console", {{"error", "this server has one world: start it with --rotation"}});
  const bool named = command.verb == ConsoleVerb::map;
  if (named)
    rotation->go_to(command.argument);
  else
    rotation->go_on();
  reply.info("console",
             {{"next_map", named ? command.argument : "in its turn"}, {"playing", rotation->playing()}});
}

void obey_bans(const ConsoleCommand& command, BanKeeper* bans, Host& host, Reply& reply) {
  if (bans == nullptr) return reply.warning("console", {{"error", "this server keeps no bans"}});
  if (command.verb == ConsoleVerb::ban) return obey_ban(command.argument, *bans, host, reply);
  if (command.verb == ConsoleVerb::unban) return obey_unban(command.argument, *bans, host, reply);
  log_bans(*bans, reply);
}

void ask_history(const ConsoleCommand& command, EditHistory* history, std::int64_t unix_s, Reply& reply) {
  const auto order = command.verb == ConsoleVerb::log ? parse_log_order(command.argument, unix_s)
                                                      : parse_rollback_order(command.argument, unix_s);
  if (!order)
    reply.warning("console", {{"error", order.error()}});
  else if (history != nullptr)
    history->ask(*order, reply);
}

void set_noclip(const ConsoleCommand& command, Host& host, Reply& reply) {
  if (const std::uint32_t granted = host.set_noclip(command.argument, command.on); granted > 0)
    reply.info("console", {{"noclip", command.argument}, {"on", command.on}, {"players", granted}});
  else
    reply.warning("console", {{"error", "no player is called " + command.argument}});
}

void set_watching(const ConsoleCommand& command, Host& host, Reply& reply) {
  const bool watches = command.verb == ConsoleVerb::spectate;
  if (const std::uint32_t players = host.set_watching(command.argument, watches); players > 0)
    reply.info("console", {{watches ? "spectate" : "play", command.argument}, {"players", players}});
  else
    reply.warning("console", {{"error", "no player is called " + command.argument}});
}

void tell_status(const Host& host, Reply& reply) {
  const HostStatus& status = host.status();
  reply.info("console",
             {{"tick", status.tick}, {"clients", status.clients}, {"ticks_late", status.ticks_late}});
}

}  // namespace

OrderWishes obey(std::string_view line, const OrderReach& reach, Host& host, std::chrono::microseconds now,
                 std::int64_t unix_s, Reply& reply) {
  OrderWishes wishes;
  if (line.find_first_not_of(" \t\r") == std::string_view::npos) return wishes;
  const auto command = parse_console_line(line, *host.world().setup().blocks);
  if (!command) {
    reply.warning("console", {{"error", command.error()}});
    return wishes;
  }
  switch (command->verb) {
    case ConsoleVerb::help: reply.info("console", {{"commands", console_help()}}); break;
    case ConsoleVerb::status:
      wishes.status = true;
      tell_status(host, reply);
      break;
    case ConsoleVerb::reload: wishes.reload = true; break;
    case ConsoleVerb::stop: wishes.stop = true; break;
    case ConsoleVerb::players: log_players(host, now, reply); break;
    case ConsoleVerb::say:
      host.say(command->argument);
      reply.info("console", {{"say", command->argument}});
      break;
    case ConsoleVerb::kick: kick(command->argument, host, reply); break;
    case ConsoleVerb::motd:
      host.set_message_of_the_day(command->argument);
      reply.info("console", {{"motd", command->argument}});
      break;
    case ConsoleVerb::noclip: set_noclip(*command, host, reply); break;
    case ConsoleVerb::spectate:
    case ConsoleVerb::play: set_watching(*command, host, reply); break;
    case ConsoleVerb::give: give(*command, host, reply); break;
    case ConsoleVerb::dig:
    case ConsoleVerb::set: set_block(*command, host, reply); break;
    case ConsoleVerb::fill: fill_blocks(*command, host, reply); break;
    case ConsoleVerb::blast: blast(*command, host, reply); break;
    case ConsoleVerb::next:
    case ConsoleVerb::map: change_map(*command, reach.rotation, reply); break;
    case ConsoleVerb::ban:
    case ConsoleVerb::unban:
    case ConsoleVerb::bans: obey_bans(*command, reach.bans, host, reply); break;
    case ConsoleVerb::log:
    case ConsoleVerb::rollback: ask_history(*command, reach.history, unix_s, reply); break;
  }
  return wishes;
}

}  // namespace ashlar::server
