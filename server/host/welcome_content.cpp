#include "server/host/welcome_content.h"

#include "protocol/message_writer.h"
#include "world/bsp/placement.h"
#include "world/collide/prop.h"

namespace ashlar::server {

void add_content(const WorldSetup& setup, Welcome& welcome) {
  for (const auto& map : setup.maps) {
    WelcomeMap entry;
    entry.name = map->name();
    const PlaceOptions& options = map->options();
    entry.content_hash = map->content_hash();
    entry.origin_block = options.origin_block;
    entry.surface_z = options.surface_z;
    entry.flags = (options.doors_open ? welcome_map_flag::doors_open : 0) |
                  (options.doorway ? welcome_map_flag::doorway : 0);
    welcome.maps.push_back(std::move(entry));
  }
  for (const auto& prop : setup.props)
    welcome.props.push_back({prop->name(), prop->content_hash(), prop->at(), prop->up()});
}

std::expected<void, std::string> check_welcome(const WorldSetup& setup) {
  Welcome welcome;
  add_content(setup, welcome);
  // Numbers that are at their defaults take no room: none of these is.
  welcome.nonce = welcome.seed = 1;
  welcome.connection = welcome.tick = 1;
  welcome.player = make_entity_id(1, 1);
  welcome.motd = std::string(motd_bytes_max, 'm');
  welcome.rules = setup.rules;
  welcome.rules.shot_interval_s += 1;
  welcome.rules.shot_range_m += 1;
  MessageWriter writer;
  const std::size_t bytes = writer.bytes_of(welcome);
  if (bytes <= datagram_bytes_max) return {};
  return std::unexpected("the " + std::to_string(setup.maps.size()) + " maps and " +
                         std::to_string(setup.props.size()) + " props do not fit into a welcome of " +
                         std::to_string(datagram_bytes_max) + " bytes (" + std::to_string(bytes) +
                         "): leave some out, or give their files shorter names");
}

}  // namespace ashlar::server
