#include "server/store/kept_ground.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <thread>
#include <utility>

#include "protocol/chunk_codec.h"
#include "server/config/load.h"
#include "server/store/sqlite.h"
#include "server/store/store_check.h"
#include "server/store/stored_blocks.h"

namespace ashlar::server {

std::string footprints_text(std::span<const BlockBox> boxes) {
  std::string text = "boxes";
  for (const BlockBox& box : boxes)
    for (const std::int32_t v : {box.min.x, box.min.y, box.min.z, box.max.x, box.max.y, box.max.z})
      text += " " + std::to_string(v);
  return text;
}

std::optional<std::vector<BlockBox>> read_footprints(std::string_view text) {
  if (!text.starts_with("boxes")) return std::nullopt;
  text.remove_prefix(5);
  std::vector<std::int32_t> numbers;
  while (!text.empty()) {
    if (text.front() != ' ') return std::nullopt;
    text.remove_prefix(1);
    std::int32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    numbers.push_back(number);
  }
  if (numbers.size() % 6 != 0) return std::nullopt;
  std::vector<BlockBox> boxes;
  for (std::size_t i = 0; i < numbers.size(); i += 6)
    boxes.push_back(
        {{numbers[i], numbers[i + 1], numbers[i + 2]}, {numbers[i + 3], numbers[i + 4], numbers[i + 5]}});
  return boxes;
}

namespace {

std::string map_line(const NamedMap& map) {
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(map.hash));
  return std::string(hash) + " " + map.name;
}

}  // namespace

std::string maps_text(std::span<const NamedMap> maps) {
  std::string text = "maps";
  for (const NamedMap& map : maps) text += "\n" + map_line(map);
  return text;
}

std::string other_map(std::string_view text, std::span<const NamedMap> maps) {
  const auto name_of = [](std::string_view line) {
    return line.substr(std::min(line.find(' '), line.size()));
  };
  for (const NamedMap& map : maps) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
    const std::string_view kept = text.substr(0, text.find('\n'));
    const std::string now = map_line(map);
    if (kept != now && name_of(kept) == name_of(now)) return map.name;
  }
  return {};
}

std::expected<KeptGround, std::string> open_kept_ground(const std::string& world_dir) {
  KeptGround kept;
  kept.file = (std::filesystem::path(world_dir) / store_name).string();
  const std::array<std::string, 2> words{"--world", world_dir};
  const auto line = parse_command_line(words);
  if (!line) return std::unexpected(line.error());
  const auto loaded = load_config(*line, {});
  if (!loaded) return std::unexpected(loaded.error());
  const Config& config = loaded->config;
  auto report = report_store(kept.file);
  if (!report) return std::unexpected(report.error().line);
  kept.world = std::move(report->world);
  const auto boxes = read_footprints(kept.world.footprints);
  if (!boxes)
    return std::unexpected(kept.file +
                           " does not say where its maps stand, as older servers did not: start a server "
                           "on it once");
  if (kept.world.seed != config.seed || kept.world.terrain != name(config.terrain))
    return std::unexpected(kept.file +
                           " is of another world than world.toml beside it: restore the one that belongs "
                           "to it");
  if (kept.world.generator != terrain_generator)
    return std::unexpected(kept.file + " is of generator version " + std::to_string(kept.world.generator) +
                           ", this build's is " + std::to_string(terrain_generator) +
                           ": use the build that made it");
  auto blocks = read_stored_blocks(kept.world.blocks);
  if (!blocks) return std::unexpected(kept.file + ": " + blocks.error() + ": restore it from a backup");
  kept.blocks = std::move(*blocks);
  kept.terrain = {.seed = config.seed, .footprints = *boxes, .kind = config.terrain};
  if (config.secret_seed != 0) {
    // As GroundGenerator has it.
    kept.terrain.secret = config.secret_seed;
    kept.terrain.treasure = kept.blocks->treasure();
  }
  kept.spawn = {static_cast<std::int32_t>(std::floor(config.spawn_x_m)),
                static_cast<std::int32_t>(std::floor(config.spawn_y_m))};
  return kept;
}

namespace {

/// Ground that nobody changed, on all cores: most of what a tool reads.
void generate_chunks(const Terrain& terrain, std::span<const ChunkCoord> wanted, VoxelVolume& volume) {
  std::vector<std::unique_ptr<Chunk>> made(wanted.size());
  std::atomic<std::size_t> next = 0;
  const auto make = [&] {
    for (std::size_t i = next++; i < wanted.size(); i = next++) made[i] = generate_chunk(terrain, wanted[i]);
  };
  {
    const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < std::min(cores, wanted.size()); ++i) helpers.emplace_back(make);
    make();
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) volume.insert_chunk(wanted[i], std::move(made[i]));
}

bool known_kinds(const Chunk& chunk, const BlockRegistry& kinds) {
  std::vector<BlockId> blocks(chunk_blocks);
  chunk.copy_blocks(blocks);
  return kinds.knows(*std::ranges::max_element(blocks));
}

}  // namespace

std::expected<std::unique_ptr<VoxelVolume>, std::string> read_chunks(const KeptGround& kept, ChunkCoord low,
                                                                     ChunkCoord high) {
  const auto database = Database::open(kept.file, OpenMode::read, tool_patience_ms);
  if (!database) return std::unexpected(database.error().line);
  auto row = Statement::make(*database, "SELECT hash, bytes FROM chunks WHERE place = ?1");
  if (!row) return std::unexpected(row.error().line);
  auto volume = std::make_unique<VoxelVolume>(1024, kept.blocks);
  ChunkCodec codec;
  std::vector<ChunkCoord> untouched;
  for (std::int32_t x = low.x; x <= high.x; ++x)
    for (std::int32_t y = low.y; y <= high.y; ++y)
      for (std::int32_t z = low.z; z <= high.z; ++z) {
        const ChunkCoord at{x, y, z};
        const std::int64_t place = chunk_place(at);
        const int code = row->bind(1, place).step();
        if (code != SQLITE_ROW && code != SQLITE_DONE) return std::unexpected(database->trouble(code).line);
        if (code == SQLITE_DONE) {
          untouched.push_back(at);
        } else {
          const bool whole =
              chunk_row_hash(place, row->bytes(1)) == std::bit_cast<std::uint64_t>(row->whole(0));
          auto chunk = whole ? codec.decode(row->bytes(1)) : std::unexpected(ChunkError::packing);
          if (!chunk || !known_kinds(**chunk, *kept.blocks))
            return std::unexpected("chunk " + std::to_string(x) + "," + std::to_string(y) + "," +
                                   std::to_string(z) + " is damaged: see ashlar-server world check");
          volume->insert_chunk(at, std::move(*chunk));
        }
        row->reset();
      }
  generate_chunks(kept.terrain, untouched, *volume);
  return volume;
}

}  // namespace ashlar::server
