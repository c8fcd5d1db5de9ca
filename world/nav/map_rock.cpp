#include "world/nav/map_rock.h"

#include "world/bsp/line_grid.h"
#include "world/bsp/placement.h"

namespace ashlar {

std::vector<std::uint8_t> open_columns(const PlacedMap& map) {
  const BlockBox& box = map.box();
  constexpr double inside_m = 0.02;  // of a column's edges
  const auto open = [&](double x, double y) {
    const std::uint32_t leaf = map.grid().leaf_at(map.tree(), map.to_map({x, y}));
    const std::uint32_t sector = map.tree().leaves[leaf].sector;
    return sector != no_index && map.open_to_sky(sector, map.initial_heights()[sector]);
  };
  std::vector<std::uint8_t> out;
  for (std::int32_t y = box.min.y; y < box.max.y; ++y)
    for (std::int32_t x = box.min.x; x < box.max.x; ++x) {
      bool any = false;
      for (const double dy : {inside_m, 0.5, 1 - inside_m})
        for (const double dx : {inside_m, 0.5, 1 - inside_m}) any = any || open(x + dx, y + dy);
      out.push_back(any ? 1 : 0);
    }
  return out;
}

}  // namespace ashlar
