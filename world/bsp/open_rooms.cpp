#include "world/bsp/open_rooms.h"

#include <algorithm>
#include <numeric>

#include "world/bsp/column.h"

namespace ashlar {

// Disjoint sets with halved paths; the least member stands for its set, so that order does not matter.
std::uint32_t OpenRooms::root(std::uint32_t at) {
  while (room_[at] != at) at = room_[at] = room_[room_[at]];
  return at;
}

void OpenRooms::join(std::uint32_t a, std::uint32_t b) {
  a = root(a), b = root(b);
  room_[std::max(a, b)] = std::min(a, b);
}

void OpenRooms::update(const PlacedMap& map, HeightsView heights) {
  if (map_ == &map && std::ranges::equal(heights_, heights)) return;
  map_ = &map;
  heights_.assign(heights.begin(), heights.end());
  const auto sectors = static_cast<std::uint32_t>(heights.size());
  room_.resize(sectors + 1u);
  if (map.visibility() == nullptr) {
    std::ranges::fill(room_, 0u);
    return;
  }
  std::iota(room_.begin(), room_.end(), 0u);
  for (std::uint32_t s = 0; s < sectors; ++s)
    if (map.open_to_sky(s, heights[s])) join(s, sectors);
  for (const auto& [a, b] : map.neighbours()) {
    const Column one = column_of(map, heights, a), other = column_of(map, heights, b);
    if (std::min(one.ceiling_m, other.ceiling_m) > std::max(one.floor_m, other.floor_m)) join(a, b);
  }
  for (std::uint32_t s = 0; s <= sectors; ++s) room_[s] = root(s);
}

}  // namespace ashlar
