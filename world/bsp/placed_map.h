#pragma once
#include <optional>
#include <span>

#include "world/bsp/heights.h"
#include "world/math/block_box.h"
#include "world/math/contact.h"
#include "world/math/nearest_place.h"
#include "world/math/shapes.h"

// The queries that world/collide/space.h asks of one placed map, all in the world frame.
//
// A placed map fills its `box` (whole blocks) with rock, out of which sectors are hollow: in the column of a
// sector, z is free in (floor, ceiling), or in (floor, infinity) where the ceiling is sky. Outside every
// sector (void) the column is rock from box.min.z to box.max.z, the roof. Above the roof everything is free.
// The terrain generator leaves box empty of voxels and levels the ground around it to the roof; blocks that
// players place inside are voxels and not this file's business.

namespace ashlar {

class PlacedMap;  // world/bsp/placement.h builds and defines it

/// Rock's extent, max.z is the roof: the shapes below need only be asked where their bounds meet it.
const BlockBox& map_box(const PlacedMap& map);

/// Is the point in rock? On a floor or ceiling plane: not solid. Cost: one descent of the tree.
bool map_solid(const PlacedMap& map, HeightsView heights, DVec3 point);

/// Does the cylinder overlap rock by more than contact_slop_m? Touching is not overlapping.
bool map_overlaps(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base);

/// First time of impact of a cylinder on its way base -> base + delta; exact, not in steps.
/// kind is map_floor, map_ceiling or map_wall. No allocation.
SweepHit map_sweep(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base, DVec3 delta);

/// First rock on a ray of unit direction, up to t_max_m.
RayHit map_ray(const PlacedMap& map, HeightsView heights, DVec3 origin, DVec3 direction, double t_max_m);

/// Does a straight line from one point to the other stay out of rock? Exact, like map_ray, and cheaper: pairs
/// of sectors that cannot see each other are answered by the visibility set where the map has one.
bool map_sees(const PlacedMap& map, HeightsView heights, DVec3 from, DVec3 to);

/// What a walker needs to know of the ground under its disc.
struct MapFootprint {
  double floor_m = 0;  ///< highest
  double lowest_floor_m = 0;
  double ceiling_m = 0;  ///< lowest; +infinity under the sky
  bool blocked = false;  ///< void or a blocking line lies under the disc; the heights then mean nothing
};
/// Everything under the open disc in one pass. Outside the box: blocked.
MapFootprint map_footprint(const PlacedMap& map, HeightsView heights, DVec2 centre, double radius_m);

/// Highest floor and lowest ceiling over every sector that the open disc overlaps, within the box.
/// nullopt: the disc overlaps void (rock up to the roof) or lies outside the box.
/// A sky ceiling counts as +infinity.
std::optional<SectorHeights> map_floor_ceiling(const PlacedMap& map, HeightsView heights, DVec2 centre,
                                               double radius_m);

/// The highest rock surface at or below z under the open disc (a sector's floor, or the roof where the disc
/// overlaps a column with a roof and z >= roof); nullopt outside the box or where the disc at z is in rock.
std::optional<double> map_ground_below(const PlacedMap& map, HeightsView heights, DVec2 centre,
                                       double radius_m, double z);

/// The least translation, up or down and sideways at once, that separates the cylinder from this map's rock,
/// at most reach_m long, or nullopt. Ties as in world/math/nearest_place.h.
std::optional<DVec3> map_correct(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base,
                                 double reach_m);

/// Adds what bounds the free places around a body (world/math/nearest_place.h).
void map_borders(const PlacedMap& map, HeightsView heights, const Cylinder& shape, DVec3 base,
                 NearestPlace& out);

}  // namespace ashlar
