#include "server/setup.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "protocol/content/effort.h"
#include "server/config/file.h"
#include "server/host/welcome_content.h"
#include "world/bsp/placement.h"
#include "world/content/block_file.h"
#include "world/content/builtin_map.h"
#include "world/content/kinds_file.h"
#include "world/content/udmf.h"
#include "world/content/wad.h"
#include "world/content/wad_folders.h"
#include "world/math/ascii.h"
#include "world/sim/home.h"
#include "world/voxel/terrain.h"

namespace ashlar::server {
namespace {

namespace fs = std::filesystem;
using Failure = std::unexpected<std::string>;

constexpr std::size_t wad_bytes_max = std::size_t{512} << 20;
/// Between maps that find their places by themselves: room for the level ground around each and a slope.
constexpr std::int32_t gap_blocks = 48;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// Why nothing of that name was taken for a WAD, with the remedy.
std::string no_wad(const std::string& name, const std::vector<std::string>& folders) {
  std::error_code error;
  const fs::file_status what = fs::status(name, error);
  if (fs::exists(what))
    return "WAD " + name + " is " + (fs::is_directory(what) ? "a folder" : "a pipe, a device or a socket") +
           ": name a file" + (fs::is_directory(what) ? " in it" : "") + " with --wad";
  std::string where;
  for (const std::string& folder : folders) where += (where.empty() ? "" : ", ") + folder;
  const bool bare = name.find('/') == std::string::npos;
  const bool list = name.find(',') != std::string::npos;
  return "there is no WAD " + name + (bare ? ", neither here nor in " + where : "") +
         (list ? ": several are separated by ; in a variable, and take a --wad each as flags"
               : ": name a file with --wad, or install one (Debian: freedoom)");
}

bool is_built_in(const std::string& name) { return upper_ascii(name) == builtin_map_name; }

/// Extent in blocks, to plan with; placement decides the exact box.
IVec2 rough_size(const SectorMap& map) {
  const MapBounds bounds = bounds_of(map);
  const auto blocks = [](double units) { return static_cast<std::int32_t>(units / map_units_per_m) + 3; };
  return {blocks(bounds.max.x - bounds.min.x), blocks(bounds.max.y - bounds.min.y)};
}

constexpr std::int32_t roof_over_sea_m = 3;

/// The middle one of heights sampled over the ground that the map takes: half the rim is dug, half is filled.
/// No roof lies under water, and over nothing it is as high as the platform.
std::int32_t surface_for(const Terrain& terrain, IVec2 origin, IVec2 size) {
  if (terrain.kind == TerrainKind::empty) return flat_surface_m;
  constexpr std::int32_t samples = 9;
  std::vector<std::int32_t> heights;
  for (std::int32_t iy = 0; iy < samples; ++iy)
    for (std::int32_t ix = 0; ix < samples; ++ix)
      heights.push_back(surface_height(terrain, origin.x + size.x * ix / (samples - 1),
                                       origin.y + size.y * iy / (samples - 1)));
  const auto middle = heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2);
  std::nth_element(heights.begin(), middle, heights.end());
  return terrain.kind == TerrainKind::hills ? std::max(*middle, sea_level_m + roof_over_sea_m) : *middle;
}

bool overlap(const BlockBox& a, const BlockBox& b) {
  return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

/// The first map without a place is centred on the origin, each further one stands east of everything.
IVec2 free_place(std::span<const std::shared_ptr<const PlacedMap>> placed, IVec2 size) {
  if (placed.empty()) return {-size.x / 2, -size.y / 2};
  std::int32_t east = placed.front()->box().max.x;
  for (const auto& map : placed) east = std::max(east, map->box().max.x);
  return {east + gap_blocks, -size.y / 2};
}

}  // namespace

std::vector<std::string> usual_wad_folders() {
  return wad_folders(std::getenv("DOOMWADDIR"), std::getenv("DOOMWADPATH"));
}

std::optional<std::string> find_wad(const std::string& name, const std::vector<std::string>& folders) {
  for (std::string& file : wad_files(name, folders))
    if (is_file(file)) return std::move(file);
  return std::nullopt;
}

std::expected<OpenedWads, std::string> open_wads(const std::vector<std::string>& names,
                                                 const std::vector<std::string>& folders) {
  OpenedWads opened;
  for (const std::string& name : names) {
    const auto path = find_wad(name, folders);
    if (!path) return Failure(no_wad(name, folders));
    const auto bytes = read_file(*path, wad_bytes_max);
    if (!bytes) return Failure(bytes.error());
    auto wad = open_wad(std::vector<std::uint8_t>(bytes->begin(), bytes->end()), *path);
    if (!wad) return Failure(wad.error().line());
    opened.wads.files.push_back(std::move(*wad));
    opened.files.push_back(*path);
  }
  return opened;
}

std::expected<OpenedWads, std::string> open_wads_of(const Config& config,
                                                    const std::vector<std::string>& folders) {
  if (!config.wads.empty()) return open_wads(config.wads, folders);
  const bool all_built_in = std::ranges::all_of(config.maps, is_built_in, &MapRequest::name);
  if (!config.maps.empty() && all_built_in) return OpenedWads{};
  // Nobody asked for it: where there is none, the built-in map takes its place.
  const auto freedoom = find_wad(default_wad, folders);
  return freedoom ? open_wads({*freedoom}, folders) : OpenedWads{};
}

std::expected<SectorMap, std::string> load_map(const OpenedWads& opened, const std::string& name) {
  const bool in_wad = find_map(opened.wads, name).has_value();
  if (!in_wad && is_built_in(name)) {
    auto map = parse_udmf(builtin_map_text());
    if (!map) return Failure(map.error().line());
    map->name = builtin_map_name;
    return std::move(*map);
  }
  if (opened.files.empty())
    return Failure("there is no map " + name + " without a WAD: name one with --wad, or take the built-in " +
                   std::string(builtin_map_name));
  auto map = read_map(opened.wads, name);
  if (!map) return Failure(map.error().line());
  return std::move(*map);
}

std::expected<std::shared_ptr<const KindSet>, std::string> read_kinds_file(const std::string& path,
                                                                           const BlockRegistry& blocks) {
  if (path.empty()) return nullptr;
  const auto text = read_file(path, kinds_file_bytes_max);
  if (!text) return Failure("kinds: " + text.error());
  auto kinds = read_kinds(*text, path);
  if (!kinds) return Failure(kinds.error().line());
  for (const SpawnRule& rule : (*kinds)->spawns)
    if (!rule.ground.empty() && !blocks.find(rule.ground))
      return Failure(ContentError{path, "", "line " + std::to_string(rule.line),
                                  "ground: there is no block \"" + rule.ground + '"'}
                         .line());
  return std::move(*kinds);
}

std::expected<ReadContent, std::string> read_content(const Config& config,
                                                     const std::vector<std::string>& wad_folders) {
  ReadContent content;
  if (!config.blocks_file.empty()) {
    const auto text = read_file(config.blocks_file, block_file_bytes_max);
    if (!text) return Failure(text.error());
    auto blocks = read_block_file(*text, config.blocks_file);
    if (!blocks) return Failure(blocks.error().line());
    content.blocks = std::make_shared<const BlockRegistry>(std::move(*blocks));
  }
  auto models = PropModels::read(config.props);
  if (!models) return Failure(std::move(models.error()));
  content.models = std::move(*models);
  auto kinds = read_kinds_file(config.kinds_file,
                               content.blocks != nullptr ? *content.blocks : BlockRegistry::builtin());
  if (!kinds) return Failure(std::move(kinds.error()));
  content.kinds = std::move(*kinds);
  const bool no_map = config.maps.size() == 1 && config.maps.front().name == "none";
  content.requests = config.maps;
  if (no_map && config.wads.empty()) return content;
  auto wads = open_wads_of(config, wad_folders);
  if (!wads) return Failure(std::move(wads.error()));
  content.wads = std::move(*wads);
  if (no_map) return content;
  if (content.requests.empty()) {
    const std::vector<std::string> names = map_names(content.wads.wads);
    if (!content.wads.files.empty() && names.empty())
      return Failure(content.wads.files.back() + " holds no map: name another WAD, or give --map none");
    content.requests.push_back({names.empty() ? std::string(builtin_map_name) : names.front(), {}});
  }
  for (const MapRequest& request : content.requests) {
    auto map = load_map(content.wads, request.name);
    if (!map) return Failure(std::move(map.error()));
    content.maps.push_back(std::move(*map));
  }
  return content;
}

namespace {

std::expected<PreparedWorld, std::string> prepare_maps(const Config& config, const ReadContent& content,
                                                       const VisibilitySource& visibility,
                                                       const std::function<bool()>& stop) {
  PreparedWorld world;
  world.setup.seed = config.seed;
  world.setup.terrain = config.terrain;
  if (content.blocks != nullptr) world.setup.blocks = content.blocks;
  world.setup.rules = config.rules;
  world.setup.zones = config.zones;
  world.setup.kinds = content.kinds;
  world.setup.players_max = config.clients_max;
  world.setup.monsters = config.monsters;
  world.setup.spawn = {{config.spawn_x_m, config.spawn_y_m}, config.spawn_radius_m};
  world.setup.monsters_max = std::max(world.setup.monsters_max, config.monsters);
  world.wads = content.wads.files;
  world.maps = content.requests;
  world.named_maps.reserve(content.maps.size());
  world.map_sectors.reserve(content.maps.size());
  for (std::size_t i = 0; i < content.maps.size(); ++i) {
    world.named_maps.push_back({content.requests[i].name, content_hash(content.maps[i])});
    world.map_sectors.push_back(content.maps[i].sectors.size());
  }

  const Terrain terrain{config.seed, {}, config.terrain};
  std::vector<std::shared_ptr<const PlacedMap>>& placed = world.setup.maps;
  placed.resize(content.maps.size());
  // Those with a place of their own first, so that the others find theirs beside them.
  std::vector<std::shared_ptr<const PlacedMap>> standing;
  for (const bool with_place : {true, false}) {
    for (std::size_t index = 0; index < content.maps.size(); ++index) {
      const MapRequest& request = content.requests[index];
      if (request.at.has_value() != with_place) continue;
      if (stop && stop()) return Failure(std::string(start_stopped));
      const SectorMap& map = content.maps[index];
      if (const auto wrong = too_laborious(map, own_map_effort))
        return Failure("map " + request.name + ": " + *wrong + "; name another map, or split this one");
      const IVec2 size = rough_size(map);
      PlaceOptions options;
      options.origin_block = with_place ? *request.at : free_place(standing, size);
      options.surface_z = surface_for(terrain, options.origin_block, size);
      options.doors_open = config.doors == Doors::open;
      options.visibility = true;
      auto result = place_map(map, options, visibility);
      if (!result) return Failure(result.error().line());
      for (std::size_t other = 0; other < standing.size(); ++other)
        if (overlap((*result)->box(), standing[other]->box()))
          return Failure("maps " + (*result)->name() + " and " + standing[other]->name() +
                         " overlap: give them other places, such as --map " + (*result)->name() + "@" +
                         std::to_string(standing[other]->box().max.x + gap_blocks) + "," +
                         std::to_string(standing[other]->box().min.y));
      world.maps[index] = {(*result)->name(), options.origin_block};
      standing.push_back(*result);
      placed[index] = std::move(*result);
    }
  }
  return world;
}

}  // namespace

std::expected<PreparedWorld, std::string> compile_setup(const Config& config, const ReadContent& content,
                                                        const VisibilitySource& visibility,
                                                        const std::function<bool()>& stop) {
  auto world = prepare_maps(config, content, visibility, stop);
  if (!world) return world;
  if (auto wrong = home_too_large(world->setup.maps)) return Failure(std::move(*wrong));
  Terrain terrain;
  terrain.seed = config.seed;
  terrain.kind = config.terrain;
  for (const auto& map : world->setup.maps) terrain.footprints.push_back(map->box());
  auto props = place_props(config.props, content.models, terrain);
  if (!props) return Failure(std::move(props.error()));
  world->setup.props = std::move(props->props);
  world->props = std::move(props->requests);
  if (auto fits = check_welcome(world->setup); !fits) return Failure(std::move(fits.error()));
  return world;
}

std::expected<PreparedWorld, std::string> prepare_setup(const Config& config,
                                                        const std::vector<std::string>& wad_folders,
                                                        const VisibilitySource& visibility) {
  auto content = read_content(config, wad_folders);
  if (!content) return Failure(std::move(content.error()));
  return compile_setup(config, *content, visibility);
}

}  // namespace ashlar::server
