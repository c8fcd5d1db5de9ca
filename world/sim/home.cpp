#include "world/sim/home.h"

#include <algorithm>
#include <cstdlib>

#include "world/bsp/placement.h"
#include "world/voxel/block.h"

namespace ashlar {
namespace {

constexpr std::int32_t home_margin_chunks = 3;  // loaded ground around the maps, on every side

}  // namespace

HomeRegion home_region(std::span<const std::shared_ptr<const PlacedMap>> maps) {
  HomeRegion home{{-home_margin_chunks, -home_margin_chunks}, {home_margin_chunks, home_margin_chunks}};
  for (const auto& map : maps) {
    const ChunkCoord low = chunk_of(map->box().min), high = chunk_of(map->box().max);
    home.min = {std::min(home.min.x, low.x - home_margin_chunks),
                std::min(home.min.y, low.y - home_margin_chunks)};
    home.max = {std::max(home.max.x, high.x + 1 + home_margin_chunks),
                std::max(home.max.y, high.y + 1 + home_margin_chunks)};
  }
  return home;
}

std::optional<std::string> home_too_large(std::span<const std::shared_ptr<const PlacedMap>> maps) {
  const std::uint64_t columns = home_region(maps).columns();
  if (columns <= home_columns_max) return std::nullopt;
  const auto far = std::ranges::max_element(maps, {}, [](const auto& map) {
    const IVec3 at = map->box().min;
    return std::max(std::abs(at.x), std::abs(at.y));
  });
  const IVec3 at = (*far)->box().min;
  return "map " + (*far)->name() + " at " + std::to_string(at.x) + "," + std::to_string(at.y) +
         " is too far away: the ground between the origin and all maps stays loaded, " +
         std::to_string(columns) + " columns of chunks where " + std::to_string(home_columns_max) +
         " are allowed; place it nearer";
}

}  // namespace ashlar
