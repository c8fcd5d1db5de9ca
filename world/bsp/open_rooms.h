#pragma once
#include <cstdint>
#include <utility>
#include <vector>

#include "world/bsp/placement.h"

namespace ashlar {

/// Which sectors of a map are joined by openings as heights stand now: those behind shut doors are in rooms
/// of their own. No line of sight leads from one room to another, but through the open air. Reusable;
/// allocates when it meets a map with more sectors than before.
class OpenRooms {
 public:
  /// Brings the rooms up to date. A map without a visibility set (PlaceOptions) counts as one room.
  /// Cost: a comparison of the heights when nothing moved, else near linear in sectors and their neighbours.
  void update(const PlacedMap& map, HeightsView heights);

  /// The room of a sector: equal for two sectors that are joined, else different.
  std::uint32_t room(std::uint32_t sector) const { return room_[sector]; }
  /// The room that the sectors open to the sky share, and whoever is outdoors.
  std::uint32_t outdoors() const { return room_.back(); }

 private:
  std::uint32_t root(std::uint32_t at);
  void join(std::uint32_t a, std::uint32_t b);

  const PlacedMap* map_ = nullptr;
  std::vector<SectorHeights> heights_;  ///< that room_ was made from
  std::vector<std::uint32_t> room_;     ///< by sector, then outdoors: the least member of its room
};

}  // namespace ashlar
