#include "world/collide/surroundings.h"

#include "world/bsp/placed_map.h"
#include "world/collide/block_queries.h"

namespace ashlar {

Surroundings::Surroundings(const Space& space, const Cylinder& shape, const Aabb& reach)
    : space_(space), shape_(shape), prism_(prism_of(shape)), reach_(reach) {
  BlockRange range = blocks_of(reach);
  range.low.z -= 1;  // ground may be asked for at the reach's very bottom
  if (!fits_window(range.low, range.high)) {
    whole_space_ = true;
    return;
  }
  for (const MapInSpace& m : space.maps) {
    if (!map_in_reach(*m.map, reach)) continue;
    if (map_count_ == maps_max) {
      whole_space_ = true;
      return;
    }
    maps_[map_count_++] = &m;
  }
  fill_window(*space.voxels, range.low, range.high, window_);
}

bool Surroundings::covered(const Aabb& b, double below_m) const {
  return !whole_space_ && b.min.x >= reach_.min.x && b.max.x <= reach_.max.x && b.min.y >= reach_.min.y &&
         b.max.y <= reach_.max.y && b.min.z - below_m >= reach_.min.z && b.max.z <= reach_.max.z;
}

bool Surroundings::overlaps(DVec3 base) const {
  if (!covered(bounds_of(shape_, base), 0)) return space_overlaps(space_, shape_, base);
  if (window_overlaps(window_, prism_, base)) return true;
  for (std::size_t i = 0; i < map_count_; ++i)
    if (map_overlaps(*maps_[i]->map, maps_[i]->heights, shape_, base)) return true;
  return false;
}

SweepHit Surroundings::sweep(DVec3 base, DVec3 delta) const {
  if (!covered(swept(bounds_of(shape_, base), delta), 0)) return space_sweep(space_, shape_, base, delta);
  const BlockHit block = window_sweep(window_, prism_, base, delta);
  SweepHit first;
  if (block.hit) first = to_sweep_hit(*space_.voxels, block);
  for (std::size_t i = 0; i < map_count_; ++i)
    first = earlier_hit(first, map_sweep(*maps_[i]->map, maps_[i]->heights, shape_, base, delta));
  return first;
}

std::optional<double> Surroundings::ground_below(DVec3 base, double depth_m) const {
  if (!covered(bounds_of(shape_, base), depth_m))
    return space_ground_below(space_, xy(base), shape_.radius_m, base.z, depth_m);
  std::optional<double> ground = window_ground(window_, prism_, xy(base), base.z, depth_m);
  for (std::size_t i = 0; i < map_count_; ++i) {
    const auto rock = map_ground_below(*maps_[i]->map, maps_[i]->heights, xy(base), shape_.radius_m,
                                       base.z + contact_slop_m);
    if (rock && *rock >= base.z - depth_m - contact_slop_m && (!ground || *rock > *ground)) ground = rock;
  }
  return ground;
}

bool Surroundings::unloaded(DVec3 base) const {
  if (!whole_space_ && !window_.unloaded) return false;
  return space_unloaded(space_, shape_, base);
}

}  // namespace ashlar
