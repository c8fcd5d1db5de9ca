#include "server/serve.h"

#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>

#include "protocol/recorded_world.h"
#include "protocol/secure/key_text.h"
#include "server/background.h"
#include "server/backups.h"
#include "server/ban_console.h"
#include "server/config/version.h"
#include "server/config/without_effect.h"
#include "server/ground_workers.h"
#include "server/host/defects.h"
#include "server/host/host.h"
#include "server/log/log.h"
#include "server/loop.h"
#include "server/net/file_limit.h"
#include "server/net/transports.h"
#include "server/saving.h"
#include "server/startup.h"
#include "server/store/recorder.h"
#include "world/bsp/line_specials.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"
#include "world/sim/thing_table.h"

namespace ashlar::server {
namespace {

using Failure = std::unexpected<std::string>;

static_assert(ground_threads_max == GroundWorkers::columns_max);
#ifndef ASHLAR_DEFECTS_EVERYWHERE
static_assert(!defects_built_in && std::is_empty_v<Defects>, "the server has no switch for what is wrong");
#endif

std::string joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ",") + text;
  return out;
}

/// Every setting that is not at its default, with where it came from.
void log_settings(Log& log, const LoadedConfig& loaded) {
  for (std::size_t index = 0; index < settings().size(); ++index) {
    if (loaded.origins[index].empty()) continue;
    const Setting& setting = settings()[index];
    const bool secret = setting.key == "secret_seed";  // logs are read by many
    log.info("setting", {{"key", setting.key},
                         {"value", secret ? "(not shown)" : joined(setting.get(loaded.config))},
                         {"from", loaded.origins[index]}});
  }
  for (const std::string& variable : loaded.unknown_variables)
    log.warning("unknown_variable", {{"name", variable}, {"remedy", variable_remedy(variable)}});
  for (const WithoutEffect& one : without_effect(loaded))
    log.warning("setting_without_effect", {{"key", one.key}, {"from", one.from}, {"remedy", one.needs}});
}

void log_buffer(Log& log, const Transports& transports) {
  const std::size_t wanted = transports.receive_buffer_bytes_wanted();
  if (transports.receive_buffer_bytes() >= wanted) return;
  log.warning("receive_buffer_small",
              {{"bytes", transports.receive_buffer_bytes()},
               {"wanted_bytes", wanted},
               {"remedy", "sysctl -w net.core.rmem_max=" + std::to_string(wanted / 2) + ", then restart"}});
}

/// How long maps and props took, where the visibility sets came from, what clients may fetch, and what the
/// maps have to do without.
void log_content(Log& log, const Startup& startup) {
  const VisibilityCache& sets = *startup.sets;
  const WorldSetup& setup = startup.content.setup;
  log.info("content", {{"took_ms", startup.content_ms},
                       {"maps", setup.maps.size()},
                       {"props", setup.props.size()},
                       {"visibility_read", sets.read()},
                       {"visibility_computed", sets.computed()},
                       {"fetchable_bytes", startup.shelf == nullptr ? 0 : startup.shelf->bytes()}});
  for (const std::string& why : startup.not_offered)
    log.warning("content_not_offered",
                {{"reason", why}, {"remedy", "give players its file: they cannot fetch it"}});
  for (const VisibilityCache::Trouble& trouble : sets.refused())
    log.warning("visibility_recomputed", {{"file", trouble.file}, {"reason", trouble.reason}});
  for (const VisibilityCache::Trouble& trouble : sets.unwritten())
    log.warning("visibility_not_kept",
                {{"file", trouble.file},
                 {"reason", trouble.reason},
                 {"remedy", "make the world's folder writable, or each start computes it again"}});
  for (const auto& map : setup.maps)
    if (!map->no_doorway().empty())
      log.warning("no_doorway", {{"map", map->name()}, {"reason", map->no_doorway()}});
}

/// "271x2 999x1": which line specials nobody here knows, and on how many lines each.
std::string numbers_and_counts(std::span<const std::pair<std::uint16_t, std::uint32_t>> unknown) {
  std::string out;
  for (const auto& [number, count] : unknown)
    out += (out.empty() ? "" : " ") + std::to_string(number) + "x" + std::to_string(count);
  return out;
}

/// What HUP has read anew.
struct Reloaded {
  std::expected<LoadedConfig, std::string> config;
  std::expected<std::shared_ptr<const KindSet>, std::string> kinds;  ///< null: no file is named
};

void read_again(Background<Reloaded>& reading, const CommandLine& line, const Config& config,
                const Host& host) {
  reading.start([line, file = config.kinds_file, blocks = host.world().setup().blocks] {
    return Reloaded{load_config(line, own_environment()), read_kinds_file(file, *blocks)};
  });
}

/// The file of kinds: a world keeps those that it began with, so a good one waits, and a wrong one is told
/// while there is time.
/// @param rotation  null: no world begins without a restart
void reload_kinds(const Reloaded& fresh, KindsToCome& kinds, MapRotation* rotation, Log& log) {
  if (!fresh.kinds) {
    log.event(LogLevel::error, "kinds_not_read",
              {{"error", fresh.kinds.error()}, {"effect", "the kinds stay as they are"}});
    return;
  }
  const auto last = kinds.get();
  if (*fresh.kinds == nullptr || (last != nullptr && (*fresh.kinds)->source == last->source)) return;
  kinds.set(*fresh.kinds);
  if (rotation != nullptr) rotation->make_again();
  log.info("kinds_read", {{"effect", rotation != nullptr ? "they apply from the next map on"
                                                         : "they apply from the next start on"}});
}

/// After HUP read the layers again: what can change while clients play does, the rest is named.
/// @param given  the layers as they were read at the start
/// @param kept   the same with the places of maps and props, as a world's file names them that was just made;
///               flags and environment go before it and name them as they did
void reload(const Reloaded& fresh, const LoadedConfig& given, const LoadedConfig& kept, Host& host,
            Log& log) {
  if (!fresh.config) {
    log.event(LogLevel::error, "reload_failed", {{"error", fresh.config.error()}});
    return;
  }
  const Config& now_config = fresh.config->config;
  for (const Setting& setting : settings()) {
    const auto now = setting.get(now_config);
    if (now == setting.get(given.config) || now == setting.get(kept.config)) continue;
    if (setting.key != "motd" && setting.key != "log_level")
      log.warning("reload_ignored", {{"key", setting.key}, {"remedy", "needs a restart"}});
  }
  host.set_message_of_the_day(now_config.motd);
  log.set_level(now_config.log_level);
  log.info("reloaded", {{"motd", now_config.motd}, {"config", fresh.config->config_file}});
}

/// The log, and what it shares the terminal with.
struct Output {
  explicit Output(const Config& config)
      : writer(std::make_shared<OutputWriter>(STDOUT_FILENO)),
        log(std::make_unique<Log>(config.log_format, config.log_level, writer)),
        // Drawing in place needs a terminal: anywhere else the status becomes lines of the log.
        live(config.live && ::isatty(STDOUT_FILENO) == 1) {}
  std::shared_ptr<OutputWriter> writer;
  std::unique_ptr<Log> log;
  bool live;
};

}  // namespace

std::string health_address(const Config& config) {
  const std::string port = ":" + std::to_string(config.port);
  const bool everywhere = config.listen == "*" || config.listen == "0.0.0.0" || config.listen.empty();
  if (everywhere) return "127.0.0.1" + port;
  if (config.listen == "::" || config.listen == "[::]") return "[::1]" + port;
  const bool bare_v6 = config.listen.find(':') != std::string::npos && !config.listen.starts_with('[');
  return (bare_v6 ? "[" + config.listen + "]" : config.listen) + port;
}

namespace {

/// What a start does to the world's database that cannot be undone; empty: nothing.
std::string upgrade_text(const Startup& startup) {
  const int older = startup.store == nullptr ? 0 : startup.store->older_format();
  if (older == 0) return "";
  return "; a start upgrades " + startup.loaded.config.world_dir + "/" + store_name + " from format " +
         std::to_string(older) + " to " + std::to_string(store_format) + ", and keeps a copy";
}

}  // namespace

std::expected<std::string, std::string> check(const LoadedConfig& loaded, const MakeGame& game) {
  const auto startup = start_up(loaded, [] {}, {}, game);
  if (!startup) return Failure(startup.error());
  const PreparedWorld& content = startup->content;
  std::string maps;
  for (const MapRequest& map : content.maps) maps += (maps.empty() ? "" : ", ") + to_text(map);
  const std::string wads = content.wads.empty() ? "the built-in ones" : joined(content.wads);
  const std::string with = content.setup.maps.empty() ? "without a map" : "maps " + maps + " from " + wads;
  std::string props;
  for (const PropRequest& prop : content.props) props += (props.empty() ? ", props " : ", ") + to_text(prop);
  return "configuration is good: port " + std::to_string(loaded.config.port) + ", seed " +
         std::to_string(loaded.config.seed) + ", " + with + props + upgrade_text(*startup);
}

namespace {

bool has_player_start(const SectorMap& map) {
  return std::ranges::any_of(map.things, [](const MapThing& thing) {
    const ThingType* type = find_thing_type(thing.type);
    return type != nullptr &&
           (type->role == ThingRole::player_start || type->role == ThingRole::deathmatch_start);
  });
}

/// What the start has to say about the content, once it is known.
void log_startup(Log& log, const Startup& startup) {
  const WorldSetup& setup = startup.content.setup;
  log_buffer(log, startup.transports);
  if (!startup.files.enough())
    log.warning("file_limit_small",
                {{"allowed", startup.files.allowed},
                 {"wanted", startup.files.wanted},
                 {"remedy",
                  "not all clients can come over TCP: raise the hard limit of open files (ulimit -Hn, "
                  "LimitNOFILE), or lower max_clients"}});
  for (const std::string& wad : startup.content.wads) log.info("wad", {{"file", wad}});
  for (std::size_t index = 0; index < setup.maps.size(); ++index) {
    const auto& map = setup.maps[index];
    const std::size_t own = startup.content.map_sectors[index];
    log.info("map", {{"name", map->name()},
                     {"x", map->box().min.x},
                     {"y", map->box().min.y},
                     {"roof_z", map->box().max.z},
                     {"sectors", own},
                     {"doorway_sectors", map->source().sectors.size() - own}});
  }
  log_content(log, startup);
  for (const auto& map : setup.maps)
    if (!has_player_start(map->source()))
      log.warning("no_player_start",
                  {{"map", map->name()},
                   {"remedy", "players begin on the surface: give the map a player start (thing type 1)"}});
  for (const auto& map : setup.maps)
    if (const auto unknown = unknown_specials(map->source()); !unknown.empty())
      log.warning("unknown_specials", {{"map", map->name()},
                                       {"number_x_lines", numbers_and_counts(unknown)},
                                       {"remedy", "these lines do nothing; doors and lifts of others work"}});
  for (const auto& prop : setup.props)
    log.info("prop", {{"name", prop->name()},
                      {"x_m", prop->at().position_m.x},
                      {"y_m", prop->at().position_m.y},
                      {"z_m", prop->at().position_m.z},
                      {"triangles", prop->mesh().size()}});
  if (startup.loaded.world_unchecked)
    log.warning("world_unchecked",
                {{"file", startup.loaded.config.world_dir + "/world.toml"},
                 {"remedy", "it has no check line yet: start once with --accept-world to have one written"}});
}

/// By which key the server is known, where that is not what an operator expects.
void log_key(Log& log, const ServerKey& key, Access access) {
  if (!key.trouble.empty())
    log.warning("key_not_kept",
                {{"reason", key.trouble},
                 {"remedy",
                  "clients that pin the server's key, and tokens, hold for this start alone: make the "
                  "world's folder writable, or name a key with --key-file"}});
  else if (key.file.empty() && access == Access::token)
    log.warning("key_of_this_start",
                {{"remedy", "there is neither --world nor --key-file, so tokens hold for this start alone"}});
  else if (key.file.empty())
    log.info("key_of_this_start",
             {{"remedy", "clients that pin the server's key need --world or --key-file"}});
  else
    log.info("key", {{"file", key.file}});
}

/// The recorder of a start that records, with its housekeeping; null for others.
std::unique_ptr<Recorder> make_recorder(Startup& startup, Log& log) {
  if (!startup.recording) return nullptr;
  const Config& config = startup.loaded.config;
  log.info("recording", {{"file", startup.recording->path()}});
  std::vector<ChangedChunk> home;
  if (startup.stored != nullptr) home = startup.stored->take_kept();
  std::size_t home_bytes = 0;
  for (const ChangedChunk& chunk : home) home_bytes += chunk.bytes->size();
  if (home_bytes > recording_home_bytes_max) {
    home.clear();
    log.warning("recording_partial",
                {{"remedy",
                  "more of the ground around the maps was changed in earlier runs than a recording's start "
                  "takes, so it does not replay: record from a world's first start on"}});
  }
  RecordingLimits limits;
  limits.bytes_max = std::uint64_t{config.record_keep_mib} << 20;
  limits.age_s_max = std::time_t{config.record_keep_days} * 24 * 3600;
  Recorder::Options options;
  options.bytes_max = limits.bytes_max;
  options.housekeeping = [&log, limits, pattern = config.record_file, present = startup.recording->path()] {
    for (const std::string& file : remove_old_recordings(pattern, present, limits, std::time(nullptr)))
      log.info("recording_removed", {{"file", file}});
  };
  const RecordingHeader header = recording_header(*startup.world, version(), std::move(home));
  return std::make_unique<Recorder>(std::move(*startup.recording), header, std::move(options));
}

/// What the settings say of the Host, with its key and what it gives to clients.
HostConfig host_config(const Startup& startup, const AccessSettings& access) {
  const Config& config = startup.loaded.config;
  HostConfig host;
  host.clients_max = config.clients_max;
  host.clients_per_address_max = clients_per_address(config);
  host.snapshot_every_ticks = config.snapshot_every_ticks;
  host.interest_radius_m = config.interest_radius_m;
  host.rejoins_per_minute = config.rejoins_per_minute;
  host.fight_linger = Micros{static_cast<std::int64_t>(config.fight_linger_s * 1e6)};
  host.snapshot_bytes_max = config.snapshot_bytes_max;
  host.client_bytes_per_s = config.client_bytes_per_s;
  if (config.cipher == CipherUse::chacha20)
    host.ciphers = static_cast<std::uint8_t>(secure::Cipher::chacha20_poly1305);
  host.sight_culling = config.sight_culling;
  host.ores_seen_m = config.ores_seen_m;
  host.message_of_the_day = config.motd;
  host.stopwatch_ns = stopwatch_ns;
  host.cpu_ns = thread_cpu_ns;
  host.identity = access.key;
  host.access = access.tokens_needed ? Access::token : Access::open;
  host.token_issuers = access.issuers;
  host.admins = config.admins;
  host.away_grace = access.away_grace;
  const GameMode mode = config.rules.mode;
  const bool goes_on = config.players_return_to == ReturnTo::place;
  host.return_to_place = goes_on && (mode == GameMode::sandbox || mode == GameMode::building);
  host.return_with_life = goes_on && !plays_against(mode);
  host.content = startup.shelf;
  host.content_bytes_per_s = config.content_bytes_per_s;
  return host;
}

/// Clients may come.
void log_ready(Log& log, const Config& config, const AccessSettings& access, const Host& host,
               std::uint16_t port, std::int64_t start_ms) {
  log.info("ready", {{"port", port},
                     {"listen", config.listen},
                     {"access", access.tokens_needed ? "token" : "open"},
                     {"key", secure::public_key_text(access.key.open)},
                     {"world", config.world_dir},
                     {"seed", config.seed},
                     {"terrain", std::string(name(config.terrain))},
                     {"monsters", host.status().monsters},
                     {"max_clients", config.clients_max},
                     {"tick_rate_hz", config.rules.tick_rate_hz},
                     {"start_ms", start_ms}});
}

/// What a kept world's ground still lacks when it was generated; empty: none is kept.
std::function<void(GroundColumn&)> finisher(const std::shared_ptr<StoredGround>& stored) {
  if (stored == nullptr) return {};
  return [stored](GroundColumn& column) { stored->finish(column); };
}

void begin_bans(const BanKeeper& bans, Host& host, Log& log) {
  host.set_bans(bans.list());
  if (!bans.list()->entries().empty())
    log.info("bans", {{"file", bans.file()}, {"bans", bans.list()->entries().size()}});
}

std::optional<MapRotation> make_rotation(const Startup& startup, std::shared_ptr<const KindsToCome> kinds) {
  if (startup.rotation.empty()) return std::nullopt;
  const Config& config = startup.loaded.config;
  return std::optional<MapRotation>(
      std::in_place, startup.rotation, config.rotation.front() == "wad",
      world_maker(config, startup.content.setup.secret, startup.content.setup.blocks, std::move(kinds),
                  startup.content.setup.game));
}

/// What the store could not give back.
void log_lost(Log& log, const std::vector<std::string>& lost) {
  for (const std::string& what : lost)
    log.event(LogLevel::error, "stored_damaged",
              {{"lost", what},
               {"remedy", "see ashlar-server world check; restore the world from a backup to have it back"}});
}

/// A signal came before anything was played.
void log_stopped_early(Log& log, const Loop& loop) {
  log.info("stopping", {{"reason", loop.stop_reason()}, {"clients", 0}});
  log.info("stopped", {{"up_s", 0.0}, {"ticks", 0}});
}

/// What the settings say of the loop.
LoopOptions loop_options(const Config& config, const Output& output, std::uint16_t port) {
  LoopOptions options;
  options.run_for = config.run_for;
  options.status_every_s = config.status_every_s;
  if (config.live && !output.live && options.status_every_s == 0) options.status_every_s = 1;
  options.live = output.live ? output.writer.get() : nullptr;
  options.title = {port, config.clients_max, config.rules.tick_rate_hz};
  return options;
}

/// What nobody foresaw ends the server, but not what was built.
void play(Loop& loop, Host& host, Transports& transports, GroundWorkers& ground, Log& log,
          const LoopOptions& options, Saving& saving) {
  try {
    loop.run(host, transports, ground, log, options);
  } catch (...) {
    saving.save_noted(host);
    throw;
  }
}

}  // namespace

std::expected<void, std::string> serve(const CommandLine& line, const LoadedConfig& given,
                                       const MakeGame& game) {
  const auto begun = Loop::now();
  Loop loop;
  std::optional<Output> output;
  const auto announce = [&] {
    output.emplace(given.config);
    output->log->info("starting",
                      {{"version", version()}, {"config", given.config_file}, {"pid", ::getpid()}});
    log_settings(*output->log, given);
  };
  auto startup = start_up(given, announce, [&loop] { return loop.stop_requested(); }, game);
  if (!startup && startup.error() == start_stopped) {
    log_stopped_early(*output->log, loop);
    return {};
  }
  if (startup)
    if (auto kept = startup->keep(); !kept) startup = Failure(std::move(kept.error()));
  if (!startup) return Failure(std::move(startup.error()));
  Log& log = *output->log;
  const LoadedConfig& loaded = startup->loaded;
  Transports& transports = startup->transports;
  log_startup(log, *startup);
  // Who may come in, ready for the Host.
  const AccessSettings access = access_settings(loaded.config, startup->key);
  log_key(log, startup->key, loaded.config.access);
  const std::unique_ptr<Recorder> recorder = make_recorder(*startup, log);
  Saving saving(*startup, log);
  GroundWorkers ground(startup->world->ground(), loaded.config.ground_threads, finisher(startup->stored));
  Host host(host_config(*startup, access), std::move(startup->world), startup->secret);
  host.set_sink(recorder.get());
  if (startup->stored != nullptr) host.learn_changes(startup->stored->take_changes());
  for (const StoredPlayer& player : startup->players) host.remember(player);
  log_lost(log, startup->lost);
  BanKeeper bans(startup->ban_file, std::move(startup->bans));
  begin_bans(bans, host, log);
  const auto kinds = std::make_shared<KindsToCome>(host.world().setup().kinds);
  std::optional<MapRotation> rotation = make_rotation(*startup, kinds);
  LoopOptions options = loop_options(loaded.config, *output, transports.port());
  options.bans = &bans;
  options.rotation = rotation ? &*rotation : nullptr;
  Console console(STDIN_FILENO);
  options.console = &console;
  // Beside the loop: a file may lie where reading never ends.
  Background<Reloaded> reading;
  options.reload = [&] { bans.reload(), read_again(reading, line, loaded.config, host); };
  saving.attach(host, options);
  Backups backups(loaded.config.world_dir, loaded.config.backup_every, loaded.config.backups_kept, log);
  bool recording_lost = false;
  options.watch = [&] {
    if (const auto fresh = reading.take()) {
      reload_kinds(*fresh, *kinds, rotation ? &*rotation : nullptr, log);
      reload(*fresh, loaded, startup->kept, host, log);
    }
    watch_bans(bans, host, log);
    saving.watch();
    backups.watch(Loop::now(), saving.groups());
    if (recorder == nullptr || recording_lost || recorder->failure().empty()) return;
    recording_lost = true;
    log.event(LogLevel::error, "recording_failed", {{"error", recorder->failure()}});
  };
  if (!loop.stop_requested())
    log_ready(log, loaded.config, access, host, transports.port(), (Loop::now() - begun).count() / 1000);
  play(loop, host, transports, ground, log, options, saving);
  host.set_sink(nullptr);
  if (recorder != nullptr) recorder->finish();
  bans.finish();
  options.watch();
  return saving.outcome();
}

}  // namespace ashlar::server
