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

/// Settings after all layers were laid over one another.
struct LoadedConfig {
  Config config;
  std::vector<std::string> origins;  ///< per setting: "--port", "ASHLAR_PORT", "FILE:12"; empty: the default
  std::vector<std::string> unknown_variables;  ///< ASHLAR_* that no setting reads: told, not fatal
  std::string config_file;                     ///< what was read; empty: none
  bool world_exists = false;                   ///< world_dir holds a world already
};

/// Defaults, then the world's own world.toml, then the file (--config, else server.toml in the world's folder
/// where there is one), then the environment, then flags. Reads files, writes none.
/// @return or one line: a value out of range with where it came from, or a seed that contradicts the world's
std::expected<LoadedConfig, std::string> load_config(const CommandLine& line, const Environment& environment);

/// Writes a server.toml of commented examples and the world's world.toml into its folder, which is there,
/// where they are absent. Does nothing without a world_dir. @return or one line that names file and reason
std::expected<void, std::string> prepare_world(const LoadedConfig& loaded);

}  // namespace ashlar::server
