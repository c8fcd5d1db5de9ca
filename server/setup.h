#pragma once
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/config/config.h"
#include "server/props.h"
#include "server/store/kept_ground.h"
#include "world/bsp/placement.h"
#include "world/bsp/sector_map.h"
#include "world/content/wad.h"
#include "world/sim/world.h"

namespace ashlar::server {

/// wad_folders() (world/content/wad_folders.h) of the environment.
std::vector<std::string> usual_wad_folders();

/// The file that a WAD's name means: the first of wad_files() that is there. nullopt: nowhere.
std::optional<std::string> find_wad(const std::string& name, const std::vector<std::string>& folders);

/// WADs and where each was read from.
struct OpenedWads {
  WadStack wads;
  std::vector<std::string> files;
};

/// Opens WADs in their order, later ones over earlier. @return or one line that names the file and the remedy
std::expected<OpenedWads, std::string> open_wads(const std::vector<std::string>& names,
                                                 const std::vector<std::string>& folders);

/// Those that a configuration means: its own, else Freedoom where it is found, else none.
std::expected<OpenedWads, std::string> open_wads_of(const Config& config,
                                                    const std::vector<std::string>& folders);

/// A map out of the WADs, or the one that is built in. @return or one line that names the maps there are
std::expected<SectorMap, std::string> load_map(const OpenedWads& opened, const std::string& name);

/// A world to be, and what it was made of, for the log and for the world's folder.
struct PreparedWorld {
  WorldSetup setup;
  std::vector<std::string> wads;         ///< files that were read; empty: the built-in map
  std::vector<MapRequest> maps;          ///< every map with its place, so that a kept world stays what it is
  std::vector<PropRequest> props;        ///< likewise with its height
  std::vector<NamedMap> named_maps;      ///< each map as its WAD has it, wherever and however it is placed
  std::vector<std::size_t> map_sectors;  ///< of each map as its WAD has them; stairs to the surface add more
};

/// Everything that is read from files before a world is made of it.
struct ReadContent {
  OpenedWads wads;
  std::vector<MapRequest>
      requests;                 ///< maps to place, in their order; the default one where none was asked for
  std::vector<SectorMap> maps;  ///< of each request; empty where no map was wanted
  PropModels models;
  std::shared_ptr<const BlockRegistry> blocks;  ///< of the file that was given; null: none was
  std::shared_ptr<const KindSet> kinds;         ///< null: ours
};

/// Reads a file of kinds of monsters, projectiles and weapons. @param path  empty: null, which is ours
/// @param blocks  of the world, on which its spawn rules have monsters stand
/// @return or one line that names the file, its line and what is wrong
std::expected<std::shared_ptr<const KindSet>, std::string> read_kinds_file(const std::string& path,
                                                                           const BlockRegistry& blocks);

/// Reads WADs, maps, props and kinds. Without WAD and map: MAP01 of Freedoom where it is found, else the map
/// that is built in. Quick: compiles nothing. @return or one line that names file, map and remedy
std::expected<ReadContent, std::string> read_content(const Config& config,
                                                     const std::vector<std::string>& wad_folders);

/// Compiles maps and finds places for them and the props. Nothing is left half-made.
/// @param visibility  where the maps' visibility sets come from; empty: they are computed
/// @param stop        asked before each map; true ends it with the error start_stopped. May be empty
/// @return or one line that names map or prop and remedy
std::expected<PreparedWorld, std::string> compile_setup(const Config& config, const ReadContent& content,
                                                        const VisibilitySource& visibility = {},
                                                        const std::function<bool()>& stop = {});

/// The error of a start that was told to stop.
inline constexpr std::string_view start_stopped = "stopped while it started";

/// Both.
std::expected<PreparedWorld, std::string> prepare_setup(const Config& config,
                                                        const std::vector<std::string>& wad_folders,
                                                        const VisibilitySource& visibility = {});

}  // namespace ashlar::server
