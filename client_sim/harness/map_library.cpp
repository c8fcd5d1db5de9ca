#include "client_sim/harness/map_library.h"

#include <cstdlib>
#include <filesystem>

#include "client_sim/harness/read_file.h"
#include "protocol/content/effort.h"
#include "world/bsp/placement.h"
#include "world/content/builtin_map.h"
#include "world/content/udmf.h"
#include "world/content/wad.h"
#include "world/content/wad_folders.h"

namespace ashlar::client_sim {
namespace {

namespace fs = std::filesystem;

/// The file itself, or one of that name where WADs usually are.
std::optional<fs::path> find_file(const std::string& name) {
  const auto folders = wad_folders(std::getenv("DOOMWADDIR"), std::getenv("DOOMWADPATH"));
  std::error_code ignored;
  for (const std::string& file : wad_files(name, folders))
    if (fs::is_regular_file(file, ignored)) return file;
  return std::nullopt;
}

std::expected<WadFile, std::string> read_wad(const fs::path& path) {
  auto bytes = read_file(path.string());
  if (!bytes) return std::unexpected(std::move(bytes.error()));
  auto wad = open_wad(std::move(*bytes), path.string());
  if (!wad) return std::unexpected(wad.error().line());
  return std::move(*wad);
}

bool same(const PlaceOptions& a, const PlaceOptions& b) {
  return a.name == b.name && a.origin_block == b.origin_block && a.surface_z == b.surface_z &&
         a.doors_open == b.doors_open && a.doorway == b.doorway && a.visibility == b.visibility;
}

}  // namespace

struct MapLibrary::Impl {
  struct Known {
    PlaceOptions options;
    std::expected<std::shared_ptr<const PlacedMap>, std::string> map;
  };
  WadStack wads;
  std::vector<std::string> files;
  std::vector<Known> known;

  std::expected<SectorMap, std::string> load(const std::string& name) const {
    const bool builtin = name == builtin_map_name && !find_map(wads, name);
    auto map = builtin ? parse_udmf(builtin_map_text()) : read_map(wads, name);
    if (!map) return std::unexpected(map.error().line());
    if (builtin) map->name = builtin_map_name;
    return std::move(*map);
  }

  std::expected<std::shared_ptr<const PlacedMap>, std::string> place(const PlaceOptions& options) {
    for (const Known& k : known)
      if (same(k.options, options)) return k.map;
    known.push_back({options, std::unexpected(std::string())});
    auto& result = known.back().map;
    const auto map = load(options.name);
    if (!map) return result = std::unexpected(map.error());
    if (auto wrong = too_laborious(*map, own_map_effort))
      return result = std::unexpected(map->name + ": " + *wrong);
    auto placed = place_map(*map, options);
    if (placed)
      result = std::move(*placed);
    else
      result = std::unexpected(placed.error().line());
    return result;
  }
};

MapLibrary::MapLibrary(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
MapLibrary::MapLibrary(MapLibrary&&) noexcept = default;
MapLibrary& MapLibrary::operator=(MapLibrary&&) noexcept = default;
MapLibrary::~MapLibrary() = default;

const std::vector<std::string>& MapLibrary::files() const { return impl_->files; }

std::expected<MapLibrary, std::string> MapLibrary::open(const std::vector<std::string>& wads) {
  auto impl = std::make_unique<Impl>();
  std::vector<std::string> names = wads;
  if (names.empty() && find_file(default_wad)) names.emplace_back(default_wad);
  for (const std::string& name : names) {
    const auto path = find_file(name);
    std::error_code ignored;
    if (!path && fs::exists(name, ignored))
      return std::unexpected("WAD " + name + " is a folder, a pipe or a device: name a file with --wad");
    if (!path)
      return std::unexpected("there is no WAD " + name +
                             ": name a file with --wad, or install one (Debian: freedoom)");
    auto wad = read_wad(*path);
    if (!wad) return std::unexpected(std::move(wad.error()));
    impl->wads.files.push_back(std::move(*wad));
    impl->files.push_back(path->string());
  }
  return MapLibrary(std::move(impl));
}

std::expected<std::shared_ptr<const PlacedMap>, std::string> MapLibrary::place(const PlaceOptions& options) {
  return impl_->place(options);
}

std::shared_ptr<const PlacedMap> MapLibrary::placed(const WelcomeMap& map) {
  PlaceOptions options;
  options.name = map.name;
  options.origin_block = map.origin_block;
  options.surface_z = map.surface_z;
  options.doors_open = (map.flags & welcome_map_flag::doors_open) != 0;
  options.doorway = (map.flags & welcome_map_flag::doorway) != 0;
  const auto placed = impl_->place(options);
  return placed ? *placed : nullptr;
}

}  // namespace ashlar::client_sim
