#include "world/collide/surroundings.h"

#include "world/bsp/placed_map.h"
#include "world/collide/block_queries.h"
#include "world/collide/correct.h"
#include "world/collide/prop.h"
#include "world/math/assert.h"

namespace ashlar {

Surroundings::Surroundings(const Space& space, const Cylinder& shape, const Aabb& reach)
    : space_(space), shape_(shape), rounded_(rounded_box_of(shape)), reach_(reach) {
  ASHLAR_ASSERT(reach.min.x <= reach.max.x && reach.min.y <= reach.max.y && reach.min.z <= reach.max.z);
  // Blocks that a way's end only touches may stop it, too.
  constexpr DVec3 touching_m{2 * contact_slop_m, 2 * contact_slop_m, 2 * contact_slop_m};
  BlockRange range = blocks_of({reach.min - touching_m, reach.max + touching_m});
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
  for (std::size_t i = 0; i < space.props.size(); ++i) {
    const Aabb& b = space.props[i]->bounds();
    const bool near = b.min.x <= reach.max.x && b.max.x >= reach.min.x && b.min.y <= reach.max.y &&
                      b.max.y >= reach.min.y && b.min.z <= reach.max.z && b.max.z >= reach.min.z;
    if (!near) continue;
    if (prop_count_ == props_max) {
      whole_space_ = true;
      return;
    }
    props_[prop_count_++] = static_cast<std::uint32_t>(i);
  }
  fill_window(*space.voxels, range.low, range.high, window_);
}

bool Surroundings::full_blocks_only(double margin_m) const {
  if (!full_blocks_only()) return false;
  const DVec3 margin{margin_m, margin_m, margin_m};
  const Aabb wide{reach_.min - margin, reach_.max + margin};
  if (parts_near(*space_.voxels, wide)) return false;
  for (const MapInSpace& m : space_.maps)
    if (map_in_reach(*m.map, wide)) return false;
  for (const Prop* prop : space_.props) {
    const Aabb& b = prop->bounds();
    if (b.min.x <= wide.max.x && b.max.x >= wide.min.x && b.min.y <= wide.max.y && b.max.y >= wide.min.y &&
        b.min.z <= wide.max.z && b.max.z >= wide.min.z)
      return false;
  }
  return true;
}

bool Surroundings::overlaps(DVec3 base) const {
  ++queries_;
  if (!covered(bounds_of(shape_, base), 0)) return space_overlaps(space_, shape_, base);
  if (window_overlaps(window_, rounded_, base)) return true;
  for (std::size_t i = 0; i < map_count_; ++i)
    if (map_overlaps(*maps_[i]->map, maps_[i]->heights, shape_, base)) return true;
  for (std::size_t i = 0; i < prop_count_; ++i)
    if (space_.props[props_[i]]->overlaps(shape_, base)) return true;
  return false;
}

SweepHit Surroundings::sweep(DVec3 base, DVec3 delta) const {
  ++queries_;
  if (!covered(swept(bounds_of(shape_, base), delta), 0)) return space_sweep(space_, shape_, base, delta);
  const BlockHit block = window_sweep(window_, rounded_, base, delta);
  SweepHit first;
  if (block.hit) {
    // Where the whole window is loaded no chunk need be looked up.
    if (window_.unloaded) {
      first = to_sweep_hit(*space_.voxels, block);
    } else {
      first = {block.t, block.normal, ContactKind::voxel, block.started_inside, 0, block.block};
    }
  }
  for (std::size_t i = 0; i < map_count_; ++i)
    first = earlier_hit(first, map_sweep(*maps_[i]->map, maps_[i]->heights, shape_, base, delta));
  for (std::size_t i = 0; i < prop_count_; ++i) {
    SweepHit hit = space_.props[props_[i]]->sweep(shape_, base, delta);
    hit.what = props_[i];
    first = earlier_hit(first, hit);
  }
  ASHLAR_ASSERT(first.t >= 0 && first.t <= 1);
  return first;
}

std::optional<double> Surroundings::ground_below(DVec3 base, double depth_m) const {
  ASHLAR_ASSERT(depth_m >= 0);
  ++queries_;
  if (!covered(bounds_of(shape_, base), depth_m))
    return space_ground_below(space_, xy(base), shape_.radius_m, base.z, depth_m);
  std::optional<double> ground = window_ground(window_, rounded_, xy(base), base.z, depth_m);
  for (std::size_t i = 0; i < map_count_; ++i) {
    const auto rock = map_ground_below(*maps_[i]->map, maps_[i]->heights, xy(base), shape_.radius_m,
                                       base.z + contact_slop_m);
    if (rock && *rock >= base.z - depth_m - contact_slop_m && (!ground || *rock > *ground)) ground = rock;
  }
  for (std::size_t i = 0; i < prop_count_; ++i) {
    const auto top = space_.props[props_[i]]->ground_below(xy(base), shape_.radius_m, base.z, depth_m);
    if (top && (!ground || *top > *ground)) ground = top;
  }
  ASHLAR_ASSERT(!ground || *ground <= base.z + 3 * contact_slop_m);
  return ground;
}

std::optional<DVec3> Surroundings::correct(DVec3 base, double reach_m) const {
  if (!overlaps(base)) return DVec3{};
  ASHLAR_ASSERT(reach_m > 0);
  const DVec3 reach{reach_m, reach_m, reach_m};
  Aabb bounds = bounds_of(shape_, base);
  bounds.min -= reach;
  bounds.max += reach;
  NearestPlace search(reach_m);
  const BlockRange range = blocks_of(bounds);
  if (window_.covers(range.low, range.high) && !whole_space_) {
    window_borders(window_, shape_, base, 1, search);
  } else {
    BlockWindow local;
    fill_window(*space_.voxels, range.low, range.high, local);
    window_borders(local, shape_, base, 1, search);
  }
  for (const MapInSpace& m : space_.maps)
    if (map_in_reach(*m.map, bounds)) map_borders(*m.map, m.heights, shape_, base, search);
  for (const Prop* prop : space_.props) prop->borders(shape_, base, search);
  return search.find([&](DVec3 way) { return !overlaps(base + way); });
}

bool Surroundings::unloaded(DVec3 base) const {
  if (!whole_space_ && !window_.unloaded) return false;
  return space_unloaded(space_, shape_, base);
}

}  // namespace ashlar
