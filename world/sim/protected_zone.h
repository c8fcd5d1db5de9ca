#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "world/math/block_box.h"

namespace ashlar {

/// Blocks that neither players nor what they blow up may change. Operators and games may.
struct ProtectedZone {
  BlockBox box;      ///< never empty
  std::string name;  ///< for people; may be empty
  friend bool operator==(const ProtectedZone&, const ProtectedZone&) = default;
};

inline constexpr std::size_t protected_zones_max = 64;  ///< of a world; each act compares with all of them
inline constexpr std::size_t zone_name_bytes_max = 32;

inline bool contains(const BlockBox& box, IVec3 block) {
  return block.x >= box.min.x && block.x < box.max.x && block.y >= box.min.y && block.y < box.max.y &&
         block.z >= box.min.z && block.z < box.max.z;
}

inline constexpr std::int32_t zone_xy_max = 1 << 20;  ///< as far as a world reaches
inline constexpr std::int32_t zone_z_max = 1 << 12;

/// Not empty, and within the world.
inline bool zone_box_sane(const BlockBox& box) {
  return box.min.x < box.max.x && box.min.y < box.max.y && box.min.z < box.max.z &&
         box.min.x >= -zone_xy_max && box.min.y >= -zone_xy_max && box.min.z >= -zone_z_max &&
         box.max.x <= zone_xy_max && box.max.y <= zone_xy_max && box.max.z <= zone_z_max;
}

inline bool in_any_zone(std::span<const ProtectedZone> zones, IVec3 block) {
  return std::ranges::any_of(zones, [block](const ProtectedZone& zone) { return contains(zone.box, block); });
}

}  // namespace ashlar
