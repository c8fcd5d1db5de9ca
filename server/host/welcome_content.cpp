#include "server/host/welcome_content.h"

#include "protocol/messages.h"
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
  const auto too_many = [](const char* what, std::size_t count, std::size_t most) {
    return std::unexpected(std::to_string(count) + " " + what + " are more than a welcome names (" +
                           std::to_string(most) + "): leave some out");
  };
  if (setup.maps.size() > placed_maps_max) return too_many("maps", setup.maps.size(), placed_maps_max);
  if (setup.props.size() > placed_props_max) return too_many("props", setup.props.size(), placed_props_max);
  return {};
}

}  // namespace ashlar::server
