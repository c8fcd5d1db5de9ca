#include "server/config/load.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "server/config/config_file.h"
#include "server/config/file.h"
#include "server/config/owner_remedy.h"
#include "server/config/world_file.h"
#include "world/math/ascii.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): only some C libraries declare it

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;

constexpr const char* config_variable = "ASHLAR_CONFIG";

/// Entries between any of these characters, without blanks around them; empty ones do not count.
RawValue split(const std::string& text, std::string_view separators) {
  constexpr std::string_view blanks = " \t\r\n";
  RawValue parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, at), text.size());
    const std::size_t first = text.find_first_not_of(blanks, at);
    if (first < end) parts.push_back(text.substr(first, text.find_last_not_of(blanks, end - 1) + 1 - first));
    at = end + 1;
  }
  return parts;
}

/// Lists in variables stand between semicolons. Where there is none, what was understood before still is:
/// WADs between colons as in PATH, maps and props between blanks.
RawValue list_of(const Setting& setting, const std::string& text) {
  if (text.find_first_of(";\n") != std::string::npos) return split(text, ";\n");
  return split(text, setting.is_table() ? " \t" : ":");
}

/// What to say when a list in a variable is refused: commas belong to the places of maps and props.
std::string list_remedy(const Setting& setting, const std::string& text) {
  const bool commas =
      setting.is_list() && text.find(',') != std::string::npos && text.find(';') == std::string::npos;
  return commas ? "; several are separated by ; and not by commas" : "";
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

/// nullopt: nothing has that name. A link to nothing, and a name that cannot be looked at, are errors: taking
/// them for absent would make a new world where one is.
std::expected<std::optional<fs::file_type>, std::string> look_at(const fs::path& path,
                                                                 const std::string& world_dir) {
  std::error_code error;
  const fs::file_status behind = fs::status(path, error);
  if (fs::exists(behind)) return behind.type();
  if (behind.type() != fs::file_type::not_found)
    return std::unexpected("cannot look at " + path.string() + ": " + error.message() +
                           owner_remedy(world_dir, error.value()) + "; see --world");
  if (error.value() == ENOTDIR)
    return std::unexpected("cannot look at " + path.string() + ": " + error.message() + "; see --world");
  std::error_code link_error;
  if (fs::is_symlink(fs::symlink_status(path, link_error)))
    return std::unexpected(path.string() + " is a link to " + fs::read_symlink(path, link_error).string() +
                           ", which is not there: mount what it leads to, or remove the link");
  return std::nullopt;
}

/// The settings of the world in the folder; none where there is no world yet.
std::expected<std::optional<WorldFile>, std::string> read_world(const std::string& world_dir, bool accept) {
  const auto dir = look_at(world_dir, world_dir);
  if (!dir) return std::unexpected("world " + dir.error());
  if (!*dir) return std::nullopt;
  if (**dir != fs::file_type::directory)
    return std::unexpected("world " + world_dir + " is not a folder: name another with --world");
  const std::string path = (fs::path(world_dir) / "world.toml").string();
  const auto file = look_at(path, world_dir);
  if (!file) return std::unexpected(file.error());
  if (!*file) {
    if (lost_its_world(world_dir))
      return std::unexpected(
          "world " + world_dir +
          " has lost its world.toml (seed and maps): restore it from a backup, or move the "
          "folder away to make a new world there");
    return std::nullopt;
  }
  const auto text = read_file(path, settings_bytes_max);
  if (!text) {
    const int error = ::access(path.c_str(), R_OK) != 0 ? errno : 0;
    return std::unexpected(text.error() + owner_remedy(path, error) + "; see --world");
  }
  auto parsed = parse_world_file(*text, path, accept);
  if (!parsed) return std::unexpected(std::move(parsed.error()));
  return std::move(*parsed);
}

/// What the environment sets.
struct Variables {
  std::vector<std::pair<std::size_t, RawValue>> values;  ///< setting and text
  std::vector<std::string> remedies;                     ///< by setting: see list_remedy
  std::string config_file;                               ///< empty: not named
};

/// Those that are no setting's are listed in `loaded`.
Variables variables_of(const Environment& environment, LoadedConfig& loaded) {
  Variables out;
  out.remedies.resize(settings().size());
  for (const auto& [name, value] : environment) {
    if (name == config_variable) {
      out.config_file = value;
      continue;
    }
    std::size_t index = 0;
    while (index < settings().size() && settings()[index].variable() != name) ++index;
    if (index == settings().size()) {
      loaded.unknown_variables.push_back(name);
      continue;
    }
    const Setting& setting = settings()[index];
    out.values.emplace_back(index, setting.is_list() ? list_of(setting, value) : RawValue{value});
    out.remedies[index] = list_remedy(setting, value);
  }
  return out;
}

/// The world's folder as flags or variables name it.
std::optional<std::string> named_world(const CommandLine& line, const Variables& variables,
                                       std::size_t world) {
  for (const auto* values : {&line.values, &variables.values})
    for (const auto& [index, raw] : *values)
      if (index == world) return raw.front();
  return std::nullopt;
}

/// The file that is named, or the one in the world's folder; empty when there is none.
std::expected<std::string, std::string> file_to_read(const CommandLine& line, const Variables& variables,
                                                     const std::string& world_dir) {
  const std::string& named = line.config_file.empty() ? variables.config_file : line.config_file;
  std::error_code status;
  // What else may be wrong with the folder is told when the world is read.
  if (!named.empty() || world_dir.empty() || !fs::is_directory(world_dir, status)) return named;
  const fs::path inside = fs::path(world_dir) / "server.toml";
  const auto there = look_at(inside, world_dir);
  if (!there) return std::unexpected(there.error());
  return *there ? inside.string() : "";
}

/// What a world that exists keeps, whatever else is said.
struct KeptByWorld {
  std::uint64_t seed = 0, secret_seed = 0;
  TerrainKind terrain = TerrainKind::plains;
  std::vector<MapRequest> maps;  // with their places; empty: one of before those were kept
};

/// Whether these are the kept world's maps: in their order and, where places are told, at theirs.
bool same_maps(const std::vector<MapRequest>& kept, const std::vector<MapRequest>& given) {
  return std::ranges::equal(kept, given, [](const MapRequest& there, const MapRequest& wanted) {
    return upper_ascii(there.name) == upper_ascii(wanted.name) && (!wanted.at || wanted.at == there.at);
  });
}

std::string names_of(const std::vector<MapRequest>& maps) {
  std::string names;
  for (const MapRequest& map : maps) names += (names.empty() ? "" : ", ") + map.name;
  return names;
}

/// A kept world's maps are its ground: others would be laid over what was built. Named again they are those
/// that it keeps, with their places. @return one line when others are named
std::string settle_maps(LoadedConfig& loaded, const KeptByWorld& kept, const std::string& world_dir) {
  Config& config = loaded.config;
  if (kept.maps.empty() || config.maps == kept.maps) return "";
  if (!same_maps(kept.maps, config.maps))
    return "world " + world_dir + " has the maps " + names_of(kept.maps) + ", but " +
           loaded.origins[find_setting("map")] + " says " + names_of(config.maps) +
           ": leave the maps out, or make another world with --world";
  config.maps = kept.maps;
  return "";
}

/// Applies what the world in the folder was made with. @return what it keeps; none where there is no world
/// yet
std::expected<std::optional<KeptByWorld>, std::string> take_world(Layers& layers, const CommandLine& line,
                                                                  const std::string& world_dir) {
  if (line.accept_world && world_dir.empty())
    return std::unexpected("--accept-world is about a world's folder: name it with --world");
  if (world_dir.empty()) return std::nullopt;
  auto world_file = read_world(world_dir, line.accept_world);
  if (!world_file) return std::unexpected(std::move(world_file.error()));
  if (!*world_file) return std::nullopt;
  const std::string path = (fs::path(world_dir) / "world.toml").string();
  if (auto set = layers.apply((*world_file)->values, path); !set) return std::unexpected(set.error());
  LoadedConfig& loaded = layers.loaded;
  // Worlds that do not name their terrain are older than any but this one.
  if (loaded.origins[find_setting("terrain")].empty()) {
    loaded.config.terrain = TerrainKind::plains;
    loaded.origins[find_setting("terrain")] = path;
  }
  loaded.world_exists = true;
  loaded.world_accepted = line.accept_world;
  loaded.world_unchecked = (*world_file)->unchecked;
  loaded.world_resealed = std::move((*world_file)->resealed);
  return KeptByWorld{loaded.config.seed, loaded.config.secret_seed, loaded.config.terrain,
                     loaded.config.maps};
}

/// One line when settings that are each fine do not go together; empty when they do.
std::string what_contradicts(const LoadedConfig& loaded, const std::string& world_dir,
                             const std::optional<KeptByWorld>& kept) {
  const Config& config = loaded.config;
  if (kept && config.terrain != kept->terrain)
    return "world " + world_dir + " has terrain " + std::string(name(kept->terrain)) + ", but " +
           loaded.origins[find_setting("terrain")] + " says " + std::string(name(config.terrain)) +
           ": leave the terrain out, or make another world with --world";
  if (kept && config.seed != kept->seed)
    return "world " + world_dir + " has seed " + std::to_string(kept->seed) + ", but " +
           loaded.origins[find_setting("seed")] + " says " + std::to_string(config.seed) +
           ": leave the seed out, or make another world with --world";
  if (kept && config.secret_seed != kept->secret_seed)
    return "world " + world_dir + " keeps its secret seed, but " +
           loaded.origins[find_setting("secret_seed")] +
           " names another one: leave it out, or make another world with --world";
  // Clients take longer silences for a server that is gone, and no welcome that announces them.
  const unsigned second_ticks = config.rules.tick_rate_hz;
  if (config.snapshot_every_ticks > second_ticks)
    return loaded.origins[find_setting("snapshot_every")] + ": " +
           std::to_string(config.snapshot_every_ticks) + " ticks are longer than a second at " +
           std::to_string(second_ticks) + " ticks a second: give 1 to " + std::to_string(second_ticks) +
           ", or raise --tick-rate";
  const char* const beside = !config.maps.empty()          ? "map"
                             : !world_dir.empty()          ? "world"
                             : !config.record_file.empty() ? "record"
                                                           : nullptr;
  if (!config.rotation.empty() && beside != nullptr)
    return loaded.origins[find_setting("rotation")] + ": worlds that come and go have no place beside " +
           loaded.origins[find_setting(beside)] + ": leave one of them out";
  const std::size_t access = find_setting("access"), issuers = find_setting("token_issuers");
  if (config.access == Access::token && config.token_issuers.empty())
    return loaded.origins[access] +
           ": with access token nobody could come in, as no issuer is trusted: name one's public key with "
           "--token-issuers (ashlar-server key new --issuer makes one)";
  // Who names issuers and forgets the rest would run an open server in good faith.
  if (config.access == Access::open && !config.token_issuers.empty() && loaded.origins[access].empty())
    return loaded.origins[issuers] +
           ": names issuers of tokens, but anybody may come in: say --access token, or --access open if that "
           "is "
           "meant";
  return "";
}

/// @param entry  "NAME=VALUE"
void add_variable(std::string_view entry, Environment& variables) {
  const std::size_t equals = entry.find('=');
  if (entry.starts_with("ASHLAR_") && equals != std::string_view::npos)
    variables.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
}

}  // namespace

bool lost_its_world(const std::string& world_dir) {
  const fs::path dir = world_dir;
  std::error_code error;
  if (fs::exists(dir / "world.toml", error)) return false;
  if (fs::exists(dir / "cache", error)) return true;
  const auto settings = read_file((dir / "server.toml").string(), settings_bytes_max);
  return settings && settings->starts_with(made_with_world);
}

Environment own_environment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    add_variable(*entry, variables);
  return variables;
}

std::optional<Environment> environment_of_process(const std::string& pid) {
  constexpr std::size_t environment_bytes_max = 4 << 20;
  const auto text = read_file("/proc/" + pid + "/environ", environment_bytes_max);
  if (!text) return std::nullopt;
  Environment variables;
  for (std::string_view left = *text; !left.empty();) {
    const std::size_t end = std::min(left.find('\0'), left.size());
    add_variable(left.substr(0, end), variables);
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return variables;
}

std::expected<LoadedConfig, std::string> load_config(const CommandLine& line,
                                                     const Environment& environment) {
  LoadedConfig loaded;
  loaded.origins.resize(settings().size());
  Layers layers{loaded};
  const Variables variables = variables_of(environment, loaded);

  // Which world it is may be said in the file, and the world's folder may hold the file: flags and variables
  // are looked at first, then the file, and a file found in the folder cannot name another folder.
  const std::size_t world = find_setting("world");
  const auto from_outside = named_world(line, variables, world);
  std::string world_dir = from_outside.value_or("");
  const auto config_file = file_to_read(line, variables, world_dir);
  if (!config_file) return std::unexpected(config_file.error());
  std::vector<FileValue> file_values;
  if (!config_file->empty()) {
    auto values = read_settings(*config_file, FileKind::settings);
    if (!values) return std::unexpected(std::move(values.error()));
    file_values = std::move(*values);
    loaded.config_file = *config_file;
    for (const FileValue& value : file_values)
      if (value.setting == world && !from_outside) world_dir = value.raw.front();
  }

  const auto kept = take_world(layers, line, world_dir);
  if (!kept) return std::unexpected(kept.error());
  if (auto set = layers.apply(file_values, *config_file); !set) return std::unexpected(set.error());
  for (const auto& [index, raw] : variables.values)
    if (auto set = layers.apply(index, raw, settings()[index].variable()); !set)
      return std::unexpected(set.error() + variables.remedies[index]);
  for (const auto& [index, raw] : line.values) {
    if (settings()[index].flag_needs_text && raw.front().empty())
      return std::unexpected(settings()[index].flag() + " is empty: give " + settings()[index].value_name +
                             ", or leave the flag out");
    if (auto set = layers.apply(index, raw, settings()[index].flag()); !set)
      return std::unexpected(set.error());
  }

  if (*kept)
    if (const std::string others = settle_maps(loaded, **kept, world_dir); !others.empty())
      return std::unexpected(others);
  if (const std::string contradiction = what_contradicts(loaded, world_dir, *kept); !contradiction.empty())
    return std::unexpected(contradiction);
  return loaded;
}

}  // namespace ashlar::server
