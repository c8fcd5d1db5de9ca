#include "world/collide/space.h"

#include <algorithm>
#include <cmath>

#include "world/bsp/placed_map.h"
#include "world/collide/block_queries.h"
#include "world/collide/prop.h"
#include "world/math/assert.h"
#include "world/voxel/ray.h"
#include "world/voxel/volume.h"

namespace ashlar {
bool map_in_reach(const PlacedMap& map, const Aabb& bounds) {
  const BlockBox& box = map_box(map);
  return bounds.min.x < box.max.x && bounds.max.x >= box.min.x && bounds.min.y < box.max.y &&
         bounds.max.y >= box.min.y && bounds.min.z <= box.max.z && bounds.max.z >= box.min.z;
}

SweepHit earlier_hit(const SweepHit& a, const SweepHit& b) {
  if (!b.hit()) return a;
  if (!a.hit()) return b;
  if (a.started_inside != b.started_inside) return a.started_inside ? a : b;
  if (a.t != b.t) return a.t < b.t ? a : b;
  return a.kind <= b.kind ? a : b;
}

bool space_solid(const Space& space, DVec3 point) {
  ASHLAR_ASSERT_SLOW(is_finite(point));
  if (space.voxels->solid_at(point)) return true;
  for (const MapInSpace& m : space.maps)
    if (map_in_reach(*m.map, {point, point}) && map_solid(*m.map, m.heights, point)) return true;
  for (const Prop* prop : space.props)
    if (prop->solid(point)) return true;
  return false;
}

bool space_overlaps(const Space& space, const Cylinder& shape, DVec3 base) {
  if (blocks_overlap(*space.voxels, rounded_box_of(shape), base)) return true;
  const Aabb bounds = bounds_of(shape, base);
  for (const MapInSpace& m : space.maps)
    if (map_in_reach(*m.map, bounds) && map_overlaps(*m.map, m.heights, shape, base)) return true;
  for (const Prop* prop : space.props)
    if (prop->overlaps(shape, base)) return true;
  return false;
}

SweepHit space_sweep(const Space& space, const Cylinder& shape, DVec3 base, DVec3 delta) {
  SweepHit first = blocks_sweep(*space.voxels, rounded_box_of(shape), base, delta);
  const Aabb way = swept(bounds_of(shape, base), delta);
  for (const MapInSpace& m : space.maps)
    if (map_in_reach(*m.map, way))
      first = earlier_hit(first, map_sweep(*m.map, m.heights, shape, base, delta));
  for (std::size_t i = 0; i < space.props.size(); ++i) {
    SweepHit hit = space.props[i]->sweep(shape, base, delta);
    hit.what = static_cast<std::uint32_t>(i);
    first = earlier_hit(first, hit);
  }
  ASHLAR_ASSERT(first.t >= 0 && first.t <= 1);
  return first;
}

RayHit space_ray(const Space& space, DVec3 origin, DVec3 direction, double t_max_m) {
  RayHit first = voxel_ray(*space.voxels, origin, direction, t_max_m);
  for (const MapInSpace& m : space.maps) {
    const double reach = first.hit() ? first.t_m : t_max_m;
    if (!map_in_reach(*m.map, swept({origin, origin}, direction * reach))) continue;
    const RayHit hit = map_ray(*m.map, m.heights, origin, direction, reach);
    if (hit.hit() && (!first.hit() || hit.t_m < first.t_m)) first = hit;
  }
  for (std::size_t i = 0; i < space.props.size(); ++i) {
    RayHit hit = space.props[i]->ray(origin, direction, first.hit() ? first.t_m : t_max_m);
    if (!hit.hit() || (first.hit() && hit.t_m >= first.t_m)) continue;
    hit.what = static_cast<std::uint32_t>(i);
    first = hit;
  }
  return first;
}

bool space_sees(const Space& space, DVec3 from, DVec3 to) {
  const DVec3 way = to - from;
  const double distance = length(way);
  if (distance == 0) return !space_solid(space, from);
  // Maps first: their visibility sets answer most pairs at once.
  const Aabb bounds = swept({from, from}, way);
  for (const MapInSpace& m : space.maps)
    if (map_in_reach(*m.map, bounds) && !map_sees(*m.map, m.heights, from, to)) return false;
  return !space_ray({space.voxels, {}, space.props}, from, way * (1 / distance), distance).hit();
}

std::optional<double> space_ground_below(const Space& space, DVec2 centre, double radius_m, double z,
                                         double depth_m_max) {
  const RoundedBox disc{0, 0, radius_m, 0};
  std::optional<double> ground = blocks_ground(*space.voxels, disc, centre, z, depth_m_max);
  const Aabb bounds{{centre.x - radius_m, centre.y - radius_m, z - depth_m_max},
                    {centre.x + radius_m, centre.y + radius_m, z}};
  for (const MapInSpace& m : space.maps) {
    if (!map_in_reach(*m.map, bounds)) continue;
    const auto rock = map_ground_below(*m.map, m.heights, centre, radius_m, z + contact_slop_m);
    if (rock && *rock >= z - depth_m_max - contact_slop_m && (!ground || *rock > *ground)) ground = rock;
  }
  for (const Prop* prop : space.props) {
    const auto top = prop->ground_below(centre, radius_m, z, depth_m_max);
    if (top && (!ground || *top > *ground)) ground = top;
  }
  return ground;
}

bool space_unloaded(const Space& space, const Cylinder& shape, DVec3 base) {
  return blocks_unloaded(*space.voxels, rounded_box_of(shape), base);
}

}  // namespace ashlar
