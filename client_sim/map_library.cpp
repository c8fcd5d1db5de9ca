#include "client_sim/map_library.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "world/bsp/placement.h"
#include "world/content/builtin_map.h"
#include "world/content/udmf.h"
#include "world/content/wad.h"

namespace ashlar::client_sim {
namespace {

namespace fs = std::filesystem;
constexpr const char* default_wad = "freedoom2.wad";
constexpr std::uintmax_t wad_bytes_max = std::uintmax_t{512} * 1024 * 1024;

/// The file itself, or one of that name where WADs usually are.
std::optional<fs::path> find_file(const std::string& name) {
  std::vector<fs::path> places{fs::path(name)};
  if (name.find('/') == std::string::npos) {
    if (const char* folder = std::getenv("DOOMWADDIR"); folder != nullptr && *folder != 0)
      places.push_back(fs::path(folder) / name);
    for (const char* folder : {"/usr/local/share/games/doom", "/usr/share/games/doom", "/usr/share/doom"})
      places.push_back(fs::path(folder) / name);
  }
  std::error_code ignored;
  for (const fs::path& place : places)
    if (fs::is_regular_file(place, ignored)) return place;
  return std::nullopt;
}

std::expected<WadFile, std::string> read_wad(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(path, error);
  if (error) return std::unexpected("cannot read " + path.string() + ": " + error.message());
  if (size > wad_bytes_max)
    return std::unexpected("cannot read " + path.string() + ": it is larger than 512 MiB");
  std::ifstream file(path, std::ios::binary);
  std::vector<std::uint8_t> bytes(size);
  file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (static_cast<std::uintmax_t>(file.gcount()) != size)
    return std::unexpected("cannot read " + path.string() + ": it ends early or may not be read");
  auto wad = open_wad(std::move(bytes), path.string());
  if (!wad) return std::unexpected(wad.error().line());
  return std::move(*wad);
}

}  // namespace

struct MapLibrary::Impl {
  struct Known {
    WelcomeMap map;
    std::optional<std::uint64_t> hash;
  };
  WadStack wads;
  std::vector<std::string> files;
  std::vector<Known> known;

  std::optional<SectorMap> load(const std::string& name) const {
    if (find_map(wads, name)) {
      auto map = read_map(wads, name);
      if (map) return std::move(*map);
      return std::nullopt;
    }
    if (name != builtin_map_name) return std::nullopt;
    auto map = parse_udmf(builtin_map_text());
    if (!map) return std::nullopt;
    map->name = builtin_map_name;
    return std::move(*map);
  }

  std::optional<std::uint64_t> place(const WelcomeMap& wanted) const {
    const auto map = load(wanted.name);
    if (!map) return std::nullopt;
    PlaceOptions options;
    options.name = wanted.name;
    options.origin_block = wanted.origin_block;
    options.surface_z = wanted.surface_z;
    options.doors_open = (wanted.flags & welcome_map_flag::doors_open) != 0;
    options.doorway = (wanted.flags & welcome_map_flag::doorway) != 0;
    const auto placed = place_map(*map, options);
    if (!placed) return std::nullopt;
    return (*placed)->content_hash();
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

std::optional<std::uint64_t> MapLibrary::content_hash(const WelcomeMap& map) {
  for (const Impl::Known& known : impl_->known)
    if (known.map.name == map.name && known.map.origin_block == map.origin_block &&
        known.map.surface_z == map.surface_z && known.map.flags == map.flags)
      return known.hash;
  impl_->known.push_back({map, impl_->place(map)});
  return impl_->known.back().hash;
}

}  // namespace ashlar::client_sim
