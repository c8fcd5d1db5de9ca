#include "world/sim/ground_edits.h"

#include <algorithm>
#include <utility>

#include "world/bsp/placement.h"
#include "world/math/assert.h"
#include "world/sim/loot.h"
#include "world/sim/rules.h"

namespace ashlar {
namespace {

bool in_map_rock(std::span<const MapInSpace> maps, IVec3 block) {
  const DVec3 middle = block_middle(block);
  return std::ranges::any_of(maps, [&](const MapInSpace& map) {
    return map_in_reach(*map.map, {middle, middle}) && map_solid(*map.map, map.heights, middle);
  });
}

}  // namespace

bool protected_by_map(std::span<const MapInSpace> maps, std::int32_t margin_m, IVec3 block) {
  return std::ranges::any_of(maps, [&](const MapInSpace& map) {
    const BlockBox& box = map_box(*map.map);
    return block.x >= box.min.x - margin_m && block.x < box.max.x + margin_m &&
           block.y >= box.min.y - margin_m && block.y < box.max.y + margin_m;
  });
}

bool GroundEdits::changeable(std::span<const MapInSpace> maps, IVec3 block) {
  return in_bounds(block_middle(block)) && !in_map_rock(maps, block);
}

void GroundEdits::protect(std::vector<ProtectedZone> zones) {
  ASHLAR_ASSERT(zones.size() <= protected_zones_max);
  zones_ = std::move(zones);
}

std::optional<BlockId> GroundEdits::replace(VoxelVolume& volume, std::span<const MapInSpace> maps,
                                            const BlockEdit& edit, EntityId who) {
  const ChunkCoord chunk = chunk_of(edit.block);
  if (!volume.loaded(chunk) || !changeable(maps, edit.block)) return std::nullopt;
  if (!volume.kinds().knows(edit.id) || volume.kinds().is_tool(edit.id)) return std::nullopt;
  const BlockId before = volume.block(edit.block);
  if (before == edit.id) return before;
  const bool changed = volume.set_block(edit.block, edit.id);
  ASHLAR_ASSERT(changed);
  contents_.spill(edit.block, before, who);
  applied_.push_back({edit.block, before, edit.id, who});
  contents_.note_block_changed();
  columns_.insert(key_of({chunk.x, chunk.y}));
  return before;
}

bool GroundEdits::set(VoxelVolume& volume, std::span<const MapInSpace> maps, const BlockEdit& edit,
                      EntityId who) {
  const std::optional<BlockId> before = replace(volume, maps, edit, who);
  if (!before) return false;
  const BlockId treasure = volume.kinds().treasure();
  if (loot_secret_ && *before == treasure && edit.id != treasure && treasure != BlockId::air) {
    const BlockData loot = loot_of(volume.kinds(), *loot_secret_, edit.block);
    found_items_ += loot.items.count();
    contents_.scatter(edit.block, loot);
  }
  return true;
}

bool GroundEdits::open_treasure(VoxelVolume& volume, std::span<const MapInSpace> maps, IVec3 block,
                                EntityId who) {
  const BlockRegistry& kinds = volume.kinds();
  ASHLAR_ASSERT(volume.block(block) == kinds.treasure());
  const BlockId chest = kinds.type(kinds.treasure()).drops;
  if (!contents_.has_room(block) || !replace(volume, maps, {block, chest}, who)) return false;
  if (!loot_secret_) return true;
  const BlockData loot = loot_of(kinds, *loot_secret_, block);
  found_items_ += loot.items.count();
  contents_.set(block, chest, loot, who);
  return true;
}

bool GroundEdits::box_sane(const BlockBox& box) {
  const std::int64_t x = std::int64_t{box.max.x} - box.min.x;
  const std::int64_t y = std::int64_t{box.max.y} - box.min.y;
  const std::int64_t z = std::int64_t{box.max.z} - box.min.z;
  if (x <= 0 || y <= 0 || z <= 0) return false;
  if (!in_bounds(to_dvec3(box.min)) || !in_bounds(to_dvec3(box.max))) return false;
  // Each is below 2^22, so the products fit.
  return x <= batch_blocks_max && x * y <= batch_blocks_max && x * y * z <= batch_blocks_max;
}

std::uint64_t GroundEdits::fill(VoxelVolume& volume, std::span<const MapInSpace> maps, const BlockBox& box,
                                BlockId id, EntityId who) {
  ASHLAR_ASSERT(box_sane(box));
  std::uint64_t failed = 0;
  for (std::int32_t y = box.min.y; y < box.max.y; ++y)
    for (std::int32_t x = box.min.x; x < box.max.x; ++x)
      for (std::int32_t z = box.min.z; z < box.max.z; ++z)
        if (!set(volume, maps, {{x, y, z}, id}, who)) ++failed;
  return failed;
}

std::uint32_t GroundEdits::blast(VoxelVolume& volume, std::span<const MapInSpace> maps,
                                 std::int32_t map_margin_m, DVec3 middle_m, double radius_m, EntityId who,
                                 EditRule* rule) {
  ASHLAR_ASSERT(radius_m >= 0 && radius_m <= sphere_radius_m_max);
  ASHLAR_ASSERT(in_bounds(middle_m));
  const BlockRegistry& kinds = volume.kinds();
  const DVec3 reach{radius_m, radius_m, radius_m};
  std::uint32_t gone = 0;
  const IVec3 low = block_at(middle_m - reach), high = block_at(middle_m + reach);
  for (std::int32_t y = low.y; y <= high.y; ++y)
    for (std::int32_t x = low.x; x <= high.x; ++x)
      for (std::int32_t z = low.z; z <= high.z; ++z) {
        const IVec3 block{x, y, z};
        const DVec3 off = block_middle(block) - middle_m;
        if (dot(off, off) > radius_m * radius_m || !volume.loaded(chunk_of(block))) continue;
        if (!kinds.diggable(volume.block(block)) || protected_by_map(maps, map_margin_m, block)) continue;
        if (in_zone(block) || (rule != nullptr && !rule->allows(who, block, BlockId::air))) continue;
        if (set(volume, maps, {block, BlockId::air}, who)) ++gone;
      }
  return gone;
}

}  // namespace ashlar
