#pragma once
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "server/config/config.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// Where WADs that are named without a folder are looked for, in this order: DOOMWADDIR, each of DOOMWADPATH,
/// then where distributions put them. Reads the environment.
std::vector<std::string> usual_wad_folders();

/// The file that a WAD's name means: itself when it is there, else the first of that name in a folder (upper
/// or lower case of the name as given, and with .wad added). nullopt: nowhere.
std::optional<std::string> find_wad(const std::string& name, const std::vector<std::string>& folders);

/// A world to be, and what it was made of, for the log and for the world's folder.
struct PreparedWorld {
  WorldSetup setup;
  std::vector<std::string> wads;  ///< files that were read; empty: the built-in map
  std::vector<MapRequest> maps;   ///< every map with its place, so that a kept world stays what it is
};

/// Reads WADs, compiles maps and finds places for them: what --check-config checks. Without WAD and map:
/// MAP01 of Freedoom where it is found, else the map that is built in. Nothing is left half-made.
/// @return or one line that names file, map and remedy
std::expected<PreparedWorld, std::string> prepare_setup(const Config& config,
                                                        const std::vector<std::string>& wad_folders);

}  // namespace ashlar::server
