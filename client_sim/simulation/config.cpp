#include "client_sim/simulation/config.h"

#include "world/bsp/placement.h"

namespace ashlar::simulation {

std::shared_ptr<const PlacedMap> map_at(const SimulationConfig& config, std::string_view name,
                                        IVec2 origin_block) {
  for (const auto& map : config.maps)
    if (map->name() == name && map->options().origin_block == origin_block) return map;
  return nullptr;
}

}  // namespace ashlar::simulation
