#pragma once
#include <expected>
#include <string>
#include <utility>
#include <vector>

#include "server/config/command_line.h"
#include "server/config/config.h"

namespace ashlar::server {

/// Variables by name, as main finds them.
using Environment = std::vector<std::pair<std::string, std::string>>;

/// The environment of this process, ASHLAR_* alone.
Environment own_environment();
/// Likewise of another process; none where that may not be read. @param pid  digits
std::optional<Environment> environment_of_process(const std::string& pid);

/// Is it a folder in which a world was made, but whose world.toml is gone?
bool lost_its_world(const std::string& world_dir);

/// Settings after all layers were laid over one another.
struct LoadedConfig {
  Config config;
  std::vector<std::string> origins;  ///< per setting: "--port", "ASHLAR_PORT", "FILE:12"; empty: the default
  std::vector<std::string> unknown_variables;  ///< ASHLAR_* that no setting reads: told, not fatal
  std::string config_file;                     ///< what was read; empty: none
  bool world_exists = false;                   ///< world_dir holds a world already
  bool world_unchecked = false;                ///< its file is of the format without a check line
  bool world_accepted = false;                 ///< --accept-world: whatever maps it has from now on
  std::string world_resealed;                  ///< text for its file, with --accept-world where it was wrong
};

/// Defaults, then the world's own world.toml, then the file (--config, else server.toml in the world's folder
/// where there is one), then the environment, then flags. Reads files, writes none.
/// A world's folder that is damaged, not reachable, or has lost its world.toml is refused, never taken for
/// empty.
/// @return or one line: a value out of range with where it came from, or a seed that contradicts the world's
std::expected<LoadedConfig, std::string> load_config(const CommandLine& line, const Environment& environment);

}  // namespace ashlar::server
