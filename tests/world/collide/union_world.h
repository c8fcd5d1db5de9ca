#pragma once
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "tests/world/bsp/brute_force.h"
#include "tests/world/bsp/maps.h"
#include "tests/world/voxel_worlds.h"
#include "world/collide/prop.h"
#include "world/collide/space.h"

// A small world of all that is solid (random blocks, a placed map with blocks in its rooms, props of slanted
// faces), and the queries of space.h done the long way on it: every block, every leaf, every cell, every
// triangle.

namespace ashlar::testing {

struct UnionWorld {
  UnionWorld(IVec2 origin, std::uint64_t seed, double density) {
    PlaceOptions options;
    options.origin_block = origin;
    options.surface_z = 12;
    options.doorway = false;
    map = must_place(obstacle_map(), options);
    heights.assign(map->initial_heights().begin(), map->initial_heights().end());
    placed.push_back({map.get(), heights});
    const BlockBox& box = map->box();
    const ChunkCoord low = chunk_of(box.min + IVec3{-8, -8, -8}), high = chunk_of(box.max + IVec3{8, 8, 16});
    volume =
        test::make_volume(low, {high.x - low.x + 1, high.y - low.y + 1, high.z - low.z + 1}, [&](IVec3 b) {
          const bool in_map =
              b.x >= box.min.x && b.y >= box.min.y && b.x < box.max.x && b.y < box.max.y && b.z < box.max.z;
          const IVec3 local{b.x - origin.x, b.y - origin.y, b.z};
          return test::random_block(seed, local, in_map ? 0.1 * density : density);
        });
    bounds = {to_dvec3(box.min) - DVec3{6, 6, 1}, to_dvec3(box.max) + DVec3{6, 6, 6}};
    Rng rng = rng_for(seed, 3);
    for (int i = 0; i < 12; ++i) {
      // A pyramid over a square: slanted faces, an edge over the ground on every side.
      PropModel model;
      model.name = "pyramid";
      model.vertices = {{-1, -1, 0}, {1, -1, 0}, {1, 1, 0}, {-1, 1, 0}, {0.3, 0.2, 1.5}};
      model.triangles = {{0, 2, 1}, {0, 3, 2}, {0, 1, 4}, {1, 2, 4}, {2, 3, 4}, {3, 0, 4}};
      PropPlace place;
      place.position_m = point(rng);
      place.yaw = Turn16{static_cast<std::uint16_t>(rng.next_u32())};
      place.scale = rng.between(0.3, 1.5);
      const auto prop = Prop::place(model, place);
      REQUIRE(prop);
      owned.push_back(*prop);
      props.push_back(owned.back().get());
    }
  }
  UnionWorld(const UnionWorld&) = delete;
  UnionWorld& operator=(const UnionWorld&) = delete;

  Space space() const { return {&volume, placed, props}; }

  DVec3 point(Rng& rng) const {
    DVec3 p;
    p.x = rng.between(bounds.min.x, bounds.max.x);
    p.y = rng.between(bounds.min.y, bounds.max.y);
    p.z = rng.between(bounds.min.z, bounds.max.z);
    return p;
  }

  /// The twin knows nothing of the rock outside of the map's lines: is the disc clear of the box, or within
  /// the map's own bounds?
  bool tellable(DVec2 p, double radius) const {
    const BlockBox& b = map->box();
    const bool inside = p.x - radius > b.min.x + 1 && p.x + radius < b.max.x - 1 &&
                        p.y - radius > b.min.y + 1 && p.y + radius < b.max.y - 1;
    return inside || outside(p, radius);
  }
  bool outside(DVec2 p, double radius) const {
    const BlockBox& b = map->box();
    return p.x + radius < b.min.x || p.x - radius > b.max.x || p.y + radius < b.min.y ||
           p.y - radius > b.max.y;
  }

  std::shared_ptr<const PlacedMap> map;
  std::vector<SectorHeights> heights;
  std::vector<MapInSpace> placed;
  VoxelVolume volume;
  std::vector<std::shared_ptr<const Prop>> owned;
  std::vector<const Prop*> props;
  Aabb bounds;
};

/// Does the cylinder reach deeper than slop into the cube of this size whose low corner is given?
inline bool brute_meets_cube(const Cylinder& s, DVec3 base, DVec3 corner, double size, double slop) {
  const double dx = std::max({corner.x - base.x, base.x - corner.x - size, 0.0});
  const double dy = std::max({corner.y - base.y, base.y - corner.y - size, 0.0});
  const double reach = s.radius_m - slop;
  return dx * dx + dy * dy < reach * reach && base.z < corner.z + size - slop &&
         base.z + s.height_m > corner.z + slop;
}

/// Calls visit(corner, size) for every solid block and prop cell that the box meets; true: found.
template <class Visit>
bool brute_cubes(const UnionWorld& w, const Aabb& box, Visit visit) {
  const IVec3 low = block_at(box.min), high = block_at(box.max);
  for (int z = low.z; z <= high.z; ++z)
    for (int y = low.y; y <= high.y; ++y)
      for (int x = low.x; x <= high.x; ++x)
        if (w.volume.solid({x, y, z}) && visit(to_dvec3(IVec3{x, y, z}), 1.0)) return true;
  for (const Prop* prop : w.props) {
    const Aabb& b = prop->bounds();
    const DVec3 from{std::max(box.min.x, b.min.x - 0.3), std::max(box.min.y, b.min.y - 0.3),
                     std::max(box.min.z, b.min.z - 0.3)};
    const DVec3 to{std::min(box.max.x, b.max.x + 0.3), std::min(box.max.y, b.max.y + 0.3),
                   std::min(box.max.z, b.max.z + 0.3)};
    if (from.x > to.x || from.y > to.y || from.z > to.z) continue;
    const IVec3 first = block_at(from * 4), last = block_at(to * 4);
    for (int z = first.z; z <= last.z; ++z)
      for (int y = first.y; y <= last.y; ++y)
        for (int x = first.x; x <= last.x; ++x)
          if (prop->cell_solid({x, y, z}) && visit(to_dvec3(IVec3{x, y, z}) * 0.25, 0.25)) return true;
  }
  return false;
}

inline bool brute_space_overlaps(const UnionWorld& w, const Cylinder& s, DVec3 base, double slop) {
  if (brute_cubes(w, bounds_of(s, base),
                  [&](DVec3 corner, double size) { return brute_meets_cube(s, base, corner, size, slop); }))
    return true;
  return !w.outside(xy(base), s.radius_m) && base.z < w.map->roof_m() - slop &&
         brute_overlaps(*w.map, w.heights, s, base, slop);
}

inline bool brute_space_solid(const UnionWorld& w, DVec3 p, double& clear_units) {
  clear_units = 1e9;
  if (w.volume.solid(block_at(p))) return true;
  for (const Prop* prop : w.props)
    if (prop->cell_solid(block_at(p * 4))) return true;
  if (w.outside(xy(p), 0) || p.z >= w.map->roof_m()) return false;
  const std::uint32_t sector = brute_sector(w.map->source(), w.map->to_map(xy(p)), clear_units);
  return in_rock(*w.map, column_of(*w.map, w.heights, sector), p.z, 0, 0);
}

/// Highest top at or below z under the disc.
inline std::optional<double> brute_ground(const UnionWorld& w, DVec2 c, double radius, double z,
                                          double depth) {
  std::optional<double> best;
  const auto offer = [&](double top) {
    if (top <= z + contact_slop_m && top >= z - depth - contact_slop_m && (!best || top > *best)) best = top;
  };
  brute_cubes(w, {{c.x - radius, c.y - radius, z - depth - 1.1}, {c.x + radius, c.y + radius, z + 0.1}},
              [&](DVec3 corner, double size) {
                const DVec3 base{c.x, c.y, corner.z + size / 2};
                if (brute_meets_cube({radius, size / 4}, base, corner, size, contact_slop_m))
                  offer(corner.z + size);
                return false;
              });
  if (w.outside(c, radius)) return best;
  double floor = -no_ceiling;
  for (const std::uint32_t s :
       brute_sectors(*w.map, w.map->to_map(c), (radius - contact_slop_m) * map_units_per_m)) {
    const Column column = column_of(*w.map, w.heights, s);
    // Over the roof the whole map is ground.
    floor = std::max(floor, z + contact_slop_m >= w.map->roof_m() && column.ceiling_m < w.map->roof_m()
                                ? w.map->roof_m()
                                : column.floor_m);
  }
  offer(floor);
  return best;
}

}  // namespace ashlar::testing
