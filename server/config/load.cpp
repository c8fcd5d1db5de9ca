#include "server/config/load.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "server/config/config_file.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): only some C libraries declare it

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* config_variable = "ASHLAR_CONFIG";

/// Lists in variables: WADs between colons as in PATH, maps and props between spaces.
RawValue split(const std::string& text, char separator) {
  RawValue parts;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    if (end > at) parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

struct Layers {
  LoadedConfig& loaded;

  std::expected<void, std::string> apply(std::size_t index, const RawValue& raw, const std::string& origin) {
    const Setting& setting = settings()[index];
    if (auto set = setting.set(loaded.config, raw); !set) {
      // A file's line is named by its key as well; flags and variables are names already.
      const bool file = origin.find(':') != std::string::npos;
      return std::unexpected(origin + (file ? ": " + setting.key + " " : ": ") + set.error());
    }
    loaded.origins[index] = origin;
    return {};
  }

  std::expected<void, std::string> apply(const std::vector<FileValue>& values, const std::string& path) {
    for (const FileValue& value : values)
      if (auto set = apply(value.setting, value.raw, path + ":" + std::to_string(value.line)); !set)
        return set;
    return {};
  }
};

/// Syncs what was written, so that a world that was announced is there after a power cut.
std::expected<void, std::string> write_new_file(const fs::path& path, const std::string& text) {
  const auto failed = [&] {
    return std::unexpected("cannot write " + path.string() + ": " + std::strerror(errno) + "; see --world");
  };
  const std::string temporary = path.string() + ".new";
  const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return failed();
  std::size_t written = 0;
  bool good = true;
  while (good && written < text.size()) {
    const ssize_t count = ::write(file, text.data() + written, text.size() - written);
    good = count > 0 || (count < 0 && errno == EINTR);
    if (count > 0) written += static_cast<std::size_t>(count);
  }
  good = good && ::fsync(file) == 0;
  good = good && ::rename(temporary.c_str(), path.c_str()) == 0;
  const int error = errno;
  ::close(file);
  if (!good) {
    ::unlink(temporary.c_str());
    errno = error;
    return failed();
  }
  const int folder = ::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder >= 0) {
    ::fsync(folder);
    ::close(folder);
  }
  return {};
}

}  // namespace

Environment own_environment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (text.starts_with("ASHLAR_") && equals != std::string::npos)
      variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::expected<LoadedConfig, std::string> load_config(const CommandLine& line,
                                                     const Environment& environment) {
  LoadedConfig loaded;
  loaded.origins.resize(settings().size());
  Layers layers{loaded};

  std::vector<std::pair<std::size_t, RawValue>> variables;
  std::string config_file = line.config_file;
  for (const auto& [name, value] : environment) {
    if (name == config_variable) {
      if (config_file.empty()) config_file = value;
      continue;
    }
    std::size_t index = 0;
    while (index < settings().size() && settings()[index].variable() != name) ++index;
    if (index == settings().size()) {
      loaded.unknown_variables.push_back(name);
      continue;
    }
    const ValueKind kind = settings()[index].kind;
    variables.emplace_back(index, kind == ValueKind::texts       ? split(value, ':')
                                  : settings()[index].is_table() ? split(value, ' ')
                                                                 : RawValue{value});
  }

  // Which world it is may be said in the file, and the world's folder may hold the file: flags and variables
  // are looked at first, then the file, and a file found in the folder cannot name another folder.
  const std::size_t world = find_setting("world");
  const auto named_world = [&]() -> std::optional<std::string> {
    for (const auto* values : std::initializer_list<decltype(&line.values)>{&line.values, &variables})
      for (const auto& [index, raw] : *values)
        if (index == world) return raw.front();
    return std::nullopt;
  };
  const auto from_outside = named_world();
  std::string world_dir = from_outside.value_or("");
  std::error_code status;
  if (config_file.empty() && !world_dir.empty()) {
    const std::string inside = (fs::path(world_dir) / "server.toml").string();
    if (fs::exists(inside, status)) config_file = inside;
  }
  std::vector<FileValue> file_values;
  if (!config_file.empty()) {
    auto values = read_settings(config_file, FileKind::settings);
    if (!values) return std::unexpected(std::move(values.error()));
    file_values = std::move(*values);
    loaded.config_file = config_file;
    for (const FileValue& value : file_values)
      if (value.setting == world && !from_outside) world_dir = value.raw.front();
  }

  std::optional<std::uint64_t> world_seed;
  if (!world_dir.empty()) {
    const std::string world_file = (fs::path(world_dir) / "world.toml").string();
    if (fs::exists(world_file, status)) {
      const auto values = read_settings(world_file, FileKind::world);
      if (!values) return std::unexpected(values.error());
      if (auto set = layers.apply(*values, world_file); !set) return std::unexpected(set.error());
      loaded.world_exists = true;
      world_seed = loaded.config.seed;
    } else if (fs::exists(world_dir, status) && !fs::is_directory(world_dir, status)) {
      return std::unexpected("world " + world_dir + " is not a folder: name another with --world");
    }
  }
  if (auto set = layers.apply(file_values, config_file); !set) return std::unexpected(set.error());
  for (const auto& [index, raw] : variables)
    if (auto set = layers.apply(index, raw, settings()[index].variable()); !set)
      return std::unexpected(set.error());
  for (const auto& [index, raw] : line.values)
    if (auto set = layers.apply(index, raw, settings()[index].flag()); !set)
      return std::unexpected(set.error());

  if (world_seed && loaded.config.seed != *world_seed)
    return std::unexpected("world " + world_dir + " has seed " + std::to_string(*world_seed) + ", but " +
                           loaded.origins[find_setting("seed")] + " says " +
                           std::to_string(loaded.config.seed) +
                           ": leave the seed out, or make another world with --world");
  // Clients take longer silences for a server that is gone, and no welcome that announces them.
  const unsigned second_ticks = loaded.config.rules.tick_rate_hz;
  if (loaded.config.snapshot_every_ticks > second_ticks)
    return std::unexpected(loaded.origins[find_setting("snapshot_every")] + ": " +
                           std::to_string(loaded.config.snapshot_every_ticks) +
                           " ticks are longer than a second at " + std::to_string(second_ticks) +
                           " ticks a second: give 1 to " + std::to_string(second_ticks) +
                           ", or raise --tick-rate");
  return loaded;
}

std::expected<void, std::string> prepare_world(const LoadedConfig& loaded) {
  if (loaded.config.world_dir.empty()) return {};
  const fs::path folder = loaded.config.world_dir;
  std::error_code error;
  if (!fs::exists(folder / "server.toml", error)) {
    WriteStyle style;
    style.commented_out = true;
    if (auto written = write_new_file(folder / "server.toml", write_settings(Config(), style)); !written)
      return written;
  }
  if (loaded.world_exists) return {};
  // Last, as it is what makes the folder a world.
  WriteStyle style;
  style.kind = FileKind::world;
  return write_new_file(folder / "world.toml", write_settings(loaded.config, style));
}

}  // namespace ashlar::server
