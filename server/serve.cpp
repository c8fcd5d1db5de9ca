#include "server/serve.h"

#include <sys/random.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "protocol/recorded_world.h"
#include "server/background.h"
#include "server/host.h"
#include "server/log.h"
#include "server/loop.h"
#include "server/net/transports.h"
#include "server/setup.h"
#include "server/store/recorder.h"
#include "server/store/visibility_cache.h"
#include "server/store/world_lock.h"
#include "server/version.h"
#include "world/bsp/placement.h"
#include "world/content/line_specials.h"
#include "world/mesh/prop.h"

namespace ashlar::server {
namespace {

using Failure = std::unexpected<std::string>;

std::uint32_t per_address(const Config& config) {
  return config.clients_per_address_max == 0 ? config.clients_max
                                             : std::min(config.clients_per_address_max, config.clients_max);
}

TransportConfig transport_config(const Config& config) {
  TransportConfig transport;
  transport.listen = *parse_listen(config.listen);  // checked when it was set
  transport.port = config.port;
  transport.clients_max = config.clients_max;
  transport.tick_rate_hz = config.rules.tick_rate_hz;
  // Some more connections than players: those who are on their way in, and those who are told why not.
  transport.tcp.connections_max = config.clients_max + 64;
  transport.tcp.connections_per_address_max = per_address(config) + 8;
  return transport;
}

HostConfig host_config(const Config& config) {
  HostConfig host;
  host.clients_max = config.clients_max;
  host.clients_per_address_max = per_address(config);
  host.snapshot_every_ticks = config.snapshot_every_ticks;
  host.interest_radius_m = config.interest_radius_m;
  host.snapshot_bytes_max = config.snapshot_bytes_max;
  host.message_of_the_day = config.motd;
  host.stopwatch_ns = stopwatch_ns;
  return host;
}

std::expected<std::uint64_t, std::string> random_secret() {
  std::uint64_t secret = 0;
  if (::getrandom(&secret, sizeof secret, 0) != sizeof secret)
    return Failure("the system gives no random numbers (getrandom)");
  return secret;
}

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
    log.info("setting", {{"key", setting.key},
                         {"value", joined(setting.get(loaded.config))},
                         {"from", loaded.origins[index]}});
  }
  for (const std::string& variable : loaded.unknown_variables)
    log.warning("unknown_variable",
                {{"name", variable}, {"remedy", "see ashlar-server --help for those there are"}});
}

void log_buffer(Log& log, const Transports& transports) {
  const std::size_t wanted = transports.receive_buffer_bytes_wanted();
  if (transports.receive_buffer_bytes() >= wanted) return;
  log.warning("receive_buffer_small",
              {{"bytes", transports.receive_buffer_bytes()},
               {"wanted_bytes", wanted},
               {"remedy", "sysctl -w net.core.rmem_max=" + std::to_string(wanted / 2) + ", then restart"}});
}

/// How long maps and props took, where the visibility sets came from, and what the maps have to do without.
void log_content(Log& log, const VisibilityCache& sets, const WorldSetup& setup, std::int64_t took_ms) {
  log.info("content", {{"took_ms", took_ms},
                       {"maps", setup.maps.size()},
                       {"props", setup.props.size()},
                       {"visibility_read", sets.read()},
                       {"visibility_computed", sets.computed()}});
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

using Reloaded = std::expected<LoadedConfig, std::string>;

/// After HUP read the layers again: what can change while clients play does, the rest is named.
void reload(const Reloaded& fresh, LoadedConfig& current, Host& host, Log& log) {
  if (!fresh) {
    log.event(LogLevel::error, "reload_failed", {{"error", fresh.error()}});
    return;
  }
  for (std::size_t index = 0; index < settings().size(); ++index) {
    const Setting& setting = settings()[index];
    if (setting.get(fresh->config) == setting.get(current.config)) continue;
    if (setting.key != "motd" && setting.key != "log_level")
      log.warning("reload_ignored", {{"key", setting.key}, {"remedy", "needs a restart"}});
  }
  current.config.motd = fresh->config.motd;
  current.config.log_level = fresh->config.log_level;
  host.set_message_of_the_day(current.config.motd);
  log.set_level(current.config.log_level);
  log.info("reloaded", {{"motd", current.config.motd}, {"config", fresh->config_file}});
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

std::expected<std::string, std::string> check(const LoadedConfig& loaded) {
  const auto prepared = prepare_setup(loaded.config, usual_wad_folders());
  if (!prepared) return Failure(prepared.error());
  std::string maps;
  for (const MapRequest& map : prepared->maps) maps += (maps.empty() ? "" : ", ") + to_text(map);
  const std::string wads = prepared->wads.empty() ? "the built-in ones" : joined(prepared->wads);
  const std::string content =
      prepared->setup.maps.empty() ? "without a map" : "maps " + maps + " from " + wads;
  std::string props;
  for (const PropRequest& prop : prepared->props)
    props += (props.empty() ? ", props " : ", ") + to_text(prop);
  return "configuration is good: port " + std::to_string(loaded.config.port) + ", seed " +
         std::to_string(loaded.config.seed) + ", " + content + props;
}

std::expected<void, std::string> serve(const CommandLine& line, const LoadedConfig& given) {
  const auto begun = Loop::now();
  Loop loop;
  LoadedConfig loaded = given;
  VisibilityCache sets(loaded.config.world_dir);
  auto prepared = prepare_setup(
      loaded.config, usual_wad_folders(),
      [&sets](const SectorMap& compiled, const BspTree& tree) { return sets.set_for(compiled, tree); });
  if (!prepared) return Failure(std::move(prepared.error()));
  const auto content_us = (Loop::now() - begun).count();
  auto transports = Transports::open(transport_config(loaded.config));
  if (!transports) return Failure(std::move(transports.error()));
  const auto secret = random_secret();
  if (!secret) return Failure(secret.error());
  // The recorder would say the same, but only once the world's folder is made.
  if (const std::string& file = loaded.config.record_file; !file.empty() && std::filesystem::exists(file))
    return Failure("cannot record to " + file + ": it is there already; name another file or remove it");
  LoadedConfig kept = loaded;  // a kept world names its maps with their places, whatever is found another day
  kept.config.maps = prepared->maps;
  kept.config.props = prepared->props;
  const auto lock = WorldLock::take(kept.config.world_dir);
  if (!lock) return Failure(lock.error());
  if (auto made = prepare_world(kept); !made) return Failure(std::move(made.error()));
  sets.keep();

  auto world = std::make_unique<World>(prepared->setup);
  std::unique_ptr<Recorder> recorder;
  if (!loaded.config.record_file.empty()) {
    auto created = Recorder::create(loaded.config.record_file, recording_header(*world, version()));
    if (!created) return Failure(std::move(created.error()));
    recorder = std::move(*created);
  }
  Host host(host_config(loaded.config), std::move(world), *secret);
  host.set_sink(recorder.get());

  Output output(loaded.config);
  Log& log = *output.log;
  log.info("starting", {{"version", version()}, {"config", loaded.config_file}, {"pid", ::getpid()}});
  log_settings(log, loaded);
  log_buffer(log, *transports);
  for (const std::string& wad : prepared->wads) log.info("wad", {{"file", wad}});
  for (const auto& map : prepared->setup.maps)
    log.info("map", {{"name", map->name()},
                     {"x", map->box().min.x},
                     {"y", map->box().min.y},
                     {"roof_z", map->box().max.z},
                     {"sectors", map->source().sectors.size()}});
  log_content(log, sets, prepared->setup, content_us / 1000);
  for (const auto& map : prepared->setup.maps)
    if (const auto unknown = unknown_specials(map->source()); !unknown.empty())
      log.warning("unknown_specials", {{"map", map->name()},
                                       {"number_x_lines", numbers_and_counts(unknown)},
                                       {"remedy", "these lines do nothing; doors and lifts of others work"}});

  for (const auto& prop : prepared->setup.props)
    log.info("prop", {{"name", prop->name()},
                      {"x_m", prop->at().position_m.x},
                      {"y_m", prop->at().position_m.y},
                      {"z_m", prop->at().position_m.z},
                      {"triangles", prop->mesh().size()}});

  LoopOptions options;
  options.run_for = loaded.config.run_for;
  options.status_every_s = loaded.config.status_every_s;
  if (loaded.config.live && !output.live && options.status_every_s == 0) options.status_every_s = 1;
  options.live = output.live ? output.writer.get() : nullptr;
  options.title = {transports->port(), loaded.config.clients_max, loaded.config.rules.tick_rate_hz};
  Console console(STDIN_FILENO);
  options.console = &console;
  // Beside the loop: a file may lie where reading never ends.
  Background<Reloaded> reading;
  options.reload = [&] { reading.start([line] { return load_config(line, own_environment()); }); };
  bool recording_lost = false;
  options.watch = [&] {
    if (const auto fresh = reading.take()) reload(*fresh, loaded, host, log);
    if (recorder == nullptr || recording_lost || recorder->failure().empty()) return;
    recording_lost = true;
    log.event(LogLevel::error, "recording_failed", {{"error", recorder->failure()}});
  };
  if (!loop.stop_requested())
    log.info("ready", {{"port", transports->port()},
                       {"listen", loaded.config.listen},
                       {"world", loaded.config.world_dir},
                       {"seed", loaded.config.seed},
                       {"monsters", host.status().monsters},
                       {"max_clients", loaded.config.clients_max},
                       {"tick_rate_hz", loaded.config.rules.tick_rate_hz},
                       {"start_ms", (Loop::now() - begun).count() / 1000}});
  loop.run(host, *transports, log, options);
  host.set_sink(nullptr);
  if (recorder != nullptr) recorder->finish();
  options.watch();
  return {};
}

}  // namespace ashlar::server
