#include "server/config/without_effect.h"

#include <algorithm>

namespace ashlar::server {
namespace {

/// A setting, and what it does nothing without.
struct Dependency {
  const char* key;
  const char* needs;
  bool (*met)(const Config&);
};

bool kept(const Config& config) { return !config.world_dir.empty(); }
bool recorded(const Config& config) { return !config.record_file.empty(); }
bool backed_up(const Config& config) { return config.backup_every.count() > 0; }
bool logged(const Config& config) { return config.edit_log_mib > 0; }
bool spawns_there(const Config& config) { return config.spawn_radius_m > 0; }

// Of two for one setting the first that is not met is told.
constexpr Dependency dependencies[] = {
    {"damaged_chunks", "--world", kept},
    {"save_interval_ms", "--world", kept},
    {"backup_every", "--world", kept},
    {"backups_kept", "--world", kept},
    {"backups_kept", "--backup-every", backed_up},
    {"edit_log_days", "--world", kept},
    {"edit_log_days", "--edit-log-mib above 0", logged},
    {"edit_log_mib", "--world", kept},
    {"spawn_x_m", "--spawn-radius-m", spawns_there},
    {"spawn_y_m", "--spawn-radius-m", spawns_there},
    {"record_existing", "--record", recorded},
    {"record_keep_mib", "--record", recorded},
    {"record_keep_days", "--record", recorded},
};

}  // namespace

std::vector<WithoutEffect> without_effect(const LoadedConfig& loaded) {
  static const Config defaults;
  std::vector<WithoutEffect> out;
  for (std::size_t index = 0; index < settings().size(); ++index) {
    const Setting& setting = settings()[index];
    if (loaded.origins[index].empty() || setting.get(loaded.config) == setting.get(defaults)) continue;
    const auto unmet = std::ranges::find_if(dependencies, [&](const Dependency& one) {
      return setting.key == one.key && !one.met(loaded.config);
    });
    if (unmet != std::end(dependencies))
      out.push_back({setting.key, loaded.origins[index], std::string("it needs ") + unmet->needs});
  }
  return out;
}

std::string variable_remedy(const std::string& variable) {
  std::vector<std::string> names;
  for (const Setting& setting : settings()) names.push_back(setting.variable());
  const std::string near = nearest_name(variable, names);
  return near.empty() ? "see ashlar-server --help for those there are" : "did you mean " + near + "?";
}

}  // namespace ashlar::server
