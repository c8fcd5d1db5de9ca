#include "protocol/recorded_world.h"

#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "protocol/chunk_codec.h"
#include "world/collide/prop.h"
#include "world/content/kinds_file.h"
#include "world/sim/home.h"
#include "world/voxel/chunk.h"

namespace ashlar {
namespace {

std::tuple<std::int32_t, std::int32_t, std::int32_t> place(ChunkCoord at) { return {at.x, at.y, at.z}; }

/// Ground with some chunks in place of generated ones.
ChunkSource over(std::span<const ChangedChunk> chunks, const ChunkSource& ground) {
  std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>,
           std::shared_ptr<const std::vector<std::uint8_t>>>
      kept;
  for (const ChangedChunk& chunk : chunks) kept[place(chunk.at)] = chunk.bytes;
  return [kept = std::move(kept), ground](const Terrain& terrain, ChunkCoord at) {
    if (const auto known = kept.find(place(at)); known != kept.end())
      if (auto chunk = ChunkCodec().decode(*known->second)) return std::move(*chunk);
    return ground ? ground(terrain, at) : generate_chunk(terrain, at);
  };
}

}  // namespace

RecordingHeader recording_header(const World& world, const std::string& build,
                                 std::vector<ChangedChunk> kept) {
  const WorldSetup& setup = world.setup();
  RecordingHeader header;
  header.build = build;
  header.seed = setup.seed;
  header.terrain = setup.terrain;
  header.rules = setup.rules;
  header.players_max = setup.players_max;
  header.monsters_max = setup.monsters_max;
  header.monsters = setup.monsters;
  header.start_hash = world.hash();
  header.spawn = setup.spawn;
  header.secret = setup.secret;
  header.zones = setup.zones;
  header.blocks = setup.blocks;
  header.start = {setup.age_ticks, setup.items, setup.contents, setup.kept, std::move(kept)};
  if (setup.kinds) header.kinds = setup.kinds->source;
  for (const auto& map : setup.maps)
    header.maps.push_back({map->name(), map->content_hash(), map->options().origin_block,
                           map->options().surface_z, map->options().doors_open, map->options().doorway});
  for (const auto& prop : setup.props)
    header.props.push_back({prop->name(), prop->content_hash(), prop->at(), prop->up()});
  return header;
}

PlaceOptions place_of(const RecordedMap& map) {
  PlaceOptions place;
  place.name = map.name;
  place.origin_block = map.origin_block;
  place.surface_z = map.surface_z;
  place.doors_open = map.doors_open;
  place.doorway = map.doorway;
  return place;
}

std::expected<std::unique_ptr<World>, std::string> world_of(const RecordingHeader& header,
                                                            const MapSource& maps, const ChunkSource& ground,
                                                            const PropSource& props,
                                                            const RecordedGame& game) {
  if (!terrain_known(static_cast<std::uint8_t>(header.terrain), header.generator))
    return std::unexpected{"its ground was made by generator " + std::to_string(header.generator) + " of " +
                           std::string(name(header.terrain)) + ", and this build has generator " +
                           std::to_string(terrain_generator) + ": replay it with the build that wrote it"};
  WorldSetup setup;
  setup.terrain = header.terrain;
  setup.make_chunk = header.start.chunks.empty() ? ground : over(header.start.chunks, ground);
  setup.game = game;
  setup.age_ticks = header.start.age_ticks;
  setup.items = header.start.items;
  setup.contents = header.start.contents;
  setup.kept = header.start.kept;
  setup.seed = header.seed;
  setup.rules = header.rules;
  setup.players_max = header.players_max;
  setup.monsters_max = header.monsters_max;
  setup.monsters = header.monsters;
  setup.spawn = header.spawn;
  setup.secret = header.secret;
  setup.zones = header.zones;
  setup.blocks = header.blocks;
  if (!header.kinds.empty()) {
    auto kinds = read_kinds(header.kinds, "its kinds", KindsLetters::any);
    if (!kinds) return std::unexpected{kinds.error().line()};
    setup.kinds = std::move(*kinds);
  }
  for (const RecordedMap& wanted : header.maps) {
    auto map = maps(wanted);
    if (!map) return std::unexpected{map.error()};
    if ((*map)->content_hash() != wanted.content_hash)
      return std::unexpected{
          "map " + wanted.name +
          " is not the one that was played: its content differs; give the WAD that the server "
          "used with --wad"};
    setup.maps.push_back(std::move(*map));
  }
  if (auto wrong = home_too_large(setup.maps)) return std::unexpected{std::move(*wrong)};
  for (const RecordedProp& wanted : header.props) {
    if (!props) return std::unexpected{"there is no prop " + wanted.name + ": give it with --prop"};
    auto prop = props(wanted);
    if (!prop) return std::unexpected{prop.error()};
    if ((*prop)->content_hash() != wanted.content_hash)
      return std::unexpected{"prop " + wanted.name +
                             " is not the one that was played: its content differs; give the file that the "
                             "server used with --prop"};
    setup.props.push_back(std::move(*prop));
  }
  return std::make_unique<World>(setup);
}

}  // namespace ashlar
