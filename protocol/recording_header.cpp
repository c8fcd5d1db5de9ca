#include "protocol/recording.h"
#include "world/bsp/placement.h"
#include "world/sim/world.h"

namespace ashlar {

RecordingHeader recording_header(const World& world, const std::string& build) {
  const WorldSetup& setup = world.setup();
  RecordingHeader header;
  header.build = build;
  header.seed = setup.seed;
  header.rules = setup.rules;
  header.players_max = setup.players_max;
  header.monsters_max = setup.monsters_max;
  header.monsters = setup.monsters;
  header.start_hash = world.hash();
  for (const auto& map : setup.maps)
    header.maps.push_back({map->name(), map->content_hash(), map->options().origin_block,
                           map->options().surface_z, map->options().doors_open, map->options().doorway});
  for (const auto& prop : setup.props)
    header.props.push_back({prop->name(), prop->content_hash(), prop->at(), prop->up()});
  return header;
}

}  // namespace ashlar
