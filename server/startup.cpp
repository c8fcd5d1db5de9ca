#include "server/startup.h"

#include <sys/random.h>

#include <algorithm>
#include <chrono>
#include <ctime>

#include "server/net/address.h"

namespace ashlar::server {
namespace {

using Failure = std::unexpected<std::string>;

/// Places for TCP connections on their way in and out. A server with many players sees many of them at once,
/// most of all after a restart.
std::uint32_t strangers_max(const Config& config) { return 64 + config.clients_max / 4; }

TransportConfig transport_config(const Config& config) {
  TransportConfig transport;
  transport.listen = *parse_listen(config.listen);  // checked when it was set
  transport.port = config.port;
  transport.clients_max = config.clients_max;
  transport.tick_rate_hz = config.rules.tick_rate_hz;
  transport.tcp.strangers_max = strangers_max(config);
  return transport;
}

std::expected<SecretKey, std::string> random_secret() {
  SecretKey secret;
  if (::getrandom(&secret, sizeof secret, 0) != sizeof secret)
    return Failure("the system gives no random numbers (getrandom)");
  return secret;
}

std::int64_t now_ms() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace

std::expected<void, std::string> allow_files() {
  const FileLimit limit = raise_file_limit(0);
  if (limit.enough()) return {};
  return Failure("this system allows " + std::to_string(limit.allowed) + " open files, the server needs " +
                 std::to_string(limit.wanted) + " and one for each TCP client: raise it with ulimit -Hn");
}

std::uint32_t clients_per_address(const Config& config) {
  return config.clients_per_address_max == 0 ? config.clients_max
                                             : std::min(config.clients_per_address_max, config.clients_max);
}

std::expected<Startup, std::string> start_up(const LoadedConfig& loaded,
                                             const std::function<void()>& announce,
                                             const std::function<bool()>& stop) {
  const Config& config = loaded.config;
  const auto secret = random_secret();
  if (!secret) return Failure(secret.error());
  const std::int64_t begun_ms = now_ms();
  auto content = read_content(config, usual_wad_folders());
  if (!content) return Failure(std::move(content.error()));
  const FileLimit files = raise_file_limit(config.clients_max + strangers_max(config));
  auto transports = Transports::open(transport_config(config));
  if (!transports) return Failure(std::move(transports.error()));
  auto folder = WorldFolder::take(loaded);
  if (!folder) return Failure(std::move(folder.error()));
  std::optional<RecordingFile> recording;
  if (!config.record_file.empty()) {
    auto created = RecordingFile::create(config.record_file, std::time(nullptr), config.record_existing);
    if (!created) return Failure(std::move(created.error()));
    recording.emplace(std::move(*created));
  }
  announce();

  auto sets = std::make_unique<VisibilityCache>(config.world_dir);
  auto prepared = compile_setup(
      config, *content,
      [&sets](const SectorMap& map, const BspTree& tree) { return sets->set_for(map, tree); }, stop);
  if (!prepared) return Failure(std::move(prepared.error()));
  const std::int64_t content_ms = now_ms() - begun_ms;
  Startup startup{loaded,
                  loaded,
                  std::move(*transports),
                  std::move(*folder),
                  std::move(recording),
                  std::move(sets),
                  std::move(*prepared),
                  nullptr,
                  *secret,
                  files,
                  content_ms};
  // A kept world names its maps with their places, whatever is found another day.
  if (!config.world_dir.empty()) {
    startup.kept.config.maps = startup.content.maps;
    startup.kept.config.props = startup.content.props;
  }
  if (auto written = startup.folder.prepare(startup.kept); !written)
    return Failure(std::move(written.error()));
  if (stop && stop()) return Failure(std::string(start_stopped));
  startup.world = std::make_unique<World>(startup.content.setup);
  return startup;
}

std::expected<void, std::string> Startup::keep() {
  if (auto named = folder.keep(); !named) return named;
  sets->keep();
  if (recording) recording->keep();
  return {};
}

}  // namespace ashlar::server
